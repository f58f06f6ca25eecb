// Two runs side by side: what each row took, what moved, and what bounded it.
#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

constexpr double kMicro = 1e6;

TableCell cell_of(const std::optional<double>& value) { return value ? TableCell{*value} : TableCell{}; }
TableCell words_of(const std::string& text) { return text.empty() ? TableCell{} : TableCell{text}; }

std::optional<double> micros(const std::optional<OutcomeRow>& row) {
    if (!row) return {};
    return row->seconds * kMicro;
}

Table rows_table(const Comparison& comparison) {
    Table table;
    table.columns = {
        {.key = "name", .head = "operation"},
        {.key = "before_us", .head = "before", .unit = "(us)"},
        {.key = "after_us", .head = "after", .unit = "(us)"},
        {.key = "change_us", .head = "", .in_text = false},
        {.key = "change_percent", .head = "change", .unit = "(%)", .digits = 4},
        {.key = "moved", .head = "", .in_text = false},
        {.key = "moved_us", .head = "", .in_text = false},
        {.key = "limited_by_before", .head = "", .in_text = false},
        {.key = "limited_by_after", .head = "", .in_text = false},
        {.key = "busiest_before", .head = "", .in_text = false},
        {.key = "busiest_after", .head = "", .in_text = false},
        {.key = "how_before", .head = "", .in_text = false},
        {.key = "how_after", .head = "", .in_text = false},
        {.key = "reason", .head = "what moved, and what bounds it"},
    };
    for (const RowDifference& row : comparison.rows) {
        const auto of = [](const std::optional<OutcomeRow>& one, std::string OutcomeRow::*word) {
            return one ? words_of((*one).*word) : TableCell{};
        };
        table.rows.push_back({words_of(row.name), cell_of(micros(row.before)), cell_of(micros(row.after)),
                              row.before && row.after ? TableCell{row.seconds() * kMicro} : TableCell{},
                              row.same() ? TableCell{0.0} : cell_of(row.percent()), words_of(row.moved),
                              row.moved.empty() ? TableCell{} : TableCell{row.moved_seconds * kMicro},
                              of(row.before, &OutcomeRow::limited_by), of(row.after, &OutcomeRow::limited_by),
                              of(row.before, &OutcomeRow::busiest), of(row.after, &OutcomeRow::busiest),
                              of(row.before, &OutcomeRow::how), of(row.after, &OutcomeRow::how),
                              words_of(row.reason())});
    }
    return table;
}

// What takes no time in either is left out for people.
Table shown(const Comparison& comparison) {
    Comparison some = comparison;
    std::erase_if(some.rows, [](const RowDifference& row) {
        return row.before && row.after && row.before->seconds == 0 && row.after->seconds == 0;
    });
    return rows_table(some);
}

Table policies_table(const ComparisonReport& report) {
    Table table;
    table.columns = {{.key = "name", .head = "rail policy"}};
    for (const std::string& policy : report.policies)
        table.columns.push_back({.key = policy + "_us", .head = policy, .unit = "(us)"});
    for (const PolicyTimes& row : report.policy_times) {
        table.rows.push_back({row.name});
        for (const auto& seconds : row.seconds)
            table.rows.back().push_back(seconds ? TableCell{*seconds * kMicro} : TableCell{std::string("never ends")});
    }
    return table;
}

std::string text_of(const ComparisonReport& report) {
    const Comparison& both = report.comparison;
    std::string text = fmt::format("# {}\n", report.what);
    text += fmt::format("# before: {}\n", both.before.name);
    if (both.after.name != both.before.name) text += fmt::format("# after:  {}\n", both.after.name);
    if (both.before.seconds && both.after.seconds)
        text += fmt::format("time {:.6g} us -> {:.6g} us: {}\n", *both.before.seconds * kMicro,
                            *both.after.seconds * kMicro,
                            both.same() ? "no change" : percent_text(both.percent().value_or(0)));
    else if (both.same())
        text += "no change\n";
    for (const std::string& note : report.notes) text += note + "\n";
    text += to_text(shown(both));
    if (!report.policy_times.empty()) text += "#\n" + to_text(policies_table(report));
    return text;
}

nlohmann::ordered_json side(const Outcome& outcome) {
    return {{"name", outcome.name},
            {"time_s", outcome.seconds ? nlohmann::ordered_json(*outcome.seconds) : nlohmann::ordered_json()}};
}

std::string json_of(const ComparisonReport& report) {
    const Comparison& both = report.comparison;
    nlohmann::ordered_json json;
    json["what"] = report.what;
    json["before"] = side(both.before);
    json["after"] = side(both.after);
    json["same"] = both.same();
    json["change_percent"] = nullptr;
    if (const auto percent = both.percent()) json["change_percent"] = both.same() ? 0 : *percent;
    json["reason"] = both.reason();
    json["rows"] = to_json(rows_table(both));
    if (!report.policy_times.empty()) json["rail_policies"] = to_json(policies_table(report));
    json["notes"] = report.notes;
    return json_document(report.provenance, json);
}

}  // namespace

std::string write(const ComparisonReport& report, Format format) {
    const auto csv_of = [](const ComparisonReport& r) { return to_csv(rows_table(r.comparison)); };
    return in_format(format, report, text_of, json_of, csv_of);
}

}  // namespace fmsim
