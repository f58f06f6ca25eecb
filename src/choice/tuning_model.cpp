// NCCL's tuning model: latency + size / bandwidth for each algorithm and protocol.
//
// By hand, all-reduce on 16 p5.48xlarge, R = 128, p = 8, 8 search channels of 48 GB/s, AMD hosts, 75 us reported:
//   Tree LL    6.8 + 2 x (7 x 0.6 + 4 x (5 + 75)) = 655.2 us, bus 384 -> 353 -> 288 -> 75.8 -> 19 -> x 0.85 x 0.5 = 8.1
//   NVLSTree   40 x 0.85 x 7/8 x 2 = 59.5, 48, cap 45.5 -> 8 x 45.5 = 364, x 128/254 = 183.4 GB/s
//              25 + 2 x 4 x (20.9 + 150) = 1392.2 us
//   Ring Simple  384 x 128/254 = 193.5 GB/s, 8.4 + (254 - 30) x 6 + 30 x (14 + 150) = 6272.4 us
//
// Source: NCCL 2.30 graph/tuning.cc. Left out: CollNet, fp8.
#include "tuning_model.hpp"

#include <algorithm>

namespace fmsim {
namespace {

bool gathers(Collective collective) {
    return collective == Collective::all_gather || collective == Collective::reduce_scatter;
}

// Sends of a rank in a ring.
double ring_steps(Collective collective, double ranks) {
    if (collective == Collective::all_reduce) return 2 * (ranks - 1);
    return gathers(collective) ? ranks - 1 : ranks;
}

struct Model {
    const Communicator& communicator;
    Collective collective;
    AlgorithmKind algorithm;
    Protocol protocol;
    const NcclTuning& tuning;

    std::size_t row() const { return generation(communicator.compute_capability); }
    std::size_t column() const { return std::min<std::size_t>(communicator.domains, kDomainColumns) - 1; }
    double ranks() const { return communicator.ranks; }
    double ranks_a_domain() const { return communicator.ranks_a_domain(); }
    bool is_tree() const { return algorithm == AlgorithmKind::tree; }
    bool amd() const { return communicator.mixed_cpus || communicator.cpu == CpuVendor::amd; }

    const GraphSearch& graph() const {
        if (algorithm == AlgorithmKind::ring) return communicator.ring;
        if (algorithm == AlgorithmKind::tree || algorithm == AlgorithmKind::pat) return communicator.tree;
        return *communicator.nvls;
    }

    // Of a channel of the multicast graph: half of what its switches carry is lost to the way there and back.
    double nvls_channel() const {
        const GraphSearch& nvls = graph();
        const double channels = nvls.channels;
        const bool tree = algorithm == AlgorithmKind::nvls_tree;
        const double ways = collective == Collective::all_reduce ? 2 : (ranks_a_domain() - 1) / ranks_a_domain();
        const double intra = gbps(nvls.intra) * tuning.nvls_efficiency[row()] * (channels - 1) / channels * ways;
        const double inter = gbps(nvls.inter) * (tree && communicator.domains <= 2 ? 2 : 1);
        const double least = std::min(intra, inter);
        return tree ? std::min(least, tuning.nvls_tree_most_gbps[row()][column()]) : least;
    }

    // Between domains NCCL takes the row of LL's cap by the CPU: AMD the second, all others the first.
    double ll_most() const {
        const std::size_t by_cpu = amd() ? 1 : 0;
        return tuning.ll_most_gbps[communicator.domains == 1 ? row() : by_cpu][column()];
    }

    double ring_bus(double bus, double channels) const {
        if (protocol == Protocol::ll) return std::min(ll_most(), tuning.ring_ll_factor * bus);
        if (protocol == Protocol::ll128)
            return std::min(tuning.ring_ll128_factor * bus, channels * tuning.ring_ll128_most_gbps[row()][column()]);
        return bus;
    }

    double tree_bus(double bus, double channels) const {
        const double factor = communicator.domains == 1 ? tuning.tree_ll128_alone_factor : tuning.tree_ll128_factor;
        bus = std::min(tuning.tree_factor * bus, channels * tuning.tree_most_gbps[row()][column()]);
        if (protocol == Protocol::ll) bus = std::min(bus / tuning.tree_ll_divisor, ll_most());
        if (protocol == Protocol::ll128)
            bus = std::min(bus * factor, channels * tuning.tree_ll128_most_gbps[row()][column()]);
        return graph().pattern == GraphPattern::tree ? bus * tuning.tree_pattern_factor : bus;
    }

    double bus() const {
        const double channels = graph().channels;
        const double plain = channels * gbps(communicator.domains <= 2 ? graph().intra : graph().inter);
        switch (algorithm) {
            case AlgorithmKind::tree:
                return tree_bus(plain, channels);
            case AlgorithmKind::ring:
                return ring_bus(plain, channels);
            case AlgorithmKind::nvls:
            case AlgorithmKind::nvls_tree:
                return channels * nvls_channel();
            case AlgorithmKind::pat:
                return plain * tuning.pat_factor;
        }
        return 0;
    }

    double bandwidth() const {
        if (is_tree()) return bus() * 0.5;
        if (gathers(collective) && algorithm != AlgorithmKind::ring) return bus();
        return bus() * ranks() / ring_steps(collective, ranks());
    }

    // Only pure NVLink counts as such: a domain with one GPU has none.
    double intra_hop(AlgorithmKind of) const {
        const auto& table = graph().intra_type == PathType::nvl ? tuning.nvlink_hop_us : tuning.pcie_hop_us;
        return table[of][protocol];
    }

    // Simple counts what the NICs report twice, for the flush.
    double net_hop() const {
        const AlgorithmKind of = communicator.ranks_a_domain() == 1 ? AlgorithmKind::tree : algorithm;
        const double reported = microseconds(graph().net_latency) * (protocol == Protocol::simple ? 2 : 1);
        return tuning.net_hop_us[of][protocol] + reported;
    }

    double ring_latency() const {
        const double base = tuning.base_us[AlgorithmKind::ring][protocol];
        const double domains = communicator.domains;
        if (collective == Collective::broadcast || collective == Collective::reduce) {
            const AlgorithmKind of = protocol == Protocol::simple && !communicator.ring.same_channels
                                         ? AlgorithmKind::tree
                                         : AlgorithmKind::ring;
            const double hop = communicator.domains == 1 ? intra_hop(of) : tuning.net_hop_us[of][protocol];
            return base + (communicator.ring.same_channels ? hop : ranks() * hop);
        }
        const double network =
            communicator.domains == 1 ? 0 : (domains - 1) * (collective == Collective::all_reduce ? 2 : 1);
        const double times = protocol == Protocol::simple ? tuning.simple_overheads : 1;
        const double one = amd() ? tuning.net_overhead_amd_us : tuning.net_overhead_other_us;
        const double overhead = communicator.domains == 1 ? 0 : times * one;
        return base + (ring_steps(collective, ranks()) - network) * std::max(intra_hop(algorithm), overhead) +
               network * net_hop();
    }

    double latency() const {
        const double base = tuning.base_us[algorithm][protocol];
        const double depth = floor_log2(communicator.domains);
        switch (algorithm) {
            case AlgorithmKind::tree:
                return base + 2 * ((ranks_a_domain() - 1) * intra_hop(algorithm) + depth * net_hop());
            case AlgorithmKind::ring:
                return ring_latency();
            case AlgorithmKind::nvls:
                return base + intra_hop(algorithm) + (communicator.domains > 1 ? net_hop() : 0);
            case AlgorithmKind::nvls_tree:
                return base + intra_hop(algorithm) + 2 * depth * net_hop();
            case AlgorithmKind::pat:
                return base + depth * net_hop() / tuning.pat_hop_divisor + tuning.pat_rank_us * ranks();
        }
        return 0;
    }
};

// Trees take long to fill: what NCCL makes of their bandwidth at a size.
double correction(const Communicator& communicator, const Candidate& candidate, Bytes size, const NcclTuning& tuning) {
    const auto& table = tuning.tree_correction[candidate.protocol];
    std::size_t rows = 0;
    if (candidate.algorithm == AlgorithmKind::tree) rows = std::min<std::size_t>(table.size(), tuning.tree_corrections);
    if (candidate.algorithm == AlgorithmKind::nvls_tree && communicator.compute_capability >= 100 &&
        (communicator.mixed_cpus || communicator.cpu != CpuVendor::arm))
        rows = table.size();
    if (rows == 0) return 1;
    const std::int64_t units = size.count / tuning.correction_bytes;
    if (units == 0) return 1;
    const std::uint32_t index = floor_log2(static_cast<std::uint64_t>(units));
    return index < rows ? table[index] : 1;
}

}  // namespace

double believed_gbps(const Communicator& communicator, Collective collective, AlgorithmKind algorithm,
                     Protocol protocol, const NcclTuning& tuning) {
    return Model{communicator, collective, algorithm, protocol, tuning}.bandwidth();
}

double believed_latency_us(const Communicator& communicator, Collective collective, AlgorithmKind algorithm,
                           Protocol protocol, const NcclTuning& tuning) {
    return Model{communicator, collective, algorithm, protocol, tuning}.latency();
}

double believed_us(const Communicator& communicator, Collective collective, Candidate candidate, Bytes size,
                   std::uint32_t operations, const NcclTuning& tuning) {
    const bool ring = candidate.algorithm == AlgorithmKind::ring;
    double latency = candidate.latency_us;
    double bandwidth = candidate.bandwidth_gbps;
    if (collective == Collective::all_reduce) {
        bandwidth *= correction(communicator, candidate, size, tuning);
        const std::int64_t part = size.count / (std::int64_t{communicator.channels} * communicator.ranks);
        if (ring && candidate.protocol == Protocol::simple && communicator.domains > 1 && part >= tuning.plateau_bytes)
            latency *= communicator.compute_capability < 80 ? tuning.plateau_before_ampere : tuning.plateau;
    }
    const std::uint32_t batch = tuning.operations_a_batch;
    const std::uint32_t times = ring ? operations : (operations + batch - 1) / batch;
    return latency * times + static_cast<double>(size.count) / (1000 * bandwidth);
}

}  // namespace fmsim
