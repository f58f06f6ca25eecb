// One-sided puts on links: see puts.cpp.
#pragma once

#include <vector>

#include "fmsim/collective.hpp"
#include "fmsim/engine.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

// A leg as one activity.
struct PutFlow {
    double work{};  // bytes on the busiest link, what it could have carried meanwhile included
    std::vector<Use> uses;
    double rate_limit{};
};
// Throws Infeasible where a link that it needs is down.
PutFlow put_flow(const Topology& topology, const Group& group, const PutLeg& leg);

}  // namespace fmsim
