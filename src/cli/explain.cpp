// fmsim explain: why a run takes what it takes, from the step down to the link.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "fmsim/analysis.hpp"
#include "loaded_run.hpp"
#include "output.hpp"
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

// `all_reduce --size 1GiB` as the workload it is short for.
LoadedRun short_run(const Options& options) {
    const Collective collective = parse_collective(options.run);
    if (options.size.empty())
        throw InputError(
            {{"--size", 0, "", fmt::format("expected a size for {}, such as --size 1GiB", options.run), ""}});
    const auto sizes = parse_sizes(options.size, 2);
    if (sizes.size() != 1) throw InputError({{"--size", 0, "", "expected one size", options.size}});
    LoadedRun run{.file = "",
                  .text = fmt::format("{} {}\n", options.run, sizes.front().count),
                  .work = {},
                  .words = options.scenario,
                  .scenario = {},
                  .placements = {}};
    run.words = completed(options.scenario, run.work);
    run.work = in_turn({{std::string(name(collective)), collective, sizes.front()}});
    run.scenario = make_scenario(run.words);
    run.placements = {placement_of(run.scenario.topology, run.words)};
    return run;
}

LoadedRun file_run(const Options& options, std::string text) {
    if (!options.size.empty())
        throw InputError(
            {{"--size", 0, "", "expected a size for a collective only; the file has its own", options.size}});
    return load_run(options.run, std::move(text), options.scenario);
}

// The alternatives of the collective that is longest on the path.
void add_alternatives(const LoadedRun& run, const Prediction& prediction, const Reasons& reasons, WhyNode& tree) {
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

int explain_run(const Options& options) {
    const bool in_words = is_collective(options.run);
    std::string text;
    if (!in_words) {
        text = read_file(options.run);
        if (is_training(text)) return explain_training(text, options.run, options.id, options.scenario, options.output);
    }
    const LoadedRun run = in_words ? short_run(options) : file_run(options, std::move(text));
    if (run.scenario.predict.fidelity != Fidelity::stream)
        throw InputError({{"--fidelity", 0, "", "expected stream, which has reasons", "chunk"}});
    const Topology& topology = run.scenario.topology;
    const Prediction prediction = predict_run(run);
    const Reasons reasons = reasons_of(topology, prediction, options.spans);
    WhyReport report{.title = fmt::format("{}, {} GPUs", topology.cluster.name, together(run.placements).size()),
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
    report.provenance = provenance(run.scenario, run.text, calls);
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void check_focus(const WhyReport& report) {
    if (report.focus.empty() || find(report.tree, report.focus) != nullptr) return;
    throw InputError(
        {{"", 0, "", "ID: expected a number or a name that `fmsim explain` shows without ID", report.focus}});
}

std::vector<SourcedValue> sources_of(const Cluster& cluster) {
    std::vector<SourcedValue> all;
    const Catalogue catalogue = Catalogue::shipped();
    for (const DomainBlock& block : cluster.blocks) {
        try {
            const auto its = catalogue.sources(block.type.name);
            all.insert(all.end(), its.begin(), its.end());
        } catch (const InputError&) {
            // A machine of the user's own: his file is its source.
        }
    }
    return all;
}

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
