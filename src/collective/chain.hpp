// Broadcast and reduce along a ring; see chain.cpp.
#pragma once

#include "fmsim/collective.hpp"

namespace fmsim {

Schedule plan_ring_broadcast(const Topology& topology, const Group& group, const PlanRequest& request);
Schedule plan_ring_reduce(const Topology& topology, const Group& group, const PlanRequest& request);

}  // namespace fmsim
