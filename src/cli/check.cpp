// fmsim check: a suite beside its stored baselines, as the gate of a pipeline.
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <regex>

#include <fmt/format.h>

#include "check_run.hpp"
#include "commands.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string suite;
    std::vector<std::string> what_if;
    GateFormat format = GateFormat::text;
    std::string today;
    bool update = false;
    Output output;
};

// Allowances end on a day; nothing else here looks at a clock. UTC, so that all machines agree.
std::string today_of(const Options& options) {
    if (!options.today.empty()) {
        static const std::regex kDay("[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])");
        if (std::regex_match(options.today, kDay)) return options.today;
        throw InputError({{"--today", 0, "", "expected a day, such as 2026-11-30", options.today}});
    }
    const auto days = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    const std::chrono::year_month_day day{days};
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                       static_cast<unsigned>(day.day()));
}

void refuse_without_baseline(const GateSuite& suite) {
    std::vector<Problem> problems;
    for (const GateScenario& scenario : suite.scenarios)
        for (const GateMetric& metric : scenario.metrics)
            if (!metric.baseline)
                problems.push_back({suite.file, metric.line, scenario.pointer + "/metrics/" + metric.name,
                                    "expected a baseline; fmsim check --update-baseline stores one", ""});
    if (!problems.empty()) throw InputError(std::move(problems));
}

int update_baseline(const Options& options, const std::string& text, const GateSuite& suite, const SuiteRun& run) {
    constexpr double kSame = 1e-12;
    std::vector<BaselineMove> moves;
    for (std::size_t i = 0; i < suite.scenarios.size(); ++i) {
        if (!run.measured[i].failed.empty()) throw Infeasible(suite.scenarios[i].name + ": " + run.measured[i].failed);
        for (const GateMetric& metric : suite.scenarios[i].metrics) {
            const auto value = run.updates[i].values.find(metric.name);
            if (value == run.updates[i].values.end()) continue;
            if (metric.baseline && std::abs(*metric.baseline - value->second) <= kSame * std::abs(value->second))
                continue;
            moves.push_back({suite.scenarios[i].name, metric.name, metric.baseline, value->second});
        }
    }
    const std::string updated = updated_suite(text, options.suite, run.updates, run.facts);
    if (updated != text) {
        Output file;
        file.file = options.suite;
        emit(file, updated);
    }
    emit(options.output, write(moves, options.suite));
    return kGood;
}

int run_check(const Options& options) {
    const std::string today = today_of(options);
    const std::vector<Change> changes = parse_changes(options.what_if);
    if (options.update && (!changes.empty() || options.suite == "-"))
        throw InputError({{"--update-baseline", 0, "", "expected a file, and no --what-if beside it", ""}});
    const std::string text = read_file(options.suite);
    const GateSuite suite = parse_suite(text, options.suite);
    if (!options.update) refuse_without_baseline(suite);
    const ScenarioOptions base;
    const SuiteRun run = run_suite(suite, changes, base);
    if (options.update) return update_baseline(options, text, suite, run);
    GateReport report{.name = suite.name,
                      .file = suite.file,
                      .today = today,
                      .changes = options.what_if,
                      .scenarios = suite.scenarios.size(),
                      .judgements = judge(suite, run.measured, today),
                      .provenance = plain_provenance(base, text)};
    report.provenance.assumptions = {"predictions are exact: the same suite, program and data give the same figures"};
    emit(options.output, write(report, options.format));
    return regressed(report.judgements) ? kThreshold : kGood;
}

}  // namespace

void add_check(CLI::App& program, Action& action) {
    static const std::map<std::string, GateFormat> kFormats{
        {"text", GateFormat::text},   {"json", GateFormat::json},     {"junit", GateFormat::junit},
        {"sarif", GateFormat::sarif}, {"github", GateFormat::github}, {"md", GateFormat::md}};
    CLI::App& command =
        *program.add_subcommand("check", "Predict a suite beside its stored baselines; 1 when something got worse");
    const auto options = std::make_shared<Options>();
    command.add_option("suite", options->suite, "a JSON file of scenarios, metrics and baselines")
        ->required()
        ->option_text("SUITE");
    command
        .add_option("--what-if", options->what_if,
                    "with a change, such as efa.bandwidth*0.9; can be given more than once, all together")
        ->allow_extra_args(false)
        ->option_text("CHANGE");
    command
        .add_option("--format", options->format,
                    "text (default), json, junit, sarif, github (annotations) or md (a summary page)")
        ->transform(CLI::CheckedTransformer(kFormats))
        ->option_text("FORMAT");
    command.add_option("--today", options->today, "the day that allowances are held against (default: this one, UTC)")
        ->option_text("YYYY-MM-DD");
    command.add_flag("--update-baseline", options->update,
                     "store what is predicted now in SUITE, and show what changes");
    add_file_options(command, options->output);
    when_chosen(command, options, run_check, action);
}

}  // namespace fmsim::cli
