// fmsim validate: every published table of a folder beside what the model says.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "commands.hpp"
#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/report.hpp"
#include "scenario.hpp"
#include "version.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string folder;
    Output output;
};

std::vector<std::string> tables_of(const std::string& folder) {
    const auto refuse = [&](const char* expected) {
        throw InputError({{.file = folder, .line = 0, .pointer = "", .expected = expected, .found = ""}});
    };
    std::error_code error;
    std::vector<std::string> files;
    if (std::filesystem::is_regular_file(folder, error)) return {folder};
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().extension() == ".json") files.push_back(entry->path().string());
    if (error) refuse("expected a folder that can be read");
    if (files.empty()) refuse("expected a folder with tables (*.json)");
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<ValidatedRow> validated(const Measurements& table, const Catalogue& catalogue, const Nccl& nccl) {
    if (table.cluster.empty()) return not_predicted(table, "the catalogue has no such machine");
    try {
        return validate(table, build_topology(catalogue.cluster(table.cluster)), nccl);
    } catch (const InputError& error) {
        return not_predicted(table, to_text(error.problems.front()));
    }
}

// Tables do not depend on each other, and each has its place in the result, so threads change nothing but the time.
std::vector<std::vector<ValidatedRow>> validated(const std::vector<Measurements>& tables) {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    std::vector<std::vector<ValidatedRow>> rows(tables.size());
    std::vector<std::exception_ptr> failed(tables.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < tables.size(); i = next++) try {
                rows[i] = validated(tables[i], catalogue, nccl);
            } catch (...) {
                failed[i] = std::current_exception();
            }
    };
    std::vector<std::thread> threads(std::max(1u, std::thread::hardware_concurrency()) - 1);
    for (std::thread& thread : threads) thread = std::thread(work);
    work();
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failed)
        if (failure) std::rethrow_exception(failure);
    return rows;
}

int run_validate(const Options& options) {
    std::vector<Measurements> tables;
    std::string inputs;
    for (const std::string& file : tables_of(options.folder)) {
        const std::string text = read_file(file);
        tables.push_back(parse_measurements(text, file));
        inputs += text;
    }
    ValidationReport report{.tables = tables.size()};
    for (std::vector<ValidatedRow>& rows : validated(tables))
        std::move(rows.begin(), rows.end(), std::back_inserter(report.rows));
    report.score = score(report.rows);
    report.provenance = {.fmsim_version = kVersion,
                         .constants_hash = Catalogue::shipped().hash(),
                         .inputs_hash = hash_of(inputs),
                         .assumptions = {"stream fidelity", "nothing else ran on the cluster",
                                         "NCCL 2.30.7 chose, whatever version ran"},
                         .warnings = {}};
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_validate(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("validate", "Predictions beside published tables, with their errors");
    const auto options = std::make_shared<Options>();
    command.add_option("tables", options->folder, "a folder of measured tables (schemas/measurements.json), or one")
        ->required()
        ->option_text("DIR");
    add_options(command, options->output);
    when_chosen(command, options, run_validate, action);
}

}  // namespace fmsim::cli
