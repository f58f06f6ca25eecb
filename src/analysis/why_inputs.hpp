// Which values of the catalogue a cause rests on, and by which rule: see why_inputs.cpp.
#pragma once

#include "fmsim/analysis.hpp"

namespace fmsim {

// `protocol`: of those that differ by it; null: none. `gpudirect`: nothing passes through host memory.
std::vector<WhyInput> inputs_of(Cause cause, const Protocol* protocol, const std::vector<SourcedValue>& sources,
                                bool gpudirect = true);
std::string_view rule_of(Cause cause);

}  // namespace fmsim
