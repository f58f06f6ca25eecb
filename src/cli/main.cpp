// The program: which command, and what its end means to the shell.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "commands.hpp"
#include "fmsim/base.hpp"
#include "output.hpp"
#include "version.hpp"

namespace fmsim::cli {
namespace {

constexpr const char* kAbout =
    "Predicts how long collectives and training jobs take on a GPU cluster, and what bounds them.";
constexpr const char* kExamples =
    "Examples:\n"
    "  fmsim collective all_reduce --cluster p5.48xlarge:2 --sizes 8..16GiB\n"
    "  fmsim run workloads/all_reduce_1gib.json --cluster p5.48xlarge:4 --format json\n"
    "\n"
    "Exit codes: 0 good, 1 threshold or regression, 2 usage, 3 bad input, 4 infeasible,\n"
    "5 limit reached, 70 internal.";

// A wrong word of the command line is usage, a wrong file is bad input.
int refused(const InputError& error) {
    bool usage = true;
    for (const Problem& problem : error.problems) {
        spdlog::error("{}", to_text(problem));
        usage = usage && (problem.file.empty() || problem.file.starts_with("--"));
    }
    return usage ? kUsage : kBadInput;
}

int run_action(const Action& action) {
    try {
        return action();
    } catch (const InputError& error) {
        return refused(error);
    } catch (const Infeasible& error) {
        spdlog::error("{}", error.what());
        return kInfeasible;
    } catch (const LimitReached& error) {
        spdlog::error("{}", error.what());
        return kLimit;
    } catch (const std::bad_alloc&) {
        spdlog::error("out of memory");
        return kLimit;
    } catch (const std::exception& error) {
        spdlog::error("internal error: {}; please report it with the command line", error.what());
        return kInternal;
    }
}

// CLI11 calls a command that it does not know a missing one.
std::optional<std::string> wrong_command(const CLI::App& program, int argc, char** argv) {
    if (argc < 2 || *argv[1] == '-' || program.get_parent() != nullptr) return std::nullopt;
    std::vector<std::string> names;
    for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
    if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return std::nullopt;
    const auto meant = nearest(argv[1], names);
    return fmt::format("no such command: {}{}", printable(argv[1]),
                       meant ? fmt::format("; did you mean \"{}\"?", *meant) : "");
}

int run_program(int argc, char** argv) {
    CLI::App program(kAbout, "fmsim");
    program.footer(kExamples);
    program.set_version_flag("--version", std::string("fmsim ") + kVersion);
    program.require_subcommand(1);
    program.failure_message([argc, argv](const CLI::App* app, const CLI::Error& error) {
        const auto wrong = wrong_command(*app, argc, argv);
        return fmt::format("fmsim: error: {}\nSee: {} --help\n", wrong ? *wrong : error.what(), app->get_name());
    });
    Action action;
    add_collective(program, action);
    add_run(program, action);
    add_compare(program, action);
    add_check(program, action);
    add_explain(program, action);
    add_explain_choice(program, action);
    add_catalog(program, action);
    add_topology(program, action);
    add_schema(program, action);
    add_solve(program, action);
    add_validate(program, action);
    add_calibrate(program, action);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (program.exit(error) != 0) return kUsage;
        return std::cout.flush() ? kGood : kBadInput;  // the help of a full disk is no help
    }
    return run_action(action);
}

}  // namespace
}  // namespace fmsim::cli

int main(int argc, char** argv) {
    try {
        return fmsim::cli::run_program(argc, argv);
    } catch (...) {  // from setting up the command line, before any command ran
        std::fputs("fmsim: error: internal error\n", stderr);
        return fmsim::cli::kInternal;
    }
}
