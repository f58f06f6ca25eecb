// Tokens to experts by several dispatchers, a row each.
#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

Table table_of(const ExpertReport& report) {
    Table table;
    table.columns = {{.key = "tokens", .head = "tokens"},
                     {.key = "dispatcher", .head = "dispatcher"},
                     {.key = "size_bytes", .head = "size", .unit = "(B)"},
                     {.key = "network_bytes", .head = "network", .unit = "(B/GPU)", .digits = 8},
                     {.key = "nvlink_bytes", .head = "NVLink", .unit = "(B/GPU)", .digits = 8},
                     {.key = "time_us", .head = "time", .unit = "(us)"},
                     {.key = "algbw_gbps", .head = "algbw", .unit = "(GB/s)"},
                     {.key = "closed_form_us", .head = "closed form", .unit = "(us)"},
                     {.key = "sms", .head = "SMs"},
                     {.key = "limited_by", .head = "limited by"}};
    for (const ReportedExperts& row : report.rows) {
        const std::int64_t tokens = row.call.tokens;
        if (!row.predicted) {
            table.rows.push_back(
                {tokens, row.call.dispatcher, size_of(row.call).count, {}, {}, {}, {}, {}, {}, row.refused});
            continue;
        }
        const CallPrediction& call = *row.predicted;
        table.rows.push_back(
            {tokens, row.call.dispatcher, size_of(row.call).count, row.network_bytes, row.nvlink_bytes,
             microseconds(call.time()),
             call.time().fs == 0 ? 0 : static_cast<double>(size_of(row.call).count) / seconds(call.time()) * 1e-9,
             microseconds(call.closed_form), call.channels == 0 ? TableCell() : TableCell(std::int64_t{call.channels}),
             row.finding.limited_by});
    }
    return table;
}

std::string head(const ExpertReport& report) {
    ExpertCall call = report.rows.front().call;
    std::string text = fmt::format("# {} of {} elements ({}) to {} of {} experts, {} routing", call.kind(), call.hidden,
                                   call.dtype, call.top_k, call.experts, name(call.routing));
    if (call.routing == TokenRouting::skewed) text += fmt::format(" by {} from seed {}", call.skew, call.seed);
    if (call.limit != 0) text += fmt::format(" on at most {} domains", call.limit);
    return text + fmt::format("\n# on {}: {} GPUs in {} NVLink domain{}; size counts {} copies of each token\n",
                              report.cluster, report.ranks, report.domains, report.domains == 1 ? "" : "s", call.top_k);
}

std::string text_of(const ExpertReport& report) { return head(report) + to_text(table_of(report)); }

std::string json_of(const ExpertReport& report) {
    nlohmann::ordered_json json;
    const ExpertCall& call = report.rows.front().call;
    json["operation"] = call.kind();
    json["cluster"] = report.cluster;
    json["ranks"] = report.ranks;
    json["domains"] = report.domains;
    json["hidden"] = call.hidden;
    json["top_k"] = call.top_k;
    json["experts"] = call.experts;
    json["dtype"] = call.dtype;
    json["routing"] = name(call.routing);
    json["rows"] = to_json(table_of(report));
    return json_document(report.provenance, json);
}

}  // namespace

std::string write(const ExpertReport& report, Format format) {
    return in_format(format, report, text_of, json_of, [](const ExpertReport& r) { return to_csv(table_of(r)); });
}

}  // namespace fmsim
