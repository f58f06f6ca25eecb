// A workload file on a cluster: the scenario it asks for, and what each operation took.
#include "ask_file.hpp"

#include <set>

#include <fmt/format.h>

#include "fmsim/analysis.hpp"
#include "training.hpp"

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

// What operations name: algorithms beside the workload file, and libraries for experts.
void add_named(Scenario& scenario, const Workload& work, const std::string& file, const Catalogue& catalogue) {
    const auto slash = file.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : file.substr(0, slash);
    for (const Job& job : work.jobs)
        for (const Program& program : job.programs)
            for (const Operation& operation : program.operations)
                if (const auto* const call = std::get_if<CollectiveCall>(&operation.action)) {
                    add_algorithm_file(scenario, call->algorithm, folder);
                    if (call->experts && !scenario.predict.dispatchers) add_dispatchers(scenario, catalogue);
                }
}

// What ends that came together have cost: what the resource that was spared most would have needed more. Short, since
// texts cut long warnings.
std::string coalesced(double part, const Prediction& prediction) {
    return fmt::format("--coalesce {}: {} of {} ends came early, left out {:.3g} us", part, prediction.timeline.early,
                       prediction.lowered.system.activities(), prediction.timeline.left_out * 1e6);
}

}  // namespace

FileScenario scenario_of(const FileQuestion& question, const ScenarioOptions& options) {
    FileScenario made{.work = parse_workload(question.text, question.file), .scenario = {}, .placements = {}};
    const ScenarioOptions words = completed(options, made.work);
    made.scenario = make_scenario(placed(words, made.work.jobs.front()), made.work.environment);
    add_named(made.scenario, made.work, question.file, *words.catalogue);
    for (const Job& job : made.work.jobs)
        made.placements.push_back(placement_of(made.scenario.topology, placed(words, job)));
    made.scenario.predict.fold = question.fold;
    made.scenario.predict.coalesce = question.coalesce;
    if (question.coalesce > 0) made.scenario.words += fmt::format("coalesce {}\n", question.coalesce);
    return made;
}

Placement together(std::vector<Placement> placements) {
    if (placements.size() == 1) return std::move(placements.front());
    std::set<GpuPlace> all;
    for (const Placement& placement : placements) all.insert(placement.begin(), placement.end());
    return {all.begin(), all.end()};
}

Prediction predict_file(const FileQuestion& question, const FileScenario& asked) {
    const Scenario& scenario = asked.scenario;
    try {
        return predict(scenario.topology, asked.placements, asked.work, scenario.nccl, scenario.predict);
    } catch (const InputError& error) {
        throw in_file(error, question.text, question.file);
    }
}

Answer ask_file(const FileQuestion& question, const ScenarioOptions& options) {
    if (training_plan(question.text, question.file)) return ask_training(question, options);
    const auto asked = std::make_shared<FileScenario>(scenario_of(question, options));
    const Scenario& scenario = asked->scenario;
    const auto prediction = std::make_shared<Prediction>(predict_file(question, *asked));
    const Findings findings = explain(scenario.topology, *prediction);
    const Placement all = together(std::move(asked->placements));
    RunReport report{.cluster = scenario.topology.cluster.name,
                     .ranks = static_cast<std::uint32_t>(all.size()),
                     .placement = spread_of(scenario.topology, all),
                     .groups = groups_across(scenario.topology, all, static_cast<std::uint32_t>(all.size())),
                     .fidelity = scenario.predict.fidelity,
                     .end = prediction->end,
                     .operations = {},
                     .links = findings.links,
                     .provenance = {}};
    for (std::size_t i = 0; i < prediction->calls.size(); ++i)
        report.operations.push_back(report_call(prediction->calls[i], findings.calls[i]));
    report.provenance = provenance(scenario, question.text, report.operations);
    report.provenance.warnings = warnings_of(scenario.topology, all);
    if (question.coalesce > 0) report.provenance.warnings.push_back(coalesced(question.coalesce, *prediction));
    return {.outcome = outcome_of(report),
            .cluster = scenario.topology.cluster,
            .sweep = {},
            .run = report,
            .training = {},
            .plan = {},
            .step = {},
            .provenance = report.provenance,
            .no_effect = [asked, prediction](const Change& change) {
                return no_effect(asked->scenario.topology, *prediction, change);
            }};
}

}  // namespace fmsim::cli
