// fmsim compare: two runs side by side, saved or made now.
#include <memory>

#include <fmt/format.h>

#include "ask.hpp"
#include "commands.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string before, after;
    ScenarioOptions scenario;
    Output output;
};

struct Side {
    Outcome outcome;
    std::string text;  // for the hash of the inputs
    std::vector<std::string> assumptions;
};

// "CLUSTER+FILE", where the file is not one whose name has a '+'.
std::pair<std::string, std::string> split(const std::string& word) {
    const auto plus = word.find('+');
    if (plus == std::string::npos) return {"", word};
    return {word.substr(0, plus), word.substr(plus + 1)};
}

Side side_of(const std::string& word, const ScenarioOptions& options) {
    const auto [cluster, file] = split(word);
    const std::string text = read_file(file);
    if (is_outcome(text)) {
        Outcome outcome = parse_outcome(text, file);
        outcome.name = fmt::format("{}: {}", printable(file), printable(outcome.name));
        return {std::move(outcome), text, {}};
    }
    ScenarioOptions words = options;
    if (!cluster.empty()) words.cluster = cluster;
    const Answer answer = ask_file({text, file}, words);
    Outcome outcome = answer.outcome;
    outcome.name = fmt::format("{} on {}", printable(file), printable(outcome.name));
    return {std::move(outcome), text + words.cluster, answer.provenance.assumptions};
}

int run_compare(const Options& options) {
    const Side before = side_of(options.before, options.scenario);
    const Side after = side_of(options.after, options.scenario);
    ComparisonReport report{.what = fmt::format("{} beside {}", printable(options.before), printable(options.after)),
                            .comparison = compare(before.outcome, after.outcome),
                            .notes = {},
                            .policies = {},
                            .policy_times = {},
                            .provenance = {}};
    report.provenance = plain_provenance(options.scenario, before.text + after.text);
    report.provenance.assumptions = before.assumptions.empty() ? after.assumptions : before.assumptions;
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_compare(CLI::App& program, Action& action) {
    CLI::App& command =
        *program.add_subcommand("compare", "Lay two runs side by side: what moved, by how much and why");
    const auto options = std::make_shared<Options>();
    const char* const what =
        "what run or collective printed with --format json, a workload, a training plan, or CLUSTER+WORKLOAD";
    command.add_option("before", options->before, what)->required()->option_text("A");
    command.add_option("after", options->after, "the same")->required()->option_text("B");
    command.add_option("--cluster", options->scenario.cluster, "of a workload that names none")->option_text("CLUSTER");
    add_options(command, options->output);
    when_chosen(command, options, run_compare, action);
}

}  // namespace fmsim::cli
