// A workload file on its way to a prediction; `run` asks for the folding of it too.
#pragma once

#include <vector>

#include "ask.hpp"

namespace fmsim::cli {

struct FileScenario {
    Workload work;
    Scenario scenario;
    std::vector<Placement> placements;  // of its jobs
};
FileScenario scenario_of(const FileQuestion& question, const ScenarioOptions& options);

// All GPUs that some job has, in order.
Placement together(std::vector<Placement> placements);

// What the ranks make wrong is said with the lines of the file too.
Prediction predict_file(const FileQuestion& question, const FileScenario& asked);

}  // namespace fmsim::cli
