// A whole job: how long, what each operation took, where the time went, which links were busy.
#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

// Sums over the operations as the table shows them: of one that happens often its slowest.
struct Breakdown {
    SimTime launch, waiting, working, computing;
    bool in_turn = true;  // each starts when the one before ends, so that the sums are the time

    std::string_view counts() const {
        return in_turn ? "operations, one after another: the sum is time_s"
                       : "operations that overlap, wait for each other or happen often: the sum is not time_s";
    }
};
Breakdown breakdown_of(const RunReport& report) {
    Breakdown sum;
    SimTime end;
    for (const auto& [call, finding, measured_us] : report.operations) {
        sum.launch = sum.launch + finding.launch;
        sum.waiting = sum.waiting + finding.waiting;
        SimTime& working = call.kind == "compute" ? sum.computing : sum.working;
        working = working + finding.working;
        sum.in_turn = sum.in_turn && call.started == end;
        end = call.ended;
    }
    sum.in_turn = sum.in_turn && end == report.end;
    return sum;
}

std::string time_line(const RunReport& report) {
    const Breakdown sum = breakdown_of(report);
    if (!sum.in_turn)
        return fmt::format(
            "# time {:.6g} us; operations overlap or wait for each other, so their times do not add up\n",
            microseconds(report.end));
    const std::string computing =
        sum.computing.fs > 0 ? fmt::format(" + computing {:.6g}", microseconds(sum.computing)) : "";
    return fmt::format("# time {:.6g} us = launch {:.6g} + latency and filling {:.6g} + bytes {:.6g}{}\n",
                       microseconds(report.end), microseconds(sum.launch), microseconds(sum.waiting),
                       microseconds(sum.working), computing);
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
    std::string text = fmt::format("# {} GPUs of {}\n", report.ranks, report.cluster);
    text += time_line(report);
    text += to_text(calls_table(report.operations, true));
    text += "#\n" + to_text(links_table(report));
    return text + warning_lines(report.provenance);
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
    json["breakdown"] = {{"counts", sum.counts()},
                         {"launch_s", seconds(sum.launch)},
                         {"waiting_s", seconds(sum.waiting)},
                         {"working_s", seconds(sum.working)},
                         {"computing_s", seconds(sum.computing)}};
    json["resources"] = to_json(links_table(report));
    return json_document(report.provenance, json);
}

}  // namespace

std::string write(const RunReport& report, Format format) {
    const auto csv_of = [](const RunReport& r) { return to_csv(calls_table(r.operations, true)); };
    return in_format(format, report, text_of, json_of, csv_of);
}

}  // namespace fmsim
