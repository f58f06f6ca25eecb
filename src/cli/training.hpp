// Training plans: `fmsim run` on one, and what validation shares with it.
#pragma once

#include <string>

#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {

// Of a workload file whose kind is "training".
int run_training(const std::string& text, const std::string& file, const ScenarioOptions& options,
                 const Output& output);

// Of the same: fmsim explain.
int explain_training(const std::string& text, const std::string& file, const std::string& id,
                     const ScenarioOptions& options, const Output& output);
// Where the values of a cluster's machines come from; none of a machine that is a file of the user's.
std::vector<SourcedValue> sources_of(const Cluster& cluster);

// Refuses a node that the tree does not have.
void check_focus(const WhyReport& report);

Provenance training_provenance(const std::string& inputs);

}  // namespace fmsim::cli
