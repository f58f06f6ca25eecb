// fmsim validate: every published table of a folder beside what the model says.
#include <iterator>
#include <memory>

#include "commands.hpp"
#include "fmsim/report.hpp"
#include "tables.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    TablesOptions tables;
    std::string page;  // a file of documentation to write
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

int run_validate(const Options& options) {
    const Tables tables = read_tables(options.tables);
    const Catalogue catalogue = Catalogue::shipped();
    std::vector<std::vector<ValidatedRow>> rows;
    validate_all(tables.tables, catalogue, rows);
    ValidationReport report{.tables = tables.tables.size()};
    for (std::vector<ValidatedRow>& of_table : rows)
        std::move(of_table.begin(), of_table.end(), std::back_inserter(report.rows));
    report.score = score(report.rows);
    report.provenance = provenance(tables, catalogue, {"NCCL 2.30.7 chose, but for transfers that were LL before 2.29"});
    if (!options.page.empty()) write_page(report, options);
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_validate(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("validate", "Predictions beside published tables, with their errors");
    const auto options = std::make_shared<Options>();
    add_options(command, options->tables);
    command.add_option("--page", options->page, "also write the errors as a page, FILE.md and FILE.svg")
        ->option_text("FILE.md");
    add_options(command, options->output);
    when_chosen(command, options, run_validate, action);
}

}  // namespace fmsim::cli
