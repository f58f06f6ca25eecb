// fmsim run: a workload file on a cluster.
#include <memory>

#include "ask_file.hpp"
#include "commands.hpp"
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
    double coalesce = 0;
    Output output;
};

// The same without folding, and with bytes that hardly differ.
FoldingReport::Check checked(const FileQuestion& question, FileScenario asked) {
    asked.scenario.predict.stretch = 1 + 1e-12;
    const SimTime perturbed = predict_file(question, asked).end;
    asked.scenario.predict.stretch = 1;
    asked.scenario.predict.fold = false;
    return {predict_file(question, asked).end, perturbed};
}

int report_folding(const Options& options, const FileQuestion& question) {
    const FileScenario asked = scenario_of(question, options.scenario);
    const Prediction prediction = predict_file(question, asked);
    FoldingReport report{.cluster = asked.scenario.topology.cluster.name,
                         .folding = prediction.folding,
                         .end = prediction.end,
                         .check = {},
                         .provenance = provenance(asked.scenario, question.text, {})};
    if (options.check) report.check = checked(question, asked);
    emit(options.output, write(report, options.output.format));
    return !options.check || trust_of(report).holds() ? kGood : kThreshold;
}

int print_scenario(const Options& options, const std::string& text) {
    Workload work = parse_workload(text, options.workload);
    const ScenarioOptions words = completed(options.scenario, work);
    work.scenario = words_of(words);
    add_environment(work, words);
    emit(options.output, to_workload_file(work));
    return kGood;
}

int run_workload(const Options& options) {
    const FileQuestion question{read_file(options.workload), options.workload, !options.no_fold, options.coalesce};
    if (is_training_plans(question.text))
        return run_training_plans(question.text, options.workload, options.scenario, !options.no_memo, options.output);
    const bool training = training_plan(question.text, options.workload).has_value();
    if (training && options.coalesce > 0)
        throw InputError(
            {{.file = "--coalesce",
              .line = 0,
              .pointer = "",
              .expected = "expected a workload file: the collectives of a training plan have no unequal ends",
              .found = ""}});
    if (options.print_scenario && !training) return print_scenario(options, question.text);
    if ((options.print_folding || options.check) && !training) return report_folding(options, question);
    const Ask ask = [&](const ScenarioOptions& words) { return ask_file(question, words); };
    if (!options.scenario.what_if.empty()) return compare_what_if(ask, options.scenario, options.output);
    ScenarioOptions words = options.scenario;
    words.traced = options.output.format == Format::json;
    emit(options.output, ask(words).text(options.output.format));
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
    command
        .add_option(
            "--coalesce", options->coalesce,
            "let what has at most this part of its work left, such as 0.001, end with what ends: faster where "
            "many messages of unequal sizes end one by one; a warning says what was left out (default 0: exact)")
        ->check(CLI::Range(0.0, 0.5))
        ->option_text("PART");
    command.add_flag("--print-folding", options->print_folding,
                     "show which ranks and domains behave alike, and what tells the others apart");
    command.add_flag("--check", options->check,
                     "compare with --no-fold and with bytes 1e-12 more, and say whether the time holds to 1e-9");
    add_options(command, options->output);
    when_chosen(command, options, run_workload, action);
}

}  // namespace fmsim::cli
