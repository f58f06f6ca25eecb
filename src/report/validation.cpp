// Predictions beside published tables: errors by machine, operation and band of sizes, and every row in the data forms.
#include <fmt/format.h>

#include "calls.hpp"
#include "fmsim/report.hpp"

namespace fmsim {
namespace {

constexpr std::string_view band_name(bool large) { return large ? ">=1MiB" : "<1MiB"; }

std::vector<TableCell> band_row(const BandScore& band, const std::string& machine, const std::string& collective) {
    return {machine,
            collective,
            std::string(band_name(band.large)),
            static_cast<std::int64_t>(band.rows),
            band.model.median,
            band.model.p90,
            band.model.worst,
            band.model.bias,
            band.fit.median,
            band.fit.p90,
            band.fit.worst,
            band.fit.bias};
}

Table score_table(const Score& score) {
    Table table;
    table.columns = {{.key = "machine", .head = "machine"},
                     {.key = "collective", .head = "collective"},
                     {.key = "band", .head = "sizes"},
                     {.key = "rows", .head = "rows"},
                     {.key = "median_percent", .head = "median", .unit = "(%)", .digits = 3},
                     {.key = "p90_percent", .head = "90th", .unit = "(%)", .digits = 3},
                     {.key = "worst_percent", .head = "worst", .unit = "(%)", .digits = 3},
                     {.key = "bias_percent", .head = "bias", .unit = "(%)", .digits = 3},
                     {.key = "fit_median_percent", .head = "a+bx", .unit = "median", .digits = 3},
                     {.key = "fit_p90_percent", .head = "a+bx", .unit = "90th", .digits = 3},
                     {.key = "fit_worst_percent", .head = "a+bx", .unit = "worst", .digits = 3},
                     {.key = "fit_bias_percent", .head = "a+bx", .unit = "bias", .digits = 3}};
    for (const BandScore& band : score.bands) table.rows.push_back(band_row(band, band.machine, band.collective));
    for (const auto& mean : {score.small, score.large})
        if (mean) table.rows.push_back(band_row(*mean, "mean", "of the above"));
    return table;
}

TableCell optional_cell(const std::optional<double>& value) { return value ? TableCell(*value) : TableCell(); }
TableCell word_cell(const std::string& word) { return word.empty() ? TableCell() : TableCell(word); }

Table rows_table(const std::vector<ValidatedRow>& rows) {
    Table table;
    table.columns = {{.key = "table", .head = "table"},           {.key = "machine", .head = "machine"},
                     {.key = "collective", .head = "collective"}, {.key = "bytes", .head = "bytes"},
                     {.key = "measured_us", .head = "measured"},  {.key = "predicted_us", .head = "predicted"},
                     {.key = "error_percent", .head = "error"},   {.key = "algorithm", .head = "algo"},
                     {.key = "protocol", .head = "proto"},        {.key = "channels", .head = "channels"},
                     {.key = "scored", .head = "scored"},         {.key = "why", .head = "why"}};
    for (const ValidatedRow& row : rows) {
        TableCell error;
        if (row.predicted_us) error = (*row.predicted_us / row.measured_us - 1) * 100;
        table.rows.push_back({row.table, row.machine, row.collective, row.size.count, row.measured_us,
                              optional_cell(row.predicted_us), error, word_cell(row.algorithm), word_cell(row.protocol),
                              row.channels == 0 ? TableCell() : TableCell(std::int64_t{row.channels}),
                              std::int64_t{row.scored}, word_cell(row.why)});
    }
    return table;
}

// Why rows count for nothing, each reason with the number of its rows.
Table reasons_table(const std::vector<ValidatedRow>& rows) {
    std::vector<std::pair<std::string, std::int64_t>> reasons;
    for (const ValidatedRow& row : rows) {
        if (row.why.empty()) continue;
        auto known = reasons.begin();
        while (known != reasons.end() && known->first != row.why) ++known;
        if (known == reasons.end()) known = reasons.insert(known, {row.why, 0});
        ++known->second;
    }
    Table table;
    table.columns = {{.key = "rows", .head = "rows"}, {.key = "why", .head = "not scored, since"}};
    for (const auto& [why, count] : reasons) table.rows.push_back({count, why});
    return table;
}

std::string json_of(const ValidationReport& report) {
    nlohmann::ordered_json json;
    json["tables"] = report.tables;
    json["rows"] = to_json(rows_table(report.rows));
    for (nlohmann::ordered_json& row : json["rows"]) {
        row["scored"] = row["scored"] == 1;
        for (auto it = row.begin(); it != row.end();) it = it->is_null() ? row.erase(it) : std::next(it);
    }
    json["summary"] = to_json(score_table(report.score));
    json.update(nlohmann::ordered_json::parse(targets_json(report)));
    json.update(nlohmann::ordered_json::parse(experts_json(report)));
    return json_document(report.provenance, json);
}

std::string text_of(const ValidationReport& report) {
    std::size_t predicted = 0, scored = 0;
    for (const ValidatedRow& row : report.rows) {
        predicted += row.predicted_us.has_value();
        scored += row.scored;
    }
    std::string text = fmt::format(
        "# {} tables, {} rows, {} predicted, {} scored; |error| of time, and of a line fitted "
        "to the very rows\n",
        report.tables, report.rows.size(), predicted, scored);
    text += to_text(score_table(report.score));
    text += targets_text(report);
    text += experts_text(report);
    const Table reasons = reasons_table(report.rows);
    return reasons.rows.empty() ? text : text + to_text(reasons);
}

}  // namespace

std::string write(const ValidationReport& report, Format format) {
    const auto csv_of = [](const ValidationReport& r) { return to_csv(rows_table(r.rows)); };
    return in_format(format, report, text_of, json_of, csv_of);
}

}  // namespace fmsim
