// Following a slope until something else counts: see levers.cpp.
#pragma once

#include <functional>

#include "fmsim/analysis.hpp"

namespace fmsim {

// A run as a function of its costs.
struct CostedRun {
    double now{};                                             // seconds at the costs as they are
    std::function<double(Cause, double factor)> end_at;       // with one cause so many times as dear
    std::function<CauseSeconds(Cause, double)> slopes_there;  // at other costs
    double matters = 1e-3;                                    // of the run: smaller slopes are not followed
    CauseSeconds slopes;
    CauseSeconds amounts;  // bytes on the links of a kind, seconds of anything else
};
std::vector<Lever> levers_of(const CostedRun& run);

// Bytes on links and seconds in delays, over the whole run.
CauseSeconds amounts_of(const Topology& topology, const RunSteps& made, const Rerun& run);

}  // namespace fmsim
