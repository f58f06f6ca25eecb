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
    Output output;
};

int run_workload(const Options& options) {
    const std::string text = read_file(options.workload);
    const Job job = parse_job(text, options.workload);
    const Scenario scenario = make_scenario(options.scenario);
    const Prediction prediction = predict(scenario.topology, scenario.group, job, scenario.nccl, scenario.predict);
    const Findings findings = explain(scenario.topology, prediction);
    RunReport report{.cluster = scenario.topology.cluster.name,
                     .ranks = static_cast<std::uint32_t>(scenario.group.places.size()),
                     .placement = spread_of(scenario.topology, scenario.group.places),
                     .groups = groups_across(scenario.topology, scenario.group.places,
                                             static_cast<std::uint32_t>(scenario.group.places.size())),
                     .fidelity = options.scenario.fidelity,
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
    add_options(command, options->scenario);
    add_options(command, options->output);
    when_chosen(command, options, run_workload, action);
}

}  // namespace fmsim::cli
