// Broadcast and reduce: a ring opened at the root, chunk after chunk along it.
//
//   ring 0 -> 1 -> 2 -> 3 -> 0, root 2
//   broadcast   2 -> 3 -> 0 -> 1        each passes on what it got
//   reduce      3 -> 0 -> 1 -> 2        each adds its own to what it got and passes the sum on
//
// Each hop carries all of the channel's bytes once. Source: NCCL 2.30 (device/broadcast.h, reduce.h).
#include "chain.hpp"

#include <algorithm>

#include "cut.hpp"
#include "ring.hpp"

namespace fmsim {
namespace {

std::shared_ptr<const Pattern> along(std::uint32_t hops, bool adds) {
    auto pattern = std::make_shared<Pattern>();
    for (std::uint32_t hop = 0; hop < hops; ++hop)
        pattern->add({.hop = hop, .adds = adds}, hop == 0 ? std::vector<std::uint32_t>{} : std::vector{hop - 1}, {0});
    return pattern;
}

// The ring's hops from the one that leaves `first` on, but for the last one.
std::vector<Hop> opened(std::vector<Hop> ring, std::uint32_t first) {
    const auto begin = std::find_if(ring.begin(), ring.end(), [&](const Hop& hop) { return hop.from == first; });
    std::rotate(ring.begin(), begin, ring.end());
    ring.pop_back();
    return ring;
}

Schedule plan_chain(Collective collective, const Topology& topology, const Group& group, const PlanRequest& request) {
    const GroupRings rings = rings_of(topology, group);
    const bool reduces = collective == Collective::reduce;
    const auto pattern = along(static_cast<std::uint32_t>(group.places.size()) - 1, reduces);
    Schedule schedule = begin_schedule(collective, "Ring", request);
    for (const ChannelData& data : split_whole(request, 1)) {
        const std::vector<Hop> ring = ring_hops(group, rings, static_cast<std::uint32_t>(schedule.channels.size()));
        std::uint32_t first = request.root;
        if (reduces)
            first =
                std::find_if(ring.begin(), ring.end(), [&](const Hop& hop) { return hop.from == request.root; })->to;
        schedule.channels.push_back({.hops = opened(ring, first),
                                     .steps = pattern,
                                     .bytes = data.bytes,
                                     .loops = loops_of(data.exact, request, {})});
    }
    return schedule;
}

}  // namespace

Schedule plan_ring_broadcast(const Topology& topology, const Group& group, const PlanRequest& request) {
    return plan_chain(Collective::broadcast, topology, group, request);
}
Schedule plan_ring_reduce(const Topology& topology, const Group& group, const PlanRequest& request) {
    return plan_chain(Collective::reduce, topology, group, request);
}

}  // namespace fmsim
