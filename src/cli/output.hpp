// Where results and notes go: results on stdout or into -o's file, notes on stderr.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "fmsim/report.hpp"

namespace fmsim::cli {

struct Output {
    Format format = Format::text;
    std::string file;  // empty: stdout
    bool quiet = false;
};

// --format, --output and --quiet.
void add_options(CLI::App& command, Output& output);
// --output and --quiet, of a command with formats of its own.
void add_file_options(CLI::App& command, Output& output);

// Sets up stderr: colour only on a terminal and without NO_COLOR, only errors when quiet.
void start_notes(bool quiet);

// Writes a file whole or not at all: a result that could not be written does not destroy the one before.
void emit(const Output& output, const std::string& result);

}  // namespace fmsim::cli
