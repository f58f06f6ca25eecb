// fmsim calibrate: constants of the catalogue fitted to measured tables, those published or a user's own.
//
// Fitted are the constants below of the files that the tables' machines use. Each row counts so that every operation of
// a machine in each band of sizes has the same weight (docs/accuracy.md).
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "commands.hpp"
#include "constants.hpp"
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

// Predictions are kept: of a change to one constant only the rows that rest on it are predicted anew.
class Calibration {
public:
    Calibration(std::vector<Measurements> tables, const Catalogue& catalogue)
        : tables_(std::move(tables)), catalogue_(catalogue) {
        std::set<std::string> used;
        for (const Measurements& table : tables_) {
            grounds_.push_back(ground_of(catalogue, table));
            used.insert(grounds_.back().files.begin(), grounds_.back().files.end());
        }
        constants_ = constants_of(catalogue, used);
        validate_all(tables_, catalogue_, rows_);
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
        report.before = score(flat(rows_));
        FitProblem problem{.groups = groups_};
        for (const Constant& constant : constants_) {
            problem.start.push_back(constant.value);
            problem.bounds.push_back(constant.bounds);
        }
        problem.residuals = [this](const std::vector<double>& values, std::optional<std::size_t> changed) {
            return residuals(values, changed);
        };
        const Fit fitted = fit(problem, rounds);
        rows_ = predicted(fitted.values, [](std::size_t, const ValidatedRow&) { return true; });
        report.after = score(flat(rows_));
        for (const auto& row : flat(rows_)) report.rows += row.scored;
        for (std::size_t i = 0; i < constants_.size(); ++i)
            report.constants.push_back({constants_[i].file, constants_[i].pointer, constants_[i].unit,
                                        constants_[i].value, fitted.values[i], fitted.spread_percent[i]});
        Rows unseen = rows_;
        for (std::size_t s = 0; s < sources_.size(); ++s) leave_out(s, fitted.without[s], unseen, report);
        report.unseen = score(flat(unseen));
        return report;
    }

private:
    using Rows = std::vector<std::vector<ValidatedRow>>;  // of each table

    static std::vector<ValidatedRow> flat(const Rows& rows) {
        std::vector<ValidatedRow> all;
        for (const auto& of_table : rows) all.insert(all.end(), of_table.begin(), of_table.end());
        return all;
    }
    // The rows with those `wanted(table, row)` predicted for these values.
    template <class Wanted>
    Rows predicted(const std::vector<double>& values, Wanted wanted) const {
        std::vector<Measurements> asked;
        std::vector<std::pair<std::size_t, std::size_t>> places;  // table and row of each that is asked
        for (std::size_t t = 0; t < tables_.size(); ++t) {
            Measurements some = tables_[t];
            some.rows.clear();
            for (std::size_t r = 0; r < tables_[t].rows.size(); ++r) {
                if (!wanted(t, rows_[t][r])) continue;
                some.rows.push_back(tables_[t].rows[r]);
                places.emplace_back(t, r);
            }
            if (!some.rows.empty()) asked.push_back(std::move(some));
        }
        Rows answered;
        validate_all(asked, with(catalogue_, constants_, values), answered);
        Rows rows = rows_;
        const auto all = flat(answered);
        for (std::size_t i = 0; i < all.size(); ++i) rows[places[i].first][places[i].second] = all[i];
        return rows;
    }
    std::vector<double> residuals(const std::vector<double>& values, std::optional<std::size_t> changed) {
        auto rows = predicted(values, [&](std::size_t table, const ValidatedRow& row) {
            return !changed || reaches(constants_[*changed], grounds_[table], row);
        });
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
    ErrorQuantiles errors(const Rows& rows, const std::string& source) const {
        std::vector<double> percents;
        for (const ValidatedRow& row : flat(rows))
            if (row.scored && row.source == source) percents.push_back((*row.predicted_us / row.measured_us - 1) * 100);
        return quantiles_of(percents);
    }
    // Puts the source's rows, predicted with `values`, into `unseen`.
    void leave_out(std::size_t source, const std::vector<double>& values, Rows& unseen, CalibrationReport& report) {
        std::size_t count = 0;
        for (const ValidatedRow& row : flat(rows_)) count += row.scored && row.source == sources_[source];
        if (count == 0) return;
        const auto its_own = [&](std::size_t table, const ValidatedRow&) {
            return tables_[table].source == sources_[source];
        };
        const Rows rows = predicted(values, its_own);
        for (std::size_t t = 0; t < tables_.size(); ++t)
            if (tables_[t].source == sources_[source]) unseen[t] = rows[t];
        report.left_out.push_back({.source = sources_[source],
                                   .rows = count,
                                   .seen = errors(rows_, sources_[source]),
                                   .unseen = errors(rows, sources_[source])});
    }

    std::vector<Measurements> tables_;
    const Catalogue& catalogue_;
    std::vector<TableGround> grounds_;
    std::vector<Constant> constants_;
    Rows rows_;  // for the values last asked with no change
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
