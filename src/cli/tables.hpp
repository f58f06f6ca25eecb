// Measured tables of a folder, and predictions for all of them on all processors.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/report.hpp"
#include "fmsim/training.hpp"

namespace fmsim::cli {

// Which tables, as the words of a command say.
struct TablesOptions {
    std::string folder;
    std::string cluster, collective;  // of logs that do not name them
};
void add_options(CLI::App& command, TablesOptions& options);

struct Tables {
    std::vector<Measurements> tables;
    std::vector<MeasuredStep> steps;  // of training, of files that have such
    std::string text;                 // of all files, for the hash of the inputs
};
// The files NAME.json (tables, training steps, or what nccl-tests wrote with -J) and NAME.log or NAME.txt as it printed
// them, in the order of their names; or one file. Logs take cluster and collective from here where they have none.
Tables read_tables(const TablesOptions& options);
// What predictions of them rest on; `more` is added to what is assumed of all.
Provenance provenance(const Tables& tables, const Catalogue& catalogue, std::vector<std::string> more);

// Tables do not depend on each other, and each has its place in the result, so threads change nothing but the time.
void validate_all(const std::vector<Measurements>& tables, const Catalogue& catalogue,
                  std::vector<std::vector<ValidatedRow>>& rows);

}  // namespace fmsim::cli
