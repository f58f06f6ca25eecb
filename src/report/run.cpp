// A whole job: how long, what each operation took, where the time went, which links were busy.
#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

struct Breakdown {
    SimTime launch, waiting, working;
};
Breakdown breakdown_of(const RunReport& report) {
    Breakdown sum;
    for (const ReportedCall& call : report.operations) {
        sum.launch = sum.launch + call.finding.launch;
        sum.waiting = sum.waiting + call.finding.waiting;
        sum.working = sum.working + call.finding.working;
    }
    return sum;
}

Table links_table(const RunReport& report) {
    Table table;
    table.columns = {
        {.key = "kind", .head = "links"},
        {.key = "links", .head = "count"},
        {.key = "bytes", .head = "most bytes", .unit = "(B)"},
        {.key = "utilisation", .head = "busy", .unit = "(1)", .digits = 3},
        {.key = "busiest", .head = "busiest"},
    };
    for (const LinkFinding& link : report.links)
        table.rows.push_back({link.kind, static_cast<std::int64_t>(link.links), link.bytes, link.utilisation,
                              link.busiest.empty() ? TableCell{} : TableCell{link.busiest}});
    return table;
}

std::string text_of(const RunReport& report) {
    const Breakdown sum = breakdown_of(report);
    std::string text = fmt::format("# {} GPUs of {}\n", report.ranks, report.cluster);
    text += fmt::format("# time {:.6g} us = launch {:.6g} + latency and filling {:.6g} + bytes {:.6g}\n",
                        microseconds(report.end), microseconds(sum.launch), microseconds(sum.waiting),
                        microseconds(sum.working));
    text += to_text(calls_table(report.operations, true));
    text += "#\n" + to_text(links_table(report));
    for (const std::string& warning : report.provenance.warnings) text += "# warning: " + printable(warning) + "\n";
    return text;
}

std::string json_of(const RunReport& report) {
    const Breakdown sum = breakdown_of(report);
    nlohmann::ordered_json json;
    json["cluster"] = report.cluster;
    json["ranks"] = report.ranks;
    json["fidelity"] = fidelity_name(report.fidelity);
    json["placement"] = {{"gpus", report.placement.gpus},
                         {"instances", report.placement.instances},
                         {"domains", report.placement.domains},
                         {"leaves", report.placement.leaves},
                         {"groups", report.groups.groups},
                         {"groups_across_domains", report.groups.domains},
                         {"groups_across_leaves", report.groups.leaves}};
    json["time_s"] = seconds(report.end);
    json["operations"] = to_json(calls_table(report.operations, true));
    json["breakdown"] = {
        {"launch_s", seconds(sum.launch)}, {"waiting_s", seconds(sum.waiting)}, {"working_s", seconds(sum.working)}};
    json["resources"] = to_json(links_table(report));
    return json_document(report.provenance, json);
}

}  // namespace

std::string write(const RunReport& report, Format format) {
    switch (format) {
        case Format::text:
            return text_of(report);
        case Format::json:
            return json_of(report);
        case Format::csv:
            return to_csv(calls_table(report.operations, true));
    }
    return {};
}

}  // namespace fmsim
