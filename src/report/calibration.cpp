// Fitted constants with their spread, in the form of the catalogue's values, and the errors of sources left out.
#include <utility>

#include <fmt/format.h>

#include "calls.hpp"
#include "fmsim/report.hpp"

namespace fmsim {
namespace {

Table constants_table(const CalibrationReport& report) {
    Table table;
    table.columns = {{.key = "file", .head = "file"},
                     {.key = "pointer", .head = "constant"},
                     {.key = "before", .head = "before", .digits = 4},
                     {.key = "after", .head = "after", .digits = 4},
                     {.key = "unit", .head = "unit"},
                     {.key = "spread_percent", .head = "spread", .unit = "(%)", .digits = 2}};
    for (const FittedConstant& constant : report.constants)
        table.rows.push_back({constant.file, constant.pointer, constant.before, constant.after, constant.unit,
                              constant.spread_percent > 0 ? TableCell(constant.spread_percent) : TableCell()});
    return table;
}

Table left_out_table(const CalibrationReport& report) {
    Table table;
    table.columns = {{.key = "source", .head = "source"},
                     {.key = "rows", .head = "rows"},
                     {.key = "seen_median_percent", .head = "seen", .unit = "median", .digits = 3},
                     {.key = "seen_p90_percent", .head = "seen", .unit = "90th", .digits = 3},
                     {.key = "unseen_median_percent", .head = "unseen", .unit = "median", .digits = 3},
                     {.key = "unseen_p90_percent", .head = "unseen", .unit = "90th", .digits = 3}};
    for (const LeftOut& out : report.left_out)
        table.rows.push_back({out.source, static_cast<std::int64_t>(out.rows), out.seen.median, out.seen.p90,
                              out.unseen.median, out.unseen.p90});
    return table;
}

nlohmann::ordered_json leaf_of(const FittedConstant& constant, const CalibrationReport& report) {
    nlohmann::ordered_json leaf;
    if (constant.unit.empty())
        leaf["value"] = constant.after;
    else
        leaf["value"] = fmt::format("{:.6g} {}", constant.after, constant.unit);
    leaf["source"] = fmt::format("fmsim calibrate: {} rows of {} tables", report.rows, report.tables);
    leaf["spread_percent"] = constant.spread_percent;
    leaf["before"] = constant.before;
    return leaf;
}

// The means over machines and operations, below and from 1 MiB.
Table score_table(const CalibrationReport& report) {
    Table table;
    table.columns = {{.key = "constants", .head = "constants"},
                     {.key = "sizes", .head = "sizes"},
                     {.key = "median_percent", .head = "median", .unit = "(%)", .digits = 3},
                     {.key = "p90_percent", .head = "90th", .unit = "(%)", .digits = 3},
                     {.key = "bias_percent", .head = "bias", .unit = "(%)", .digits = 3}};
    const auto add = [&](const char* constants, const Score& score) {
        for (const auto& [sizes, band] : {std::pair("< 1 MiB", score.small), std::pair(">= 1 MiB", score.large)})
            if (band) table.rows.push_back({constants, sizes, band->model.median, band->model.p90, band->model.bias});
    };
    add("before", report.before);
    add("fitted", report.after);
    add("fitted without the source", report.unseen);
    return table;
}

std::string json_of(const CalibrationReport& report) {
    nlohmann::ordered_json json;
    json["tables"] = report.tables;
    json["rows"] = report.rows;
    json["errors"] = to_json(score_table(report));
    json["constants"] = nlohmann::ordered_json::object();
    for (const FittedConstant& constant : report.constants)
        json["constants"][constant.file][nlohmann::ordered_json::json_pointer(constant.pointer)] =
            leaf_of(constant, report);
    json["left_out"] = to_json(left_out_table(report));
    return json_document(report.provenance, json);
}

}  // namespace

std::string write(const CalibrationReport& report, Format format) {
    switch (format) {
        case Format::json:
            return json_of(report);
        case Format::csv:
            return to_csv(constants_table(report));
        case Format::text:
            return fmt::format("# {} tables, {} rows; |error| of time, the mean over operations of machines\n",
                               report.tables, report.rows) +
                   to_text(score_table(report)) + "# constants\n" + to_text(constants_table(report)) +
                   "# each source, when the fit had seen it and when not\n" + to_text(left_out_table(report));
    }
    return {};
}

}  // namespace fmsim
