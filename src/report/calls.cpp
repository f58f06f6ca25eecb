#include "calls.hpp"

#include <algorithm>

namespace fmsim {
namespace {

constexpr std::int64_t kFloatBytes = 4;

// nccl-tests' columns of one call. A message has no reduction and no bus; compute and a barrier have
// neither bytes nor rates.
struct NcclTestsCells {
    TableCell bytes, count, type, redop, root, algbw, busbw;
};
NcclTestsCells cells_of(const CallPrediction& call) {
    if (!call.collective && call.kind != "send") return {};
    NcclTestsCells cells{.bytes = call.call.size.count, .count = {}, .type = {}, .redop = {}, .root = {}, .busbw = {}};
    using enum Collective;
    if (call.collective == barrier) return {};
    cells.algbw = call.algbw_gbps();
    if (!call.collective) return cells;
    const bool reduces =
        *call.collective == all_reduce || *call.collective == reduce_scatter || *call.collective == reduce;
    const bool has_root = *call.collective == broadcast || *call.collective == reduce;
    cells.count = call.call.size.count / kFloatBytes;
    cells.type = std::string("float");
    cells.redop = std::string(reduces ? "sum" : "none");
    cells.root = has_root ? std::int64_t{call.root} : std::int64_t{-1};
    cells.busbw = call.busbw_gbps();
    return cells;
}

TableCell optional_cell(const std::optional<double>& value) { return value ? TableCell{*value} : TableCell{}; }

}  // namespace

Table calls_table(const std::vector<ReportedCall>& calls, bool named) {
    const bool measured =
        std::any_of(calls.begin(), calls.end(), [](const auto& c) { return c.measured_us.has_value(); });
    Table table;
    table.columns = {
        {.key = "name", .head = "operation", .in_text = named, .in_data = named},
        {.key = "collective", .head = "kind", .in_text = named, .in_data = named},
        {.key = "ranks", .head = "ranks", .in_text = named, .in_data = named},
        {.key = "times", .head = "times", .in_text = named, .in_data = named},
        {.key = "bytes", .head = "size", .unit = "(B)"},
        {.key = "count", .head = "count", .unit = "(elements)", .in_data = false},
        {.key = "type", .head = "type", .in_data = false},
        {.key = "redop", .head = "redop", .in_data = false},
        {.key = "root", .head = "root", .in_data = false},
        {.key = "time_us", .head = "time", .unit = "(us)"},
        {.key = "algbw_GBps", .head = "algbw", .unit = "(GB/s)", .digits = 4},
        {.key = "busbw_GBps", .head = "busbw", .unit = "(GB/s)", .digits = 4},
        {.key = "algorithm", .head = "algorithm"},
        {.key = "protocol", .head = "protocol"},
        {.key = "channels", .head = "channels"},
        {.key = "limited_by", .head = "limited by"},
        {.key = "busiest", .head = "", .in_text = false},
        {.key = "launch_us", .head = "", .in_text = false},
        {.key = "waiting_us", .head = "", .in_text = false},
        {.key = "working_us", .head = "", .in_text = false},
        {.key = "closed_form_us", .head = "", .in_text = false},
        {.key = "measured_us", .head = "", .in_text = false, .in_data = measured},
        {.key = "error_percent", .head = "", .in_text = false, .in_data = measured},
    };
    for (const auto& [call, finding, measured_us] : calls) {
        TableCell error;
        if (measured_us) error = error_percent(call.time(), *measured_us);
        const NcclTestsCells cells = cells_of(call);
        table.rows.push_back({call.call.name,
                              call.kind,
                              std::int64_t{call.ranks},
                              std::int64_t{call.times},
                              cells.bytes,
                              cells.count,
                              cells.type,
                              cells.redop,
                              cells.root,
                              microseconds(call.time()),
                              cells.algbw,
                              cells.busbw,
                              call.algorithm.empty() ? TableCell{} : TableCell{call.algorithm},
                              call.algorithm.empty() ? TableCell{} : TableCell{std::string(name(call.protocol))},
                              call.algorithm.empty() ? TableCell{} : TableCell{std::int64_t{call.channels}},
                              finding.limited_by,
                              finding.busiest,
                              microseconds(finding.launch),
                              microseconds(finding.waiting),
                              microseconds(finding.working),
                              microseconds(call.closed_form),
                              optional_cell(measured_us),
                              error});
    }
    return table;
}

Table comparison_table(const std::vector<ReportedCall>& calls) {
    Table table;
    table.columns = {
        {.key = "bytes", .head = "size", .unit = "(B)"},
        {.key = "measured_us", .head = "measured", .unit = "(us)"},
        {.key = "time_us", .head = "fmsim", .unit = "(us)"},
        {.key = "error_percent", .head = "error", .unit = "(%)", .digits = 3},
        {.key = "closed_form_us", .head = "closed form", .unit = "(us)"},
        {.key = "closed_form_error_percent", .head = "error", .unit = "(%)", .digits = 3},
        {.key = "busbw_GBps", .head = "busbw", .unit = "(GB/s)", .digits = 4},
        {.key = "algorithm", .head = "algorithm"},
        {.key = "protocol", .head = "protocol"},
        {.key = "limited_by", .head = "limited by"},
    };
    for (const auto& [call, finding, measured_us] : calls) {
        if (!measured_us) continue;
        table.rows.push_back({call.call.size.count, *measured_us, microseconds(call.time()),
                              error_percent(call.time(), *measured_us), microseconds(call.closed_form),
                              error_percent(call.closed_form, *measured_us), call.busbw_gbps(), call.algorithm,
                              std::string(name(call.protocol)), finding.limited_by});
    }
    return table;
}

std::string_view fidelity_name(Fidelity fidelity) { return fidelity == Fidelity::stream ? "stream" : "chunk"; }

std::string warning_lines(const Provenance& provenance) {
    std::string text;
    for (const std::string& warning : provenance.warnings) text += "# warning: " + printable(warning) + "\n";
    return text;
}

std::string json_document(const Provenance& provenance, const nlohmann::ordered_json& says) {
    nlohmann::ordered_json json;
    json["schema_version"] = 1;
    json["fmsim_version"] = provenance.fmsim_version;
    json["constants_hash"] = provenance.constants_hash;
    json["inputs_hash"] = provenance.inputs_hash;
    json.update(says);
    json["assumptions"] = provenance.assumptions;
    json["warnings"] = provenance.warnings;
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace fmsim
