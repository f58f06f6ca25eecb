// The rings of a channel, for the collectives that go round them and those that go along them.
#pragma once

#include <vector>

#include "fmsim/collective.hpp"

namespace fmsim {

// The hops of a channel's ring; hop h begins where hop h - 1 ends.
std::vector<Hop> ring_hops(const Group& group, const GroupRings& rings, std::uint32_t channel);

Schedule plan_ring_all_reduce(const Topology& topology, const Group& group, const PlanRequest& request);
Schedule plan_ring_all_gather(const Topology& topology, const Group& group, const PlanRequest& request);
Schedule plan_ring_reduce_scatter(const Topology& topology, const Group& group, const PlanRequest& request);

}  // namespace fmsim
