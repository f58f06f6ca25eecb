// What predictions of training plans rest on; validation says it too.
#pragma once

#include <string>

#include "fmsim/topology.hpp"
#include "fmsim/training.hpp"

#include "ask.hpp"
#include "output.hpp"

namespace fmsim::cli {

// Of a file whose kind is "training_plans". `memo`: plans share what collectives take; else each finds it anew.
int run_training_plans(const std::string& text, const std::string& file, const ScenarioOptions& options, bool memo,
                       const Output& output);

// The plan with what the command line says, on a cluster that has the GPUs.
void place(TrainingFile& file, const ScenarioOptions& options, const Cluster& cluster);

// fmsim explain of a plan.
int explain_training(const FileQuestion& question, const std::string& id, const ScenarioOptions& options,
                     const Output& output);
// Where the values of a cluster's machines come from; none of a machine that is a file of the user's.
std::vector<SourcedValue> sources_of(const Cluster& cluster);

// ", what if efa.bandwidth*2", for the title of what is explained; empty without changes.
std::string changes_text(const ScenarioOptions& options);
// Refuses a node that the tree does not have.
void check_focus(const WhyReport& report);

Provenance training_provenance(const std::string& inputs, const Catalogue& catalogue);

}  // namespace fmsim::cli
