// Training plans: `fmsim run` on one, and what validation shares with it.
#pragma once

#include <string>

#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {

// Of a workload file whose kind is "training".
int run_training(const std::string& text, const std::string& file, const ScenarioOptions& options,
                 const Output& output);

Provenance training_provenance(const std::string& inputs);

}  // namespace fmsim::cli
