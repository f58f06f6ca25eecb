// fmsim explain: why a run takes what it takes, from the step down to the link.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "ask_file.hpp"
#include "commands.hpp"
#include "fmsim/analysis.hpp"
#include "training.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string run;
    std::string id;
    std::string size;
    bool no_alternatives = false;
    std::uint32_t spans = 40;
    ScenarioOptions scenario;
    Output output;
};

bool is_collective(const std::string& word) {
    return std::any_of(kCollectives.begin(), kCollectives.end(), [&](Collective one) { return name(one) == word; });
}

struct Asked {
    FileQuestion question;
    FileScenario file;
};

// `all_reduce --size 1GiB` as the workload it is short for.
Asked short_run(const Options& options) {
    const Collective collective = parse_collective(options.run);
    if (options.size.empty())
        throw InputError(
            {{"--size", 0, "", fmt::format("expected a size for {}, such as --size 1GiB", options.run), ""}});
    const auto sizes = parse_sizes(options.size, 2);
    if (sizes.size() != 1) throw InputError({{"--size", 0, "", "expected one size", options.size}});
    Asked asked{.question = {fmt::format("{} {}\n", options.run, sizes.front().count), ""},
                .file = {.work = in_turn({{std::string(name(collective)), collective, sizes.front()}}),
                         .scenario = {},
                         .placements = {}}};
    asked.file.scenario = make_scenario(options.scenario);
    asked.file.placements = {placement_of(asked.file.scenario.topology, options.scenario)};
    return asked;
}

Asked file_run(const Options& options, FileQuestion question) {
    if (!options.size.empty())
        throw InputError(
            {{"--size", 0, "", "expected a size for a collective only; the file has its own", options.size}});
    FileScenario file = scenario_of(question, options.scenario);
    return {std::move(question), std::move(file)};
}

// The alternatives of the collective that is longest on the path.
void add_alternatives(const FileScenario& run, const Prediction& prediction, const Reasons& reasons, WhyNode& tree) {
    std::vector<std::uint32_t> order;
    for (const CriticalPart& part : reasons.path)
        if (const std::uint32_t call = prediction.made.call[part.step];
            std::find(order.begin(), order.end(), call) == order.end())
            order.push_back(call);
    std::optional<std::size_t> longest;
    for (std::size_t i = 0; i < order.size(); ++i)
        if (prediction.calls[order[i]].collective &&
            (!longest || tree.children[i].seconds > tree.children[*longest].seconds))
            longest = i;
    if (!longest) return;
    tree.children[*longest].alternatives =
        alternatives(run.scenario.topology, run.placements, run.work, run.scenario.nccl, run.scenario.predict,
                     prediction.calls[order[*longest]]);
}

// With the changes of --what-if in force: it is the changed run that is explained.
int explain_run(const Options& asked_for) {
    Options options = asked_for;
    options.scenario = with_changes(options.scenario, parse_changes(options.scenario.what_if));
    const bool in_words = is_collective(options.run);
    FileQuestion question{.text = in_words ? "" : read_file(options.run), .file = options.run};
    if (!in_words && training_plan(question.text, question.file))
        return explain_training(question, options.id, options.scenario, options.output);
    const Asked asked = in_words ? short_run(options) : file_run(options, std::move(question));
    const FileScenario& run = asked.file;
    if (run.scenario.predict.fidelity != Fidelity::stream)
        throw InputError({{"--fidelity", 0, "", "expected stream, which has reasons", "chunk"}});
    const Topology& topology = run.scenario.topology;
    const Prediction prediction = predict_file(asked.question, run);
    const Reasons reasons = reasons_of(topology, prediction, options.spans);
    WhyReport report{.title = fmt::format("{}, {} GPUs{}", topology.cluster.name, together(run.placements).size(),
                                          changes_text(options.scenario)),
                     .seconds = seconds(prediction.end),
                     .tree = why_tree(topology, prediction, reasons, sources_of(topology.cluster)),
                     .focus = options.id,
                     .saturated = {},
                     .levers = reasons.levers,
                     .use = reasons.use,
                     .provenance = {}};
    check_focus(report);
    if (!options.no_alternatives) add_alternatives(run, prediction, reasons, report.tree);
    for (const Saturated& one : reasons.saturated)
        report.saturated.push_back({plain_name(topology, one.resource), prediction.calls[one.call].call.name, one});
    std::vector<ReportedCall> calls;
    for (const CallPrediction& call : prediction.calls) calls.push_back(report_call(call, {}));
    report.provenance = provenance(run.scenario, asked.question.text, calls);
    report.provenance.warnings = warnings_of(topology, together(run.placements));
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_explain(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand(
        "explain", "Say why a workload, a training plan or a collective takes what it takes, down to the link");
    const auto options = std::make_shared<Options>();
    command
        .add_option("run", options->run, "a JSON file as for `run`, or a collective, such as all_reduce with --size")
        ->required()
        ->option_text("RUN");
    command.add_option("id", options->id, "one node with its rule and inputs, by its number, such as 1.2, or its name")
        ->option_text("ID");
    command.add_option("--size", options->size, "of a collective: such as 64MiB; a plain number is bytes")
        ->option_text("SIZE");
    command.add_flag("--no-alternatives", options->no_alternatives,
                     "do not predict the other algorithms and protocols");
    command.add_option("--spans", options->spans, "equal spans of the run in which use of links is shown (default 40)")
        ->check(CLI::Range(1, 1000))
        ->option_text("N");
    add_options(command, options->scenario, true);
    add_options(command, options->output);
    when_chosen(command, options, explain_run, action);
}

}  // namespace fmsim::cli
