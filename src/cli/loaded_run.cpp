#include "loaded_run.hpp"

#include <set>

namespace fmsim::cli {
namespace {

// A job says itself where it wants to be, unless the command line does.
ScenarioOptions placed(ScenarioOptions options, const Job& job) {
    if (!job.wish) return options;
    if (options.placement.empty()) options.placement = job.wish->placement;
    if (options.gpus == 0) options.gpus = job.wish->gpus;
    if (options.per_domain == 0) options.per_domain = job.wish->per_domain;
    return options;
}

// Those that operations name, beside the workload file.
void add_algorithm_files(Scenario& scenario, const Workload& work, const std::string& file) {
    const auto slash = file.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : file.substr(0, slash);
    for (const Job& job : work.jobs)
        for (const Program& program : job.programs)
            for (const Operation& operation : program.operations)
                if (const auto* const call = std::get_if<CollectiveCall>(&operation.action))
                    add_algorithm_file(scenario, call->algorithm, folder);
}

}  // namespace

LoadedRun load_run(const std::string& file, std::string text, const ScenarioOptions& options) {
    LoadedRun run{.file = file, .text = std::move(text), .work = {}, .words = {}, .scenario = {}, .placements = {}};
    run.work = parse_workload(run.text, file);
    run.words = completed(options, run.work);
    run.scenario = make_scenario(placed(run.words, run.work.jobs.front()), run.work.environment);
    add_algorithm_files(run.scenario, run.work, file);
    for (const Job& job : run.work.jobs)
        run.placements.push_back(placement_of(run.scenario.topology, placed(run.words, job)));
    return run;
}

Prediction predict_run(const LoadedRun& run) {
    try {
        return predict(run.scenario.topology, run.placements, run.work, run.scenario.nccl, run.scenario.predict);
    } catch (const InputError& error) {
        throw in_file(error, run.text, run.file);
    }
}

Placement together(const std::vector<Placement>& placements) {
    if (placements.size() == 1) return placements.front();
    std::set<GpuPlace> all;
    for (const Placement& placement : placements) all.insert(placement.begin(), placement.end());
    return {all.begin(), all.end()};
}

}  // namespace fmsim::cli
