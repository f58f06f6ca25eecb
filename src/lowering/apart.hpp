// A system in `stream` with an activity for every channel, also those that one stands for in lower().
#pragma once

#include <span>

#include "fmsim/lowering.hpp"

namespace fmsim {

// `classes`: of a folded run, else null. `shared`: as if the steps could overlap, or could not.
Lowered lower_apart(const Topology& topology, std::span<const Step> steps, const LinkClasses* classes, bool shared);

}  // namespace fmsim
