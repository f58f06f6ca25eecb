// The table that NCCL chooses from: each algorithm and protocol with its believed time, or why it is not allowed.
#include <fmt/format.h>

#include "tuning_model.hpp"

namespace fmsim {
namespace {

bool does(AlgorithmKind algorithm, Collective collective) {
    const bool reduces_all = collective == Collective::all_reduce;
    const bool gathers = collective == Collective::all_gather || collective == Collective::reduce_scatter;
    switch (algorithm) {
        case AlgorithmKind::ring:
            return true;
        case AlgorithmKind::tree:
        case AlgorithmKind::nvls_tree:
            return reduces_all;
        case AlgorithmKind::nvls:
            return reduces_all || gathers;
        case AlgorithmKind::pat:
            return gathers;
    }
    return false;
}

std::string no_nvls(const Communicator& c, AlgorithmKind algorithm, const Pins& pins) {
    if (!pins.nvls) return "NCCL_NVLS_ENABLE is 0";
    if (!c.nvls || c.nvls->channels < 2) return "no NVLink switch that reduces";
    if (algorithm == AlgorithmKind::nvls_tree) return c.domains == 1 ? "needs several NVLink domains" : "";
    return c.domains > 1 ? "needs CollNet between NVLink domains" : "";
}

std::string no_pat(const Communicator& c, const Pins& pins) {
    if (pins.pat == false) return "NCCL_PAT_ENABLE is 0";
    if (!pins.pat && c.ranks != c.domains) return "more than one rank in a domain";
    return {};
}

std::string no_ll128(const Communicator& c, const GraphSearch& graph) {
    const PathType farthest = c.compute_capability >= 90 ? PathType::pxn : PathType::pxb;
    if (graph.intra_type > PathType::nvb) return fmt::format("GPUs are {} apart", name(graph.intra_type));
    if (graph.inter_type > farthest) return fmt::format("NICs are {} away", name(graph.inter_type));
    return {};
}

std::string pinned_away(Collective collective, AlgorithmKind algorithm, Protocol protocol, const Pins& pins) {
    if (pins.algorithm && *pins.algorithm != name(algorithm)) return "another algorithm is pinned";
    if (pins.protocol && *pins.protocol != protocol) return "another protocol is pinned";
    if (!pins.allowed[collective].algorithms[algorithm]) return "NCCL_ALGO leaves it out";
    if (!pins.allowed[collective].protocols[protocol]) return "NCCL_PROTO leaves it out";
    return {};
}

bool multicast(AlgorithmKind algorithm) {
    return algorithm == AlgorithmKind::nvls || algorithm == AlgorithmKind::nvls_tree;
}

// What NCCL has no pair for, on any machine.
std::string missing(Collective collective, AlgorithmKind algorithm, Protocol protocol) {
    if (!does(algorithm, collective)) return fmt::format("does no {}", name(collective));
    const bool simple = multicast(algorithm) || algorithm == AlgorithmKind::pat;
    return simple && protocol != Protocol::simple ? "Simple only" : "";
}

// What cannot be on this communicator: NCCL has no figures for it.
std::string impossible(const Communicator& c, AlgorithmKind algorithm, Protocol protocol, const Pins& pins) {
    if (multicast(algorithm)) return no_nvls(c, algorithm, pins);
    if (algorithm == AlgorithmKind::pat) return no_pat(c, pins);
    if (protocol == Protocol::ll128) return no_ll128(c, algorithm == AlgorithmKind::tree ? c.tree : c.ring);
    return {};
}

// What NCCL has figures for, but does not take.
std::string excluded(const Communicator& c, Collective collective, AlgorithmKind algorithm, Protocol protocol,
                     const Nccl& nccl, const Pins& pins) {
    if (algorithm == AlgorithmKind::nvls && collective != Collective::all_reduce &&
        c.ranks_a_domain() > nccl.search.most_heads)
        return fmt::format("more than {} ranks in a domain", nccl.search.most_heads);
    return pinned_away(collective, algorithm, protocol, pins);
}

void fill_figures(Candidate& row, const Communicator& c, Collective collective, Bytes size, const NcclTuning& tuning,
                  std::uint32_t operations) {
    row.bandwidth_gbps = believed_gbps(c, collective, row.algorithm, row.protocol, tuning);
    row.latency_us = believed_latency_us(c, collective, row.algorithm, row.protocol, tuning);
    if (row.bandwidth_gbps > 0)
        row.believed_us = believed_us(c, collective, row, size, operations, tuning);
    else
        row.refused = "NCCL counts no bandwidth for it on this GPU";
}

}  // namespace

bool has_algorithms(Collective collective) {
    return collective != Collective::all_to_all && collective != Collective::send_recv &&
           collective != Collective::barrier;
}

std::vector<Candidate> estimates(const Communicator& communicator, Collective collective, Bytes size, const Nccl& nccl,
                                 const Pins& pins, std::uint32_t operations) {
    if (!has_algorithms(collective)) return {};
    std::vector<Candidate> table;
    for (const AlgorithmKind algorithm : kAlgorithmKinds)
        for (const Protocol protocol : kProtocols) {
            Candidate row{.algorithm = algorithm, .protocol = protocol, .refused = {}};
            row.refused = missing(collective, algorithm, protocol);
            row.exists = row.refused.empty();
            if (row.exists) row.refused = impossible(communicator, algorithm, protocol, pins);
            if (row.refused.empty()) fill_figures(row, communicator, collective, size, nccl.tuning, operations);
            if (row.refused.empty()) row.refused = excluded(communicator, collective, algorithm, protocol, nccl, pins);
            table.push_back(std::move(row));
        }
    return table;
}

}  // namespace fmsim
