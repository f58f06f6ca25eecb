// fmsim schema: the JSON schemas of the files it reads, for editors and checkers.
#include <memory>

#include <CLI/App.hpp>

#include "commands.hpp"
#include "fmsim/formats.hpp"
#include "output.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string name;
    Output output;
};

int show(const Options& options) {
    std::string text;
    if (options.name.empty())
        for (const std::string& name : schema_names()) text += name + "\n";
    else
        text = schema_text(options.name);
    emit(options.output, text);
    return kGood;
}

}  // namespace

void add_schema(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("schema", "Print a file format's JSON schema, or list them");
    const auto options = std::make_shared<Options>();
    command.add_option("name", options->name, "a schema, such as workload or cluster")->option_text("NAME");
    command.add_option("-o,--output", options->output.file, "write the schema to FILE instead of stdout")
        ->option_text("FILE");
    when_chosen(command, options, show, action);
}

}  // namespace fmsim::cli
