// Double binary trees; see tree.cpp.
#pragma once

#include <string>

#include "fmsim/collective.hpp"

namespace fmsim {

Schedule plan_tree_all_reduce(const Topology& topology, const Group& group, const PlanRequest& request);

}  // namespace fmsim
