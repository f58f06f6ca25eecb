// Training plans: `fmsim run` on one, and what validation shares with it.
#pragma once

#include <string>

#include "fmsim/topology.hpp"
#include "fmsim/training.hpp"

#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {

// Of a plan, which `text` says; `file` is its name.
int run_training(TrainingFile plan, const std::string& text, const std::string& file, const ScenarioOptions& options,
                 const Output& output);

// Of a file whose kind is "training_plans". `memo`: plans share what collectives take; else each finds it anew.
int run_training_plans(const std::string& text, const std::string& file, const ScenarioOptions& options, bool memo,
                       const Output& output);

// The plan with what the command line says, on a cluster that has the GPUs.
void place(TrainingFile& file, const ScenarioOptions& options, const Cluster& cluster);

Provenance training_provenance(const std::string& inputs);

}  // namespace fmsim::cli
