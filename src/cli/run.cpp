// fmsim run: a workload file on a cluster.
#include <memory>

#include "commands.hpp"
#include "fmsim/analysis.hpp"
#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string workload;
    ScenarioOptions scenario;
    bool print_scenario = false;
    Output output;
};

// A single job says itself where it wants to be, unless the command line does.
ScenarioOptions placed(ScenarioOptions options, const Workload& work) {
    const auto& wish = work.jobs.front().wish;
    if (work.jobs.size() > 1 || !wish) return options;
    if (options.placement.empty()) options.placement = wish->placement;
    if (options.gpus == 0) options.gpus = wish->gpus;
    if (options.per_domain == 0) options.per_domain = wish->per_domain;
    return options;
}

// What the ranks make wrong is said with the lines of the file too.
Prediction predict_file(const Scenario& scenario, const Workload& work, const std::string& text,
                        const std::string& file) {
    try {
        return predict(scenario.topology, scenario.group, work, scenario.nccl, scenario.predict);
    } catch (const InputError& error) {
        throw in_file(error, text, file);
    }
}

int run_workload(const Options& options) {
    const std::string text = read_file(options.workload);
    Workload work = parse_workload(text, options.workload);
    const ScenarioOptions words = completed(options.scenario, work);
    if (options.print_scenario) {
        work.scenario = words_of(words);
        emit(options.output, to_workload_file(work));
        return kGood;
    }
    const Scenario scenario = make_scenario(placed(words, work));
    const Prediction prediction = predict_file(scenario, work, text, options.workload);
    const Findings findings = explain(scenario.topology, prediction);
    RunReport report{.cluster = scenario.topology.cluster.name,
                     .ranks = static_cast<std::uint32_t>(scenario.group.places.size()),
                     .placement = spread_of(scenario.topology, scenario.group.places),
                     .fidelity = scenario.predict.fidelity,
                     .end = prediction.end,
                     .operations = {},
                     .links = findings.links,
                     .provenance = provenance(scenario, text)};
    for (std::size_t i = 0; i < prediction.calls.size(); ++i)
        report.operations.push_back(report_call(prediction.calls[i], findings.calls[i]));
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("run", "Predict a workload file");
    const auto options = std::make_shared<Options>();
    command.add_option("workload", options->workload, "a JSON file; - is standard input")
        ->required()
        ->option_text("WORKLOAD");
    add_options(command, options->scenario, true);
    command.add_flag("--print-scenario", options->print_scenario, kPrintScenario);
    add_options(command, options->output);
    when_chosen(command, options, run_workload, action);
}

}  // namespace fmsim::cli
