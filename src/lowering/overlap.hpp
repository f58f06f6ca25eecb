// Whether operations can meet on links, and lowering for a given answer.
#pragma once

#include <span>

#include "fmsim/lowering.hpp"

namespace fmsim {

// Whether steps can move bytes at the same time: not when each one that moves anything waits for the one before it, and
// stands for itself only.
bool may_overlap(std::span<const Step> steps);

// lower() or, with classes, lower_folded(); `shared`: as if the steps could overlap, or could not.
Lowered lower_for(const Topology& topology, std::span<const Step> steps, const LinkClasses* classes, Fidelity fidelity,
                  bool shared);

}  // namespace fmsim
