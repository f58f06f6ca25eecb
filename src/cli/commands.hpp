// One function a command: adds it to the program, and when it is chosen runs it and returns the exit code.
#pragma once

#include <functional>
#include <memory>

#include <CLI/App.hpp>

#include "output.hpp"

namespace fmsim::cli {

enum ExitCode : int {
    kGood = 0,
    kThreshold = 1,   // a threshold crossed, a regression
    kUsage = 2,       // the command line makes no sense
    kBadInput = 3,    // a file makes no sense
    kInfeasible = 4,  // sound, but it cannot be done: an activity that never ends
    kLimit = 5,       // beyond what one run can represent
    kInternal = 70,   // our fault
};

// What the chosen command does; set while the command line is parsed.
using Action = std::function<int()>;

// What a command does when it is chosen: sets up stderr as its options say, then `what`.
template <class Options>
void when_chosen(CLI::App& command, std::shared_ptr<Options> options, int (*what)(const Options&), Action& action) {
    command.callback([options, what, &action] {
        action = [options, what] {
            start_notes(options->output.quiet);
            return what(*options);
        };
    });
}

void add_collective(CLI::App& program, Action& action);
void add_run(CLI::App& program, Action& action);
void add_compare(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_explain(CLI::App& program, Action& action);
void add_explain_choice(CLI::App& program, Action& action);
void add_catalog(CLI::App& program, Action& action);
void add_topology(CLI::App& program, Action& action);
// Below topology.
void add_topology_export(CLI::App& topology, Action& action);
void add_topology_import(CLI::App& topology, Action& action);
void add_schema(CLI::App& program, Action& action);
void add_solve(CLI::App& program, Action& action);
void add_calibrate(CLI::App& program, Action& action);
void add_validate(CLI::App& program, Action& action);

}  // namespace fmsim::cli
