// Parallel aggregated trees: gather and scatter over one GPU a domain; see pat.cpp.
#pragma once

#include <string>

#include "fmsim/collective.hpp"

namespace fmsim {

Schedule plan_pat_all_gather(const Topology& topology, const Group& group, const PlanRequest& request);
Schedule plan_pat_reduce_scatter(const Topology& topology, const Group& group, const PlanRequest& request);
std::string pat_refuses(const Topology& topology, const Group& group, const NcclShape& shape);

}  // namespace fmsim
