// fmsim run: a workload file on a cluster.
#include <memory>
#include <set>

#include "commands.hpp"
#include "fmsim/analysis.hpp"
#include "output.hpp"
#include "scenario.hpp"
#include "training.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string workload;
    ScenarioOptions scenario;
    bool print_scenario = false;
    bool no_fold = false;
    bool no_memo = false;
    bool print_folding = false;
    bool check = false;
    Output output;
};

// A job says itself where it wants to be, unless the command line does.
ScenarioOptions placed(ScenarioOptions options, const Job& job) {
    if (!job.wish) return options;
    if (options.placement.empty()) options.placement = job.wish->placement;
    if (options.gpus == 0) options.gpus = job.wish->gpus;
    if (options.per_domain == 0) options.per_domain = job.wish->per_domain;
    return options;
}

// What the ranks make wrong is said with the lines of the file too.
Prediction predict_file(const Scenario& scenario, const std::vector<Placement>& placements, const Workload& work,
                        const std::string& text, const std::string& file) {
    try {
        return predict(scenario.topology, placements, work, scenario.nccl, scenario.predict);
    } catch (const InputError& error) {
        throw in_file(error, text, file);
    }
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

// All GPUs that some job has, in order.
Placement together(std::vector<Placement>&& placements) {
    if (placements.size() == 1) return std::move(placements.front());
    std::set<GpuPlace> all;
    for (const Placement& placement : placements) all.insert(placement.begin(), placement.end());
    return {all.begin(), all.end()};
}

// The same without folding, and with bytes that hardly differ.
FoldingReport::Check checked(Scenario scenario, const std::vector<Placement>& placements, const Workload& work,
                             const std::string& text, const std::string& file) {
    scenario.predict.stretch = 1 + 1e-12;
    const SimTime perturbed = predict_file(scenario, placements, work, text, file).end;
    scenario.predict.stretch = 1;
    scenario.predict.fold = false;
    return {predict_file(scenario, placements, work, text, file).end, perturbed};
}

int run_workload(const Options& options) {
    const std::string text = read_file(options.workload);
    if (is_training_plans(text))
        return run_training_plans(text, options.workload, options.scenario, !options.no_memo, options.output);
    if (const auto plan = training_plan(text, options.workload))
        return run_training(*plan, text, options.workload, options.scenario, options.output);
    Workload work = parse_workload(text, options.workload);
    const ScenarioOptions words = completed(options.scenario, work);
    if (options.print_scenario) {
        work.scenario = words_of(words);
        add_environment(work, words);
        emit(options.output, to_workload_file(work));
        return kGood;
    }
    Scenario scenario = make_scenario(placed(words, work.jobs.front()), work.environment);
    add_algorithm_files(scenario, work, options.workload);
    std::vector<Placement> placements;
    for (const Job& job : work.jobs) placements.push_back(placement_of(scenario.topology, placed(words, job)));
    scenario.predict.fold = !options.no_fold;
    const Prediction prediction = predict_file(scenario, placements, work, text, options.workload);
    if (options.print_folding || options.check) {
        FoldingReport report{.cluster = scenario.topology.cluster.name,
                             .folding = prediction.folding,
                             .end = prediction.end,
                             .check = {},
                             .provenance = provenance(scenario, text, {})};
        if (options.check) report.check = checked(scenario, placements, work, text, options.workload);
        emit(options.output, write(report, options.output.format));
        return !options.check || trust_of(report).holds() ? kGood : kThreshold;
    }
    const Findings findings = explain(scenario.topology, prediction);
    const Placement all = together(std::move(placements));
    RunReport report{.cluster = scenario.topology.cluster.name,
                     .ranks = static_cast<std::uint32_t>(all.size()),
                     .placement = spread_of(scenario.topology, all),
                     .groups = groups_across(scenario.topology, all, static_cast<std::uint32_t>(all.size())),
                     .fidelity = scenario.predict.fidelity,
                     .end = prediction.end,
                     .operations = {},
                     .links = findings.links,
                     .provenance = {}};
    for (std::size_t i = 0; i < prediction.calls.size(); ++i)
        report.operations.push_back(report_call(prediction.calls[i], findings.calls[i]));
    report.provenance = provenance(scenario, text, report.operations);
    report.provenance.warnings = warnings_of(scenario.topology, all);
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("run", "Predict a workload file, a training plan, or many plans");
    const auto options = std::make_shared<Options>();
    command.add_option("workload", options->workload, "a JSON file; - is standard input")
        ->required()
        ->option_text("WORKLOAD");
    add_options(command, options->scenario, true);
    command.add_flag("--print-scenario", options->print_scenario, kPrintScenario);
    command.add_flag("--no-fold", options->no_fold, "simulate every rank, also those that behave alike");
    command.add_flag("--no-memo", options->no_memo,
                     "of many training plans: find the times of collectives anew for each plan");
    command.add_flag("--print-folding", options->print_folding,
                     "show which ranks and domains behave alike, and what tells the others apart");
    command.add_flag("--check", options->check,
                     "compare with --no-fold and with bytes 1e-12 more, and say whether the time holds to 1e-9");
    add_options(command, options->output);
    when_chosen(command, options, run_workload, action);
}

}  // namespace fmsim::cli
