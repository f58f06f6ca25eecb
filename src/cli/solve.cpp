// fmsim solve: bare systems of flows on links, for those who want to check the engine.
#include <memory>

#include <spdlog/spdlog.h>

#include "commands.hpp"
#include "fmsim/formats.hpp"
#include "output.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string system;
    Output output;
};

int solve(const Options& options) {
    std::vector<SolvedCase> solved;
    for (const SolveCase& system : parse_solve(read_file(options.system), options.system)) {
        const Timeline timeline = run(system.system);
        if (!timeline.unfinished.empty()) {
            spdlog::error("case {}: flow {} never ends: a link on its way has capacity 0", printable(system.id),
                          printable(system.flows[timeline.unfinished.front().value]));
            return kInfeasible;
        }
        SolvedCase row{.id = system.id, .flows = {}};
        for (std::uint32_t i = 0; i < system.flows.size(); ++i)
            row.flows.push_back({system.flows[i], timeline.ended[ActivityId{i}]});
        solved.push_back(std::move(row));
    }
    emit(options.output, write(solved, options.output.format));
    return kGood;
}

}  // namespace

void add_solve(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("solve", "Finish times of bare flows on links, fairly shared");
    const auto options = std::make_shared<Options>();
    command.add_option("system", options->system, "a JSON file with cases of links and flows; - is standard input")
        ->required()
        ->option_text("FILE");
    add_options(command, options->output);
    when_chosen(command, options, solve, action);
}

}  // namespace fmsim::cli
