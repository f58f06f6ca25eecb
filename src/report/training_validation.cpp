// Predicted beside measured training steps: errors by source, GPU, precision and kind, beside the plain baseline.
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "calls.hpp"
#include "fmsim/training.hpp"

namespace fmsim {
namespace {

constexpr double kPercent = 100;

std::string kind_of_row(const ComparedStep& row) { return row.measured.experts ? "experts" : "dense"; }

struct Errors {
    std::vector<double> ours, baseline;
};
using Groups = std::map<std::string, Errors>;

Groups grouped(const std::vector<ComparedStep>& rows) {
    Groups groups;
    for (const ComparedStep& row : rows) {
        if (row.predicted <= 0) continue;
        const std::string kind = kind_of_row(row);
        for (const std::string& key :
             {"all, " + kind, "confidence " + row.measured.confidence + ", " + kind,
              "confidence " + row.measured.confidence + ", recompute " +
                  (row.measured.recompute_known ? "known" : "not known") + ", " + kind,
              "source " + row.measured.source + ", " + kind, "GPU " + row.measured.gpu + ", " + kind,
              "precision " + row.measured.precision + ", " + kind}) {
            groups[key].ours.push_back(row.error());
            if (row.baseline > 0) groups[key].baseline.push_back(row.baseline / row.measured.seconds - 1);
        }
    }
    return groups;
}

Table groups_table(const std::vector<ComparedStep>& rows) {
    Table table;
    table.columns = {{.key = "group", .head = "group"},
                     {.key = "rows", .head = "rows"},
                     {.key = "median_error_percent", .head = "median", .unit = "(%)", .digits = 3},
                     {.key = "p90_error_percent", .head = "90th", .unit = "(%)", .digits = 3},
                     {.key = "mean_error_percent", .head = "mean", .unit = "(%)", .digits = 3},
                     {.key = "worst_error_percent", .head = "worst", .unit = "(%)", .digits = 3},
                     {.key = "bias_percent", .head = "bias", .unit = "(%)", .digits = 3},
                     {.key = "baseline_median_error_percent", .head = "baseline", .unit = "median (%)", .digits = 3},
                     {.key = "baseline_p90_error_percent", .head = "baseline", .unit = "90th (%)", .digits = 3}};
    for (const auto& [key, errors] : grouped(rows)) {
        const ErrorsOfSteps ours = errors_of(errors.ours), plain = errors_of(errors.baseline);
        TableCell plain_median, plain_p90;
        if (plain.rows > 0) plain_median = plain.median * kPercent, plain_p90 = plain.p90 * kPercent;
        table.rows.push_back({key, static_cast<std::int64_t>(ours.rows), ours.median * kPercent, ours.p90 * kPercent,
                              ours.mean * kPercent, ours.worst * kPercent, ours.bias * kPercent, plain_median,
                              plain_p90});
    }
    return table;
}

Table rows_table(const std::vector<ComparedStep>& rows) {
    Table table;
    table.columns = {{.key = "id", .head = "id"},
                     {.key = "source", .head = "source"},
                     {.key = "gpu", .head = "GPU"},
                     {.key = "precision", .head = "precision"},
                     {.key = "kind", .head = "kind"},
                     {.key = "confidence", .head = "confidence"},
                     {.key = "measured_s", .head = "measured", .unit = "(s)"},
                     {.key = "predicted_s", .head = "predicted", .unit = "(s)"},
                     {.key = "error_percent", .head = "error", .unit = "(%)", .digits = 3},
                     {.key = "baseline_s", .head = "baseline", .unit = "(s)"},
                     {.key = "why", .head = "why not"}};
    const auto cell = [](double value) { return value > 0 ? TableCell{value} : TableCell{}; };
    for (const ComparedStep& row : rows) {
        const MeasuredStep& m = row.measured;
        TableCell error;
        if (row.predicted > 0) error = row.error() * kPercent;
        table.rows.push_back({printable(m.id), printable(m.source), printable(m.gpu), printable(m.precision),
                              kind_of_row(row), printable(m.confidence), cell(m.seconds), cell(row.predicted), error,
                              cell(row.baseline), row.why.empty() ? TableCell{} : TableCell{printable(row.why)}});
    }
    return table;
}

Table pairs_table(const std::vector<ComparedStep>& rows, const std::vector<PairOfSteps>& pairs) {
    Table table;
    table.columns = {{.key = "a", .head = "a"},
                     {.key = "b", .head = "b"},
                     {.key = "differs", .head = "differs in"},
                     {.key = "measured_ratio", .head = "measured", .digits = 4},
                     {.key = "predicted_ratio", .head = "predicted", .digits = 4},
                     {.key = "error_percent", .head = "error", .unit = "(%)", .digits = 3},
                     {.key = "same_order", .head = "order"}};
    for (const PairOfSteps& pair : pairs)
        table.rows.push_back({rows[pair.a].measured.id, rows[pair.b].measured.id, pair.differs, pair.measured,
                              pair.predicted, (pair.predicted / pair.measured - 1) * kPercent,
                              std::string(pair.same_order() ? "same" : "other")});
    return table;
}

// By what differs: errors of ratios, and how often the order is right where it is clear.
Table pair_groups_table(const std::vector<PairOfSteps>& pairs) {
    constexpr double kClear = 0.10;
    struct Group {
        std::vector<double> errors;
        std::int64_t clear{}, right{};
    };
    std::map<std::string, Group> groups;
    for (const PairOfSteps& pair : pairs)
        for (const std::string& key : {pair.differs, std::string("all")}) {
            Group& group = groups[key];
            group.errors.push_back(pair.predicted / pair.measured - 1);
            if (std::abs(pair.measured - 1) < kClear) continue;
            ++group.clear;
            group.right += pair.same_order() ? 1 : 0;
        }
    Table table;
    table.columns = {{.key = "differs", .head = "differs in"},
                     {.key = "pairs", .head = "pairs"},
                     {.key = "median_error_percent", .head = "median", .unit = "(%)", .digits = 3},
                     {.key = "p90_error_percent", .head = "90th", .unit = "(%)", .digits = 3},
                     {.key = "clear_pairs", .head = "clear"},
                     {.key = "right_order", .head = "right"}};
    for (const auto& [key, group] : groups) {
        const ErrorsOfSteps errors = errors_of(group.errors);
        table.rows.push_back({key, static_cast<std::int64_t>(errors.rows), errors.median * kPercent,
                              errors.p90 * kPercent, group.clear, group.right});
    }
    return table;
}

nlohmann::ordered_json json_of(const TrainingValidation& report) {
    const std::vector<ComparedStep>& rows = *report.rows;
    nlohmann::ordered_json json;
    json["groups"] = to_json(groups_table(rows));
    json["rows"] = to_json(rows_table(rows));
    for (nlohmann::ordered_json& row : json["rows"])  // what there is none of
        for (auto it = row.begin(); it != row.end();) it = it->is_null() ? row.erase(it) : std::next(it);
    if (!report.pairs) return json;
    const std::vector<PairOfSteps> pairs = pairs_of(rows);
    json["pair_groups"] = to_json(pair_groups_table(pairs));
    json["pairs"] = to_json(pairs_table(rows, pairs));
    return json;
}

}  // namespace

std::string write(const TrainingValidation& report, Format format) {
    const std::vector<ComparedStep>& rows = *report.rows;
    const std::vector<PairOfSteps> pairs = report.pairs ? pairs_of(rows) : std::vector<PairOfSteps>{};
    if (format == Format::csv) return to_csv(report.pairs ? pairs_table(rows, pairs) : rows_table(rows));
    if (format == Format::text)
        return to_text(groups_table(rows)) + (report.pairs ? to_text(pair_groups_table(pairs)) : "");
    return json_document(report.provenance, json_of(report));
}

std::string write(const ValidationReport& tables, const TrainingValidation& steps, Format format) {
    if (format == Format::csv)
        throw InputError(
            {{"--format", 0, "", "expected text or json for a folder of tables and training steps", "csv"}});
    if (format == Format::text) return write(tables, format) + write(steps, format);
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(write(tables, format));
    const nlohmann::ordered_json of_steps = json_of(steps);
    for (const auto& [key, value] : of_steps.items()) {
        if (key == "rows")
            json["rows"].insert(json["rows"].end(), value.begin(), value.end());
        else
            json[key] = value;
    }
    return json.dump(2) + "\n";
}

}  // namespace fmsim
