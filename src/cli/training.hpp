// What predictions of training plans rest on; validation says it too.
#pragma once

#include <string>

#include "fmsim/topology.hpp"
#include "fmsim/training.hpp"

#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {

// Of a file whose kind is "training_plans". `memo`: plans share what collectives take; else each finds it anew.
int run_training_plans(const std::string& text, const std::string& file, const ScenarioOptions& options, bool memo,
                       const Output& output);

// The plan with what the command line says, on a cluster that has the GPUs.
void place(TrainingFile& file, const ScenarioOptions& options, const Cluster& cluster);

Provenance training_provenance(const std::string& inputs, const Catalogue& catalogue);

}  // namespace fmsim::cli
