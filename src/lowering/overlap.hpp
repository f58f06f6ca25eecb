// Whether operations can meet on links.
#pragma once

#include <span>

#include "fmsim/lowering.hpp"

namespace fmsim {

// Whether steps can move bytes at the same time: not when each one that moves anything waits for the one before it, and
// stands for itself only.
bool may_overlap(std::span<const Step> steps);

}  // namespace fmsim
