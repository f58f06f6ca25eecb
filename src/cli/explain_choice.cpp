// fmsim explain-choice: which algorithm and protocol NCCL takes for a call, and what it thought of the others.
#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string collective;
    std::string size;
    bool no_tuner = false;
    ScenarioOptions scenario;
    Output output;
};

Pins pins_of(const Options& options, const Scenario& scenario) {
    Pins pins = scenario.predict.pins;
    if (pins.algorithm) pins.algorithm = name(parse_algorithm(*pins.algorithm));
    pins.aws_tuner = !options.no_tuner;
    return pins;
}

Bytes size_of(const Options& options) {
    const auto sizes = parse_sizes(options.size, 2);
    if (sizes.size() == 1) return sizes.front();
    throw InputError(
        {{.file = "--size", .line = 0, .pointer = "", .expected = "expected one size", .found = options.size}});
}

int run_explain(const Options& options) {
    const Collective collective = parse_collective(options.collective);
    const Bytes size = size_of(options);
    const Scenario scenario = make_scenario(options.scenario);
    const Group group = group_of(placement_of(scenario.topology, options.scenario));
    const Pins pins = pins_of(options, scenario);
    const std::string inputs = fmt::format("{} {}\n{}\n", name(collective), size.count, options.no_tuner);
    ChoiceReport report{.cluster = scenario.topology.cluster.name,
                        .collective = collective,
                        .size = size,
                        .nccl_version = scenario.nccl.version,
                        .communicator = communicator_of(scenario.topology, group, scenario.nccl, pins),
                        .why = {},
                        .provenance = provenance(scenario, inputs, {})};
    report.provenance.assumptions = {"times are what NCCL believes when it chooses; they are no predictions",
                                     "sums of floats, one operation at a time, buffers that nobody registered"};
    report.why = explain_choice(report.communicator, collective, size, scenario.nccl, pins);
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_explain_choice(CLI::App& program, Action& action) {
    CLI::App& command =
        *program.add_subcommand("explain-choice", "Say which algorithm and protocol NCCL takes for a call, and why");
    const auto options = std::make_shared<Options>();
    command.add_option("cluster", options->scenario.cluster, "such as p5en.48xlarge:16, or a JSON file")
        ->required()
        ->option_text("CLUSTER");
    command
        .add_option("collective", options->collective, "all_reduce, all_gather, reduce_scatter, broadcast or reduce")
        ->required()
        ->option_text("COLLECTIVE");
    command.add_option("--size", options->size, "such as 64MiB; a plain number is bytes")
        ->required()
        ->option_text("SIZE");
    command.add_flag("--no-tuner", options->no_tuner, "as NCCL chooses without the AWS plugin's tuner");
    add_group_options(command, options->scenario);
    add_options(command, options->output);
    when_chosen(command, options, run_explain, action);
}

}  // namespace fmsim::cli
