// GPUs with a fault: the stage that has one computes as slowly as it does.
#pragma once

#include <vector>

#include "stage_costs.hpp"

namespace fmsim {

// Of each stage, the part of their rate at which its slowest GPU's kernels run. Ranks fill the domains in order. Throws
// Infeasible where a GPU that the plan needs is down.
std::vector<double> stage_speeds(const TrainingPlan& plan, const Exchanges& exchanges);
// The kernels of a stage take as much longer, forward and backward; exchanges and the host do not.
void slow_down(ChunkCosts& costs, const std::vector<double>& speeds);

}  // namespace fmsim
