// fmsim catalog: the machines it knows, and where their values come from.
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
    const Catalogue catalogue = Catalogue::shipped();
    if (!options.name.empty()) {
        emit(options.output, write(catalogue.sources(options.name), options.output.format));
        return kGood;
    }
    std::vector<DomainType> machines;
    for (const std::string& name : catalogue.names()) machines.push_back(catalogue.domain(name));
    emit(options.output, write(machines, options.output.format));
    return kGood;
}

}  // namespace

void add_catalog(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("catalog", "List the machines, or one's values with their sources");
    const auto options = std::make_shared<Options>();
    command.add_option("name", options->name, "a machine, such as p5en.48xlarge or hgx-h100-8x400")
        ->option_text("NAME");
    add_options(command, options->output);
    when_chosen(command, options, show, action);
}

}  // namespace fmsim::cli
