// A system in `stream` with an activity for every channel, also those that one stands for in lower().
#pragma once

#include <span>

#include "fmsim/lowering.hpp"
#include "overlap.hpp"

namespace fmsim {

// `classes`: of a folded run, else null. `overlap`: as if the steps met so.
Lowered lower_apart(const Topology& topology, std::span<const Step> steps, const LinkClasses* classes, Overlap overlap);

}  // namespace fmsim
