// How fast a schedule's hops are while they flow, and so how long its channels take alone: see alone.cpp.
#pragma once

#include <vector>

#include "hop_costs.hpp"
#include "solo_makespan.hpp"

namespace fmsim {

// The solo run of each channel. Sets the alone_share of the hops on the way.
std::vector<SoloRun> runs_alone(const Topology& topology, const Schedule& schedule,
                                std::vector<ChannelOnLinks>& placed);

}  // namespace fmsim
