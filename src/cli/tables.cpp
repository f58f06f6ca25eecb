#include "tables.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "side_by_side.hpp"
#include "version.hpp"

namespace fmsim::cli {
namespace {

bool is_log(const std::string& file) { return file.ends_with(".log") || file.ends_with(".txt"); }

std::vector<std::string> files_of(const std::string& folder) {
    const auto refuse = [&](const char* expected) {
        throw InputError({{.file = folder, .line = 0, .pointer = "", .expected = expected, .found = ""}});
    };
    std::error_code error;
    std::vector<std::string> files;
    if (std::filesystem::is_regular_file(folder, error)) return {folder};
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (const std::string file = entry->path().string(); file.ends_with(".json") || is_log(file))
            files.push_back(file);
    if (error) refuse("expected a folder that can be read");
    if (files.empty()) refuse("expected a folder with tables (*.json) or logs of nccl-tests (*.log, *.txt)");
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<ValidatedRow> validated(const Measurements& table, const Catalogue& catalogue, const Nccl& nccl) {
    if (table.cluster.empty()) return not_predicted(table, "the catalogue has no such machine");
    try {
        const Topology topology = build_topology(catalogue.cluster(table.cluster));
        if (is_of_experts(table)) return validate_experts(table, topology, nccl, catalogue.dispatchers());
        return validate(table, topology, nccl);
    } catch (const InputError& error) {
        return not_predicted(table, to_text(error.problems.front()));
    }
}

}  // namespace

void add_options(CLI::App& command, TablesOptions& options) {
    command
        .add_option("tables", options.folder,
                    "a folder of measured tables (schemas/measurements.json), logs of nccl-tests and measured training "
                    "steps, or "
                    "one file")
        ->required()
        ->option_text("DIR");
    command.add_option("--cluster", options.cluster, "of the logs")->option_text("CLUSTER");
    command.add_option("--collective", options.collective, "of logs that do not name it")->option_text("NAME");
}

Provenance provenance(const Tables& tables, const Catalogue& catalogue, std::vector<std::string> more) {
    more.insert(more.begin(), {"stream fidelity", "nothing else ran on the cluster"});
    return {.fmsim_version = kVersion,
            .constants_hash = catalogue.hash(),
            .inputs_hash = hash_of(tables.text),
            .assumptions = std::move(more),
            .warnings = {}};
}

Tables read_tables(const TablesOptions& options) {
    Tables read;
    for (const std::string& file : files_of(options.folder)) {
        const std::string text = read_file(file);
        read.text += text;
        if (!is_log(file) && is_expert_rows(text)) {
            for (Measurements& table : parse_expert_rows(text, file)) read.tables.push_back(std::move(table));
            continue;
        }
        if (!is_log(file) && is_measured_steps(text)) {
            std::vector<MeasuredStep> steps = parse_measured_steps(text, file);
            std::move(steps.begin(), steps.end(), std::back_inserter(read.steps));
            continue;
        }
        const bool as_json = !is_log(file) && is_nccl_tests_json(text);
        Measurements table = is_log(file) ? parse_nccl_tests(text, file)
                             : as_json    ? parse_nccl_tests_json(text, file)
                                          : parse_measurements(text, file);
        if ((is_log(file) || as_json) && table.cluster.empty()) table.cluster = options.cluster;
        if (table.collective.empty()) table.collective = options.collective;
        read.tables.push_back(std::move(table));
    }
    return read;
}

void validate_all(const std::vector<Measurements>& tables, const Catalogue& catalogue,
                  std::vector<std::vector<ValidatedRow>>& rows) {
    const Nccl nccl = catalogue.nccl();
    rows.resize(tables.size());
    side_by_side(tables.size(), [&](std::size_t i) { rows[i] = validated(tables[i], catalogue, nccl); });
}

}  // namespace fmsim::cli
