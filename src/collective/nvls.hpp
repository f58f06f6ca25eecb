// Reductions and multicasts in the NVSwitch, in one domain and in several; see nvls.cpp.
#pragma once

#include "fmsim/collective.hpp"

namespace fmsim {

Schedule plan_nvls_all_reduce(const Topology& topology, const Group& group, const PlanRequest& request);
Schedule plan_nvls_all_gather(const Topology& topology, const Group& group, const PlanRequest& request);
Schedule plan_nvls_reduce_scatter(const Topology& topology, const Group& group, const PlanRequest& request);
Schedule plan_nvls_tree_all_reduce(const Topology& topology, const Group& group, const PlanRequest& request);

// Why NVLS cannot run on the group; empty when it can.
std::string nvls_refuses(const Topology& topology, const Group& group, const NcclShape& shape);
std::string nvls_refuses_gather(const Topology& topology, const Group& group, const NcclShape& shape);
std::string nvls_tree_refuses(const Topology& topology, const Group& group, const NcclShape& shape);

}  // namespace fmsim
