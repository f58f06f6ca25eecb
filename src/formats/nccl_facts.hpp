// What the files of topologies/nccl/ say besides NCCL's own facts.
#pragma once

#include <string>

#include "fmsim/choice.hpp"
#include "leaves.hpp"

namespace fmsim {

AwsTuner read_aws_tuner(const Files& files, const std::string& path, const std::string& wanted_by);

}  // namespace fmsim
