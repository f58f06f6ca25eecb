// fmsim calibrate: constants of the catalogue fitted to measured tables, those published or a user's own.
//
// Fitted are the constants below of the files that the tables' machines use. Each row counts so that every operation of
// a machine in each band of sizes has the same weight (docs/accuracy.md).
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "fmsim/report.hpp"
#include "tables.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    TablesOptions tables;
    int rounds = 8;
    Output output;
};

// A constant that is half as large again counts as one row that is 10 % off.
constexpr double kPrior = 0.25;

struct Tunable {
    const char* folder;
    const char* pointer;
    double least_factor, most_factor;  // how far from the catalogue's value it may go
};
constexpr Tunable kTunables[]{{"channels/", "/launch", 0.3, 3},           {"channels/", "/rate/LL", 0.3, 3},
                              {"channels/", "/rate/LL128", 0.3, 3},       {"channels/", "/rate/Simple", 0.5, 2},
                              {"channels/", "/unit_cost/Simple", 0.2, 5}, {"links/", "/ring_efficiency", 0.7, 1.2},
                              {"links/", "/hop_latency/LL", 0.3, 3},      {"links/", "/hop_latency/LL128", 0.3, 3},
                              {"links/", "/hop_latency/Simple", 0.3, 3},  {"links/", "/switch_efficiency", 0.7, 1.3},
                              {"links/", "/switch_chunk_cost", 0.2, 5},   {"nics/", "/carries", 0.7, 1.02},
                              {"nics/", "/hop_latency/LL", 0.2, 5},       {"nics/", "/hop_latency/LL128", 0.2, 5},
                              {"nics/", "/hop_latency/Simple", 0.2, 5},   {"nics/", "/message_cost", 0.2, 5}};

struct Constant {
    std::string file, pointer, unit;
    double value{};
    FitBounds bounds;
};

// "24.2 GB/s" or 0.82.
Constant constant_of(const std::string& file, const Tunable& tunable, const nlohmann::json& leaf) {
    Constant constant{.file = file, .pointer = tunable.pointer};
    const nlohmann::json& value = leaf.at("value");
    if (value.is_string()) {
        const auto text = value.get<std::string>();
        std::size_t end = 0;
        constant.value = std::stod(text, &end);
        constant.unit = text.substr(text.find_first_not_of(' ', end));
    } else {
        constant.value = value.get<double>();
    }
    constant.bounds = {constant.value * tunable.least_factor, constant.value * tunable.most_factor};
    return constant;
}

// The catalogue's files that a machine's predictions rest on.
std::set<std::string> files_of(const Catalogue& catalogue, const Measurements& table) {
    std::set<std::string> files;
    const DomainType type = catalogue.cluster(table.cluster).blocks.front().type;
    const std::string gpu = fmt::format("gpus/{}.json", type.instance.gpu.name);
    files.insert(gpu);
    const auto channels = nlohmann::json::parse(catalogue.files().at(gpu))["channels"]["value"].get<std::string>();
    files.insert(fmt::format("channels/{}.json", channels));
    if (type.instance.nvlink) files.insert(fmt::format("links/{}.json", type.instance.nvlink->name));
    if (type.instance.nic) files.insert(fmt::format("nics/{}.json", type.instance.nic->name));
    return files;
}

class Calibration {
public:
    Calibration(std::vector<Measurements> tables, const Catalogue& catalogue)
        : tables_(std::move(tables)), catalogue_(catalogue) {
        std::set<std::string> used;
        for (const Measurements& table : tables_) {
            depends_.push_back(files_of(catalogue, table));
            used.insert(depends_.back().begin(), depends_.back().end());
        }
        for (const std::string& file : used) add_constants(file);
        validate_all(tables_, catalogue_, {}, rows_);
        const auto all = flat(rows_);
        weights_ = fit_weights(all);
        std::map<std::string, std::size_t> sources;
        for (const ValidatedRow& row : all) sources.emplace(row.source, 0);
        for (auto& [source, number] : sources) {
            number = sources_.size();
            sources_.push_back(source);
        }
        for (const ValidatedRow& row : all) groups_.push_back(sources.at(row.source));
    }

    CalibrationReport run(int rounds) {
        CalibrationReport report{.tables = tables_.size()};
        report.before = errors(rows_, {});
        FitProblem problem{.groups = groups_};
        for (const Constant& constant : constants_) {
            problem.start.push_back(constant.value);
            problem.bounds.push_back(constant.bounds);
        }
        problem.residuals = [this](const std::vector<double>& values, std::optional<std::size_t> changed) {
            return residuals(values, changed);
        };
        const Fit fitted = fit(problem, rounds);
        rows_ = predicted(fitted.values, {});
        report.after = errors(rows_, {});
        for (const auto& row : flat(rows_)) report.rows += row.scored;
        for (std::size_t i = 0; i < constants_.size(); ++i)
            report.constants.push_back({constants_[i].file, constants_[i].pointer, constants_[i].unit,
                                        constants_[i].value, fitted.values[i], fitted.spread_percent[i]});
        for (std::size_t s = 0; s < sources_.size(); ++s) leave_out(s, fitted.without[s], report);
        return report;
    }

private:
    static std::vector<ValidatedRow> flat(const std::vector<std::vector<ValidatedRow>>& rows) {
        std::vector<ValidatedRow> all;
        for (const auto& of_table : rows) all.insert(all.end(), of_table.begin(), of_table.end());
        return all;
    }
    void add_constants(const std::string& file) {
        const auto json = nlohmann::json::parse(catalogue_.files().at(file));
        for (const Tunable& tunable : kTunables) {
            const nlohmann::json::json_pointer pointer(tunable.pointer);
            if (!file.starts_with(tunable.folder) || !json.contains(pointer)) continue;
            Constant constant = constant_of(file, tunable, json.at(pointer));
            if (constant.value > 0) constants_.push_back(std::move(constant));
        }
    }
    Catalogue with(const std::vector<double>& values) const {
        std::map<std::string, std::string> files = catalogue_.files();
        std::map<std::string, nlohmann::json> changed;
        for (std::size_t i = 0; i < constants_.size(); ++i) {
            const Constant& constant = constants_[i];
            auto& json =
                changed.try_emplace(constant.file, nlohmann::json::parse(files.at(constant.file))).first->second;
            nlohmann::json& value = json[nlohmann::json::json_pointer(constant.pointer)]["value"];
            if (constant.unit.empty())
                value = values[i];
            else
                value = fmt::format("{:.9f} {}", values[i], constant.unit);
        }
        for (const auto& [file, json] : changed) files[file] = json.dump();
        return Catalogue(std::move(files));
    }
    std::vector<std::vector<ValidatedRow>> predicted(const std::vector<double>& values,
                                                     const std::vector<bool>& wanted) const {
        std::vector<std::vector<ValidatedRow>> rows = rows_;
        validate_all(tables_, with(values), wanted, rows);
        return rows;
    }
    std::vector<double> residuals(const std::vector<double>& values, std::optional<std::size_t> changed) {
        std::vector<bool> wanted;
        for (const auto& files : depends_) wanted.push_back(!changed || files.contains(constants_[*changed].file));
        auto rows = predicted(values, wanted);
        if (!changed) rows_ = rows;
        const auto all = flat(rows);
        std::vector<double> residuals(all.size());
        double sum = 0, count = 0;
        for (const double weight : weights_) {
            sum += weight;
            count += weight > 0;
        }
        for (std::size_t i = 0; i < all.size(); ++i)
            if (weights_[i] > 0 && all[i].predicted_us)
                residuals[i] =
                    std::sqrt(weights_[i] * count / sum) * std::log(*all[i].predicted_us / all[i].measured_us);
        // What the rows cannot tell stays near the catalogue's value.
        for (std::size_t i = 0; i < constants_.size(); ++i)
            residuals.push_back(kPrior * std::log(values[i] / constants_[i].value));
        return residuals;
    }
    ErrorQuantiles errors(const std::vector<std::vector<ValidatedRow>>& rows, const std::string& source) const {
        std::vector<double> percents;
        for (const ValidatedRow& row : flat(rows))
            if (row.scored && (source.empty() || row.source == source))
                percents.push_back((*row.predicted_us / row.measured_us - 1) * 100);
        return quantiles_of(percents);
    }
    void leave_out(std::size_t source, const std::vector<double>& values, CalibrationReport& report) {
        std::vector<bool> wanted;
        std::size_t count = 0;
        for (const Measurements& table : tables_) wanted.push_back(table.source == sources_[source]);
        for (const ValidatedRow& row : flat(rows_)) count += row.scored && row.source == sources_[source];
        if (count == 0) return;
        report.left_out.push_back({.source = sources_[source],
                                   .rows = count,
                                   .seen = errors(rows_, sources_[source]),
                                   .unseen = errors(predicted(values, wanted), sources_[source])});
    }

    std::vector<Measurements> tables_;
    const Catalogue& catalogue_;
    std::vector<std::set<std::string>> depends_;  // of each table
    std::vector<Constant> constants_;
    std::vector<std::vector<ValidatedRow>> rows_;  // for the values last asked with no change
    std::vector<double> weights_;
    std::vector<std::size_t> groups_;
    std::vector<std::string> sources_;
};

// Those that can be fitted to: on a machine of the catalogue, with a model, healthy and typical.
std::vector<Measurements> usable(const std::vector<Measurements>& tables) {
    std::vector<Measurements> kept;
    for (const Measurements& table : tables) {
        if (table.cluster.empty() || table.collective.starts_with("moe") || !table.healthy || !table.typical) continue;
        kept.push_back(table);
    }
    return kept;
}

int run_calibrate(const Options& options) {
    const Tables tables = read_tables(options.tables);
    const Catalogue catalogue = Catalogue::shipped();
    std::vector<Measurements> kept = usable(tables.tables);
    if (kept.empty())
        throw InputError(
            {{.file = options.tables.folder,
              .line = 0,
              .pointer = "",
              .expected = "expected a table of a healthy machine of the catalogue (--cluster names a log's)",
              .found = ""}});
    CalibrationReport report = Calibration(std::move(kept), catalogue).run(options.rounds);
    report.provenance = provenance(tables, catalogue, {});
    emit(options.output, write(report, options.output.format));
    return kGood;
}

}  // namespace

void add_calibrate(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("calibrate", "Fit the catalogue's constants to measured tables");
    const auto options = std::make_shared<Options>();
    add_options(command, options->tables);
    command.add_option("--rounds", options->rounds, "at most N rounds (default: 8)")
        ->check(CLI::Range(1, 100))
        ->option_text("N");
    add_options(command, options->output);
    when_chosen(command, options, run_calibrate, action);
}

}  // namespace fmsim::cli
