// What NCCL chooses for one call, and why: every algorithm and protocol with the time NCCL believes in.
#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

double gbps(BytesPerSecond rate) { return rate.value / 1e9; }

TableCell figure(double value, bool known) { return known ? TableCell{value} : TableCell{}; }

// In text only what NCCL has for the collective.
Table candidates_table(const ChoiceReport& report, bool all) {
    Table table;
    table.columns = {{.key = "algorithm", .head = "algorithm"},
                     {.key = "protocol", .head = "protocol"},
                     {.key = "latency_us", .head = "latency", .unit = "(us)"},
                     {.key = "bandwidth_GBps", .head = "bandwidth", .unit = "(GB/s)"},
                     {.key = "believed_us", .head = "believed", .unit = "(us)", .digits = 6},
                     {.key = "verdict", .head = "verdict"}};
    const Pick& taken = report.why.taken;
    const Pick& by_nccl = report.why.by_nccl;
    for (const Candidate& row : report.why.candidates) {
        if (!all && !row.exists) continue;
        const auto is = [&](const Pick& pick) {
            return pick.algorithm == row.algorithm && pick.protocol == row.protocol;
        };
        std::string verdict = row.refused;
        if (is(by_nccl)) verdict = is(taken) ? "taken" : "least";
        if (is(taken) && !is(by_nccl)) verdict = fmt::format("taken by {}", name(taken.by));
        const bool known = row.bandwidth_gbps > 0;
        table.rows.push_back({std::string(name(row.algorithm)), std::string(name(row.protocol)),
                              figure(row.latency_us, known), figure(row.bandwidth_gbps, known),
                              figure(row.believed_us, known), verdict.empty() ? TableCell{} : TableCell{verdict}});
    }
    return table;
}

std::string graph_text(const char* what, const GraphSearch& graph) {
    return fmt::format("{} {} x {:.4g}/{:.4g} GB/s {}/{}", what, graph.channels, gbps(graph.intra), gbps(graph.inter),
                       name(graph.intra_type), name(graph.inter_type));
}

std::string text_of(const ChoiceReport& report) {
    const Communicator& c = report.communicator;
    const Pick& taken = report.why.taken;
    std::string text = fmt::format("# {} of {} on {}: {} GPUs in {} NVLink domain{}, NCCL {}\n",
                                   name(report.collective), to_text(report.size), report.cluster, c.ranks, c.domains,
                                   c.domains == 1 ? "" : "s", report.nccl_version);
    text += fmt::format("# graphs: {}; {}", graph_text("ring", c.ring), graph_text("tree", c.tree));
    if (c.nvls) text += fmt::format("; {}", graph_text("NVLS", *c.nvls));
    text += fmt::format("\n# channels: {} for collectives, {} for NVLS; times are NCCL's beliefs, no predictions\n",
                        c.channels, c.nvls_channels);
    text += to_text(candidates_table(report, false));
    text += fmt::format("# {} takes {}/{}: {} channel{}, {} threads, chunks of {}\n", name(taken.by),
                        name(taken.algorithm), name(taken.protocol), taken.channels, taken.channels == 1 ? "" : "s",
                        taken.threads, to_text(report.why.chunk));
    if (taken.asked_channels > 0 && taken.asked_channels != taken.channels)
        text += fmt::format("# it asked for {} channels; the communicator has fewer\n", taken.asked_channels);
    return text;
}

nlohmann::ordered_json pick_json(const Pick& pick) {
    return {{"by", name(pick.by)},       {"algorithm", name(pick.algorithm)}, {"protocol", name(pick.protocol)},
            {"channels", pick.channels}, {"threads", pick.threads},           {"believed_us", pick.believed_us}};
}

nlohmann::ordered_json graph_json(const GraphSearch& graph) {
    return {{"search_channels", graph.channels},    {"intra_GBps", gbps(graph.intra)},
            {"inter_GBps", gbps(graph.inter)},      {"intra_type", name(graph.intra_type)},
            {"inter_type", name(graph.inter_type)}, {"pattern", name(graph.pattern)},
            {"same_channels", graph.same_channels}, {"net_latency_us", microseconds(graph.net_latency)}};
}

std::string json_of(const ChoiceReport& report) {
    const Communicator& c = report.communicator;
    nlohmann::ordered_json json;
    json["collective"] = name(report.collective);
    json["bytes"] = report.size.count;
    json["cluster"] = report.cluster;
    json["nccl"] = report.nccl_version;
    json["ranks"] = c.ranks;
    json["domains"] = c.domains;
    json["graphs"] = {{"ring", graph_json(c.ring)}, {"tree", graph_json(c.tree)}};
    if (c.nvls) json["graphs"]["nvls"] = graph_json(*c.nvls);
    json["channels"] = c.channels;
    json["nvls_channels"] = c.nvls_channels;
    json["nvls_heads"] = c.nvls_heads;
    json["candidates"] = to_json(candidates_table(report, true));
    json["by_nccl"] = pick_json(report.why.by_nccl);
    json["taken"] = pick_json(report.why.taken);
    json["taken"]["asked_channels"] = report.why.taken.asked_channels;
    json["taken"]["chunk_bytes"] = report.why.chunk.count;
    return json_document(report.provenance, json);
}

}  // namespace

std::string write(const ChoiceReport& report, Format format) {
    const auto csv_of = [](const ChoiceReport& r) { return to_csv(candidates_table(r, true)); };
    return in_format(format, report, text_of, json_of, csv_of);
}

}  // namespace fmsim
