// fmsim validate: every published table and training step of a folder beside what the model says.
#include <iterator>
#include <memory>

#include "commands.hpp"
#include "fmsim/report.hpp"
#include "steps.hpp"
#include "tables.hpp"
#include "training.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    TablesOptions tables;
    std::string page;          // a file of documentation to write
    std::string out_of_reach;  // why some tables are
    std::string unseen;        // what calibrate printed
    bool leave_out = false;
    bool pairs = false;
    Output output;
};

void write_page(const ValidationReport& report, const Options& options) {
    const std::string picture = options.page.substr(0, options.page.rfind('.')) + ".svg";
    Output to = options.output;
    to.file = options.page;
    emit(to, to_markdown(report, picture.substr(picture.rfind('/') + 1)));
    to.file = picture;
    emit(to, to_svg(report.rows));
}

void leave_out(const std::vector<Measurements>& tables, const Catalogue& catalogue, ValidationReport& report) {
    std::vector<ExpertTable> of_experts;
    for (const Measurements& table : tables)
        if (is_of_experts(table) && !table.cluster.empty())
            of_experts.push_back({&table, build_topology(catalogue.cluster(table.cluster))});
    const std::vector<Dispatcher> dispatchers = catalogue.dispatchers();
    report.experts_without_source = leave_out_experts(of_experts, dispatchers, LeaveOut::source);
    report.experts_without_table = leave_out_experts(of_experts, dispatchers, LeaveOut::table);
}

int run_validate(const Options& options) {
    const Tables tables = read_tables(options.tables);
    const Catalogue catalogue = Catalogue::shipped();
    std::vector<std::vector<ValidatedRow>> rows;
    validate_all(tables.tables, catalogue, rows);
    ValidationReport report{.tables = tables.tables.size()};
    for (std::vector<ValidatedRow>& of_table : rows)
        std::move(of_table.begin(), of_table.end(), std::back_inserter(report.rows));
    report.score = score(report.rows);
    report.experts = score_experts(report.rows);
    if (report.experts && options.leave_out) leave_out(tables.tables, catalogue, report);
    const std::vector<ComparedStep> steps = compare_all(tables.steps, catalogue);
    report.provenance =
        provenance(tables, catalogue, {"NCCL 2.30.7 chose, but for transfers that were LL before 2.29"});
    if (!options.out_of_reach.empty())
        report.out_of_reach =
            out_of_reach(parse_out_of_reach(read_file(options.out_of_reach), options.out_of_reach), report.rows);
    if (!options.unseen.empty())
        report.unseen = parse_unseen(read_file(options.unseen), options.unseen, report.provenance.constants_hash,
                                     report.provenance.inputs_hash);
    if (!options.page.empty()) write_page(report, options);
    if (steps.empty()) {
        emit(options.output, write(report, options.output.format));
        return kGood;
    }
    TrainingValidation training{.rows = &steps, .pairs = options.pairs, .provenance = report.provenance};
    if (tables.tables.empty()) {
        const std::vector<std::string> more = training_provenance("", catalogue).assumptions;
        training.provenance.assumptions.insert(training.provenance.assumptions.end(), more.begin(), more.end());
        emit(options.output, write(training, options.output.format));
    } else {
        emit(options.output, write(report, training, options.output.format));
    }
    return kGood;
}

}  // namespace

void add_validate(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand(
        "validate", "Predictions beside published tables and training steps, with their errors");
    const auto options = std::make_shared<Options>();
    add_options(command, options->tables);
    command.add_option("--page", options->page, "also write the errors as a page, FILE.md and FILE.svg")
        ->option_text("FILE.md");
    command
        .add_option("--out-of-reach", options->out_of_reach,
                    "on the page, the tables that the model cannot reach, and why (schemas/out_of_reach.json)")
        ->option_text("FILE");
    command
        .add_option("--calibration", options->unseen,
                    "the JSON that `calibrate` printed of the same tables: errors of each source left out, beside the "
                    "others")
        ->option_text("FILE");
    command.add_flag("--leave-out", options->leave_out,
                     "also fit the dispatchers of experts without each source, and each table, and predict those");
    command.add_flag("--pairs", options->pairs,
                     "of training steps: rows of a source that differ in one thing, their order and ratio");
    add_options(command, options->output);
    when_chosen(command, options, run_validate, action);
}

}  // namespace fmsim::cli
