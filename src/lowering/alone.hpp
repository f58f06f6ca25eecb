// How long the channels of a schedule take when nothing else runs: see alone.cpp.
#pragma once

#include <vector>

#include "hop_costs.hpp"
#include "solo_makespan.hpp"

namespace fmsim {

// Of each channel, beside the others of its operation. `shared`: also how long it takes when others share its links.
std::vector<SoloRun> runs_alone(const Topology& topology, const Schedule& schedule,
                                const std::vector<ChannelOnLinks>& placed, bool shared);

}  // namespace fmsim
