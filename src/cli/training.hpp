// Training plans: `fmsim run` on one, and what validation shares with it.
#pragma once

#include <string>

#include "fmsim/training.hpp"
#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {

// Of a plan, which `text` says; `file` is its name.
int run_training(TrainingFile plan, const std::string& text, const std::string& file, const ScenarioOptions& options,
                 const Output& output);

Provenance training_provenance(const std::string& inputs);

}  // namespace fmsim::cli
