// One question of `run` or `collective`, asked as often as it takes: with changes, of another cluster, by the gate.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fmsim/outcome.hpp"
#include "fmsim/training.hpp"
#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {

// What came of it. Only one of the reports is there.
struct Answer {
    Outcome outcome;
    Cluster cluster;  // as it was predicted
    std::optional<SweepReport> sweep;
    std::optional<RunReport> run;
    std::optional<TrainingReport> training;
    std::shared_ptr<const TrainingFile> plan;  // what `training` points at
    std::shared_ptr<const StepPrediction> step;
    Provenance provenance;
    // Why a change cannot matter here; none where it can.
    std::function<std::optional<std::string>(const Change&)> no_effect;

    std::string text(Format format) const;
};
using Ask = std::function<Answer(const ScenarioOptions&)>;

struct SweepQuestion {
    Collective collective{};
    std::vector<Bytes> sizes;
    std::uint32_t root = 0;
    std::optional<Measurements> measurements;
    std::string inputs;  // what else was read, for the hash
};
Answer ask_sweep(const SweepQuestion& question, const ScenarioOptions& options);

// A workload file or a training plan.
struct FileQuestion {
    std::string text;
    std::string file;
    bool fold = true;
    double coalesce = 0;
};
Answer ask_file(const FileQuestion& question, const ScenarioOptions& options);
Answer ask_training(const FileQuestion& question, const ScenarioOptions& options);

// The answer with the changes of --what-if beside the one without. Prints; returns the exit code.
int compare_what_if(const Ask& ask, const ScenarioOptions& options, const Output& output);

std::vector<Change> parse_changes(const std::vector<std::string>& words);

}  // namespace fmsim::cli
