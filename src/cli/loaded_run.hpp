// A workload file with the cluster, the GPUs and the pins that it runs with: what `run` and `explain` start from.
#pragma once

#include <string>
#include <vector>

#include "scenario.hpp"

namespace fmsim::cli {

struct LoadedRun {
    std::string file;
    std::string text;
    Workload work;
    ScenarioOptions words;  // of the command line and the file
    Scenario scenario;
    std::vector<Placement> placements;  // of each job
};
// `text`: what is in `file`, which is no training plan.
LoadedRun load_run(const std::string& file, std::string text, const ScenarioOptions& options);

// What the ranks make wrong is said with the lines of the file too.
Prediction predict_run(const LoadedRun& run);

// All GPUs that some job has, in order.
Placement together(const std::vector<Placement>& placements);

}  // namespace fmsim::cli
