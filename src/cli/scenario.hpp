// What `collective` and `run` have in common: a cluster, how to simulate, what to pin.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>

#include "fmsim/choice.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "fmsim/report.hpp"
#include "fmsim/topology.hpp"
#include "fmsim/whatif.hpp"

namespace fmsim::cli {

struct ScenarioOptions {
    std::string cluster;
    std::string fidelity;  // empty: stream
    std::string algorithm;
    std::string protocol;
    std::uint32_t most_channels = 0;     // 0: as many as NCCL takes
    std::uint32_t gpus = 0;              // 0: all
    std::uint32_t per_domain = 0;        // 0: all
    std::string placement;               // empty: linear
    std::vector<std::string> variables;  // of NCCL: NAME=VALUE
    std::vector<std::string> what_if;    // as the command line has them
    std::vector<Change> changes;         // of the cluster, in force
    bool traced = true;                  // the answer says which constants it rests on: all are read for their hash
    std::shared_ptr<const Catalogue> catalogue = std::make_shared<Catalogue>(Catalogue::shipped());
};
// A workload file may bring the cluster along; then --cluster is not required.
void add_options(CLI::App& command, ScenarioOptions& options, bool file_may_say);

inline constexpr const char* kPrintScenario = "print what was asked as a workload file for `run`, and predict nothing";

// Which GPUs take part, and what is pinned; add_options has these too.
void add_group_options(CLI::App& command, ScenarioOptions& options);

// The words as a workload file keeps them, and back: a word of the command line goes before one of the file.
std::vector<std::pair<std::string, std::string>> words_of(const ScenarioOptions& options);
// The variables too; one that the file has already is replaced.
void add_environment(Workload& workload, const ScenarioOptions& options);
ScenarioOptions completed(ScenarioOptions options, const Workload& workload);

// With changes in force: those of the words of the command line take their place, the others wait for the cluster.
ScenarioOptions with_changes(ScenarioOptions options, const std::vector<Change>& changes);

Fidelity fidelity_of(const ScenarioOptions& options);

// A machine to predict on. `words` are the options that shape the result, for the hash of the inputs.
struct Scenario {
    Topology topology;
    Nccl nccl;
    PredictOptions predict;
    std::string constants_hash;
    std::string words;
};
// What of a placement its user may not have meant: a GPU alone in an NVLink domain of which others have several.
std::vector<std::string> warnings_of(const Topology& topology, const Placement& placement);
// From the short form, or from a file where the words end in .json; with the changes that are in force.
Cluster cluster_of(const ScenarioOptions& options);
Cluster cluster_of(const std::string& words);

// `environment` is a workload file's; the command line's variables go before it. Warns of variables without effect.
using Environment = std::vector<std::pair<std::string, std::string>>;
Scenario make_scenario(const ScenarioOptions& options, const Environment& environment = {});
// Libraries that move tokens to experts: for calls that need one, since reading them is much of a short run.
void add_dispatchers(Scenario& scenario, const Catalogue& catalogue);

// An algorithm that is a file, MSCCL's XML in `folder` (empty: here), is read once; other names are left alone.
void add_algorithm_file(Scenario& scenario, const std::string& word, const std::string& folder);

// The GPUs that the words ask for.
Placement placement_of(const Topology& topology, const ScenarioOptions& options);

ReportedCall report_call(const CallPrediction& predicted, const CallFinding& finding);

// What a result rests on that has no operations of its own.
Provenance plain_provenance(const ScenarioOptions& options, const std::string& inputs);

// What all of these operations rest on.
Provenance provenance(const Scenario& scenario, const std::string& inputs, const std::vector<ReportedCall>& calls);

}  // namespace fmsim::cli
