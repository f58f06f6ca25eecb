// Rings, as NCCL runs them: a reduce-scatter goes round R - 1 times, an all-gather too, an all-reduce is one after the
// other.
//
//   ranks 0 -> 1 -> 2 -> 3 -> 0, chunks a b c d. Rank r sends in step 0 chunk r - 1, then what it received, reduced:
//
//   step       0   1   2 | 3   4   5
//   0 sends    d   c   b | a   d   c       the receiver adds in steps 0 to 2 and replaces in 3 to 5; what arrives in
//   1 sends    a   d   c | b   a   d       step 2 is complete once the receiver's own part is added
//   2 sends    b   a   d | c   b   a
//   3 sends    c   b   a | d   c   b       An all-gather starts in step 3, with each rank's own chunk.
//
// Each hop carries 2(R-1) chunks a loop, so 2(R-1)/R of the channel's bytes. A channel with more than R chunks makes
// several loops; the next begins where the last chunk of the one before has left.
//
// Source: NCCL 2.30 (device/all_reduce.h, all_gather.h, reduce_scatter.h; graph search results in the instance file).
#include "ring.hpp"

#include <cassert>

#include "cut.hpp"

namespace fmsim {
namespace {

Schedule plan_ring(Collective collective, const Topology& topology, const Group& group, const PlanRequest& request,
                   bool data_by_rank) {
    const auto ranks = request.ranks > 0 ? request.ranks : static_cast<std::uint32_t>(group.places.size());
    assert(ranks >= 2);
    const GroupRings rings = rings_of(topology, group);
    const ProtocolShape& protocol = request.shape->protocols[request.protocol];
    const Cut cut{.steps_a_chunk = protocol.steps_a_chunk, .slices_a_chunk = protocol.slices_a_chunk};
    Schedule schedule = begin_schedule(collective, "Ring", request);
    schedule.chunks_in_flight = chunks_in_flight(request, cut);
    const RingSteps steps{data_by_rank ? ranks - 1 : 2 * (ranks - 1)};
    for (const ChannelData& data : data_by_rank ? split_by_rank(request, ranks) : split_whole(request, 2)) {
        const auto c = static_cast<std::uint32_t>(schedule.channels.size());
        const double block = data_by_rank ? data.exact : data.exact / ranks;
        schedule.channels.push_back({.hops = ring_hops(group, rings, c),
                                     .steps = steps,
                                     .bytes = data.bytes,
                                     .loops = loops_of(block, request, cut)});
    }
    return schedule;
}

}  // namespace

std::vector<Hop> ring_hops(const Group& group, const GroupRings& rings, std::uint32_t channel) {
    std::vector<Hop> hops;
    for (std::uint32_t p = 0; p < group.parts.size(); ++p) {
        const Group::Part& part = group.parts[p];
        const RingPath& path = path_in(rings.of_part[p], channel, p);
        for (std::size_t i = 0; i + 1 < path.gpus.size(); ++i)
            hops.push_back(
                {.from = position_of(group, part, path.gpus[i]), .to = position_of(group, part, path.gpus[i + 1])});
        const auto next_part = static_cast<std::uint32_t>((p + 1) % group.parts.size());
        const RingPath& next = path_in(rings.of_part[next_part], channel, next_part);
        hops.push_back({.from = position_of(group, part, path.gpus.back()),
                        .to = position_of(group, group.parts[next_part], next.gpus.front()),
                        .way = group.parts.size() > 1 ? Way::network : Way::nvlink,
                        .leave_group = path.leave_group,
                        .enter_group = next.enter_group});
    }
    return hops;
}

RingSend ring_send(Collective collective, std::uint32_t ranks, std::uint32_t hop, std::uint32_t step) {
    // The sender of hop h is at position h of the ring. An all-reduce and a reduce-scatter send in step 0 the chunk
    // before their own, an all-gather its own.
    const std::uint32_t first = collective == Collective::all_gather ? hop : hop + ranks - 1;
    return {.chunk = (first + 2 * ranks - step) % ranks,
            .reduces = collective != Collective::all_gather && step + 1 < ranks};
}

Schedule plan_ring_all_reduce(const Topology& topology, const Group& group, const PlanRequest& request) {
    return plan_ring(Collective::all_reduce, topology, group, request, false);
}
Schedule plan_ring_all_gather(const Topology& topology, const Group& group, const PlanRequest& request) {
    return plan_ring(Collective::all_gather, topology, group, request, true);
}
Schedule plan_ring_reduce_scatter(const Topology& topology, const Group& group, const PlanRequest& request) {
    return plan_ring(Collective::reduce_scatter, topology, group, request, true);
}

}  // namespace fmsim
