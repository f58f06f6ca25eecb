// NCCL's tuning model for rings, and the number of channels it then takes.
//
// By hand, all-reduce on two p5.48xlarge, R = 16, 8 search channels of 48 GB/s, AMD hosts, 75 us reported:
//   LL     6.6 + 28 x 2 + 2 x (2.7 + 75)   = 218 us,   22.5 GB/s of bus -> 12 GB/s
//   LL128   14 + 28 x 2 + 2 x (4 + 75)     = 228 us,  293.6             -> 156.6
//   Simple 8.4 + 28 x 6 + 2 x (14 + 150)   = 504 us,  384               -> 204.8
// so LL up to some 128 KiB, LL128 up to some 300 MB, then Simple.
//
// Source: NCCL 2.30 (graph/tuning.cc, enqueue.cc). Left out: what the AWS plugin overrides (three or more domains).
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fmsim/choice.hpp"

namespace fmsim {
namespace {

std::size_t generation(const Gpu& gpu) {
    if (gpu.compute_capability >= 100) return 3;
    if (gpu.compute_capability >= 90) return 2;
    return gpu.compute_capability >= 80 ? 1 : 0;
}

// Between domains NCCL takes the row of LL's cap by the CPU: AMD the second, all others the first.
std::size_t ll_row(const Group& group, const InstanceType& type) {
    if (group.parts.size() == 1) return generation(type.gpu);
    return type.cpu == CpuVendor::amd ? 1 : 0;
}

struct RingModel {
    const Group& group;
    const InstanceType& type;  // of the first domain; NCCL takes the slowest where they differ
    const NcclTuning& tuning;
    RingSearch search;
    std::uint32_t channels;
    double ranks;
    std::size_t column;

    double bus_gbps(Protocol protocol) const {
        const double path = (group.parts.size() <= 2 ? search.intra : search.inter).value * 1e-9;
        const auto paths = static_cast<double>(search.paths.size());
        const double bus = paths * path;
        if (protocol == Protocol::ll)
            return std::min(tuning.ll_most_gbps[ll_row(group, type)][column], tuning.ll_factor * bus);
        if (protocol == Protocol::ll128)
            return std::min(tuning.ll128_factor * bus,
                            paths * tuning.ll128_path_most_gbps[generation(type.gpu)][column]);
        return bus;
    }

    // Of the 2(R-1) hops of an all-reduce NCCL counts one a domain boundary and phase as network.
    double latency_us(Protocol protocol) const {
        const double steps = 2 * (ranks - 1);
        const double network = group.parts.size() == 1 ? 0 : 2.0 * static_cast<double>(group.parts.size() - 1);
        const double times = protocol == Protocol::simple ? tuning.simple_overheads : 1;
        const SimTime one = type.cpu == CpuVendor::amd ? tuning.net_overhead_amd : tuning.net_overhead_other;
        const double overhead = group.parts.size() == 1 ? 0 : times * microseconds(one);
        const double reported = microseconds(type.nic->reported_latency) * (protocol == Protocol::simple ? 2 : 1);
        const double net_hop = microseconds(tuning.ring_net_hop[protocol]) + reported;
        return microseconds(tuning.ring_base[protocol]) +
               (steps - network) * std::max(microseconds(tuning.ring_nvlink_hop[protocol]), overhead) +
               network * net_hop;
    }

    double believed_us(Protocol protocol, Bytes size) const {
        const double steps = 2 * (ranks - 1);
        const double algorithm_gbps = bus_gbps(protocol) * ranks / steps;
        double latency = latency_us(protocol);
        const std::int64_t part = size.count / (channels * static_cast<std::int64_t>(ranks));
        if (protocol == Protocol::simple && group.parts.size() > 1 && part >= tuning.plateau_bytes)
            latency *= tuning.plateau;
        return latency + static_cast<double>(size.count) / (1000 * algorithm_gbps);
    }
};

// Fewer channels while each thread would have too little to do.
std::uint32_t channels_for(Bytes size, std::uint32_t most, Protocol protocol, const Group& group,
                           const NcclTuning& tuning) {
    std::int64_t thread = tuning.bytes_a_thread[protocol];
    if (protocol == Protocol::ll) thread *= static_cast<std::int64_t>(group.places.size());
    const std::int64_t channel = thread * tuning.most_threads[protocol];
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(size.count / channel, 1, most));
}

const Algorithm& find(Collective collective, const Pins& pins) {
    std::vector<std::string> names;
    for (const Algorithm& row : algorithms()) {
        if (row.does != collective) continue;
        if (!pins.algorithm || *pins.algorithm == row.name) return row;
        names.emplace_back(row.name);
    }
    std::string expected = fmt::format("expected an algorithm of {}: {}", name(collective), fmt::join(names, ", "));
    throw InputError({{.file = "--algo",
                       .line = 0,
                       .pointer = "",
                       .expected = std::move(expected),
                       .found = pins.algorithm.value_or("")}});
}

}  // namespace

Choice choose(Collective collective, Bytes size, const Topology& topology, const Group& group, const Nccl& nccl,
              const Pins& pins) {
    std::uint32_t most = ring_channels(topology, group);
    const RingModel model{.group = group,
                          .type = topology.type_of(group.parts.front().domain).instance,
                          .tuning = nccl.tuning,
                          .search = rings_of(topology, group).of_part.front(),
                          .channels = most,
                          .ranks = static_cast<double>(group.places.size()),
                          .column = std::min<std::size_t>(group.parts.size(), kDomainColumns) - 1};
    Choice choice{.algorithm = &find(collective, pins)};
    double least = std::numeric_limits<double>::infinity();
    for (const Protocol protocol : kProtocols) {
        if (pins.protocol && *pins.protocol != protocol) continue;
        const double time = model.believed_us(protocol, size);
        if (time >= least) continue;  // of equals the earlier
        least = time;
        choice.protocol = protocol;
    }
    if (pins.most_channels) most = std::min(most, *pins.most_channels);
    choice.channels = channels_for(size, most, choice.protocol, group, nccl.tuning);
    if (collective == Collective::all_to_all || collective == Collective::send_recv) choice.chunk = Bytes{512 << 10};
    return choice;
}

}  // namespace fmsim
