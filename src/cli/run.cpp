// fmsim run: a workload file on a cluster.
#include <memory>

#include "commands.hpp"
#include "fmsim/analysis.hpp"
#include "loaded_run.hpp"
#include "output.hpp"
#include "training.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string workload;
    ScenarioOptions scenario;
    bool print_scenario = false;
    bool no_fold = false;
    bool print_folding = false;
    bool check = false;
    Output output;
};

// The same without folding, and with bytes that hardly differ.
FoldingReport::Check checked(LoadedRun run) {
    run.scenario.predict.stretch = 1 + 1e-12;
    const SimTime perturbed = predict_run(run).end;
    run.scenario.predict.stretch = 1;
    run.scenario.predict.fold = false;
    return {predict_run(run).end, perturbed};
}

int run_workload(const Options& options) {
    const std::string text = read_file(options.workload);
    if (is_training(text)) return run_training(text, options.workload, options.scenario, options.output);
    if (options.print_scenario) {
        Workload work = parse_workload(text, options.workload);
        const ScenarioOptions words = completed(options.scenario, work);
        work.scenario = words_of(words);
        add_environment(work, words);
        emit(options.output, to_workload_file(work));
        return kGood;
    }
    LoadedRun run = load_run(options.workload, text, options.scenario);
    const Scenario& scenario = run.scenario;
    run.scenario.predict.fold = !options.no_fold;
    const Prediction prediction = predict_run(run);
    if (options.print_folding || options.check) {
        FoldingReport report{.cluster = scenario.topology.cluster.name,
                             .folding = prediction.folding,
                             .end = prediction.end,
                             .check = {},
                             .provenance = provenance(scenario, text, {})};
        if (options.check) report.check = checked(run);
        emit(options.output, write(report, options.output.format));
        return !options.check || trust_of(report).holds() ? kGood : kThreshold;
    }
    const Findings findings = explain(scenario.topology, prediction);
    const Placement all = together(run.placements);
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
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("run", "Predict a workload file, or a training plan");
    const auto options = std::make_shared<Options>();
    command.add_option("workload", options->workload, "a JSON file; - is standard input")
        ->required()
        ->option_text("WORKLOAD");
    add_options(command, options->scenario, true);
    command.add_flag("--print-scenario", options->print_scenario, kPrintScenario);
    command.add_flag("--no-fold", options->no_fold, "simulate every rank, also those that behave alike");
    command.add_flag("--print-folding", options->print_folding,
                     "show which ranks and domains behave alike, and what tells the others apart");
    command.add_flag("--check", options->check,
                     "compare with --no-fold and with bytes 1e-12 more, and say whether the time holds to 1e-9");
    add_options(command, options->output);
    when_chosen(command, options, run_workload, action);
}

}  // namespace fmsim::cli
