// What predictions are held to beside what they reach, and the tables that are out of reach, with the reason.
#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

std::string yes(bool met) { return met ? "yes" : "no"; }

Table targets_table(const AccuracyTargets& targets) {
    Table table;
    table.columns = {{.key = "what", .head = "held to"},
                     {.key = "operations", .head = "operations"},
                     {.key = "median_percent", .head = "median", .unit = "(%)", .digits = 3},
                     {.key = "most_median_percent", .head = "at most", .unit = "(%)", .digits = 3},
                     {.key = "p90_percent", .head = "90th", .unit = "(%)", .digits = 3},
                     {.key = "most_p90_percent", .head = "at most", .unit = "(%)", .digits = 3},
                     {.key = "met", .head = "met"}};
    for (const AccuracyTarget& target : targets.targets)
        table.rows.push_back({target.what, static_cast<std::int64_t>(target.operations), target.median,
                              target.most_median, target.p90, target.most_p90, yes(target.met())});
    return table;
}

Table biases_table(const AccuracyTargets& targets) {
    Table table;
    table.columns = {{.key = "machine", .head = "three sources or more"},
                     {.key = "sources", .head = "sources"},
                     {.key = "bias_percent", .head = "bias", .unit = "(%)", .digits = 3},
                     {.key = "met", .head = "within 10 %"}};
    for (const MachineBias& bias : targets.biases)
        table.rows.push_back({bias.machine, static_cast<std::int64_t>(bias.sources), bias.bias, yes(bias.met())});
    return table;
}

// Of each source predicted by a fit that has not seen it, beside the errors of all. The bands come first of the
// targets.
Table unseen_table(const AccuracyTargets& targets, const std::vector<UnseenErrors>& unseen) {
    Table table;
    table.columns = {{.key = "sizes", .head = "a source left out"},
                     {.key = "median_percent", .head = "median", .unit = "(%)", .digits = 3},
                     {.key = "median_ratio", .head = "of all", .unit = "(times)", .digits = 3},
                     {.key = "p90_percent", .head = "90th", .unit = "(%)", .digits = 3},
                     {.key = "p90_ratio", .head = "of all", .unit = "(times)", .digits = 3},
                     {.key = "met", .head = "within 1.5"}};
    for (const UnseenErrors& one : unseen)
        for (const AccuracyTarget& target : targets.targets) {
            if (target.what != (one.large ? ">= 1 MiB" : "< 1 MiB")) continue;
            const double median = one.median / target.median, p90 = one.p90 / target.p90;
            table.rows.push_back({target.what, one.median, median, one.p90, p90,
                                  yes(median <= kMostUnseenRatio && p90 <= kMostUnseenRatio)});
        }
    return table;
}

}  // namespace

std::string targets_text(const ValidationReport& report) {
    const AccuracyTargets targets = accuracy_targets(report.rows);
    if (targets.targets.empty()) return "";
    std::string text = "# collectives: means over the operations of machines, and what they are held to\n" +
                       to_text(targets_table(targets));
    if (!targets.biases.empty()) text += to_text(biases_table(targets));
    if (!report.unseen.empty()) text += to_text(unseen_table(targets, report.unseen));
    return text;
}

std::string targets_json(const ValidationReport& report) {
    const AccuracyTargets targets = accuracy_targets(report.rows);
    nlohmann::ordered_json json;
    json["targets"] = to_json(targets_table(targets));
    json["biases"] = to_json(biases_table(targets));
    if (!report.unseen.empty()) json["left_out"] = to_json(unseen_table(targets, report.unseen));
    return json.dump();
}

std::string targets_markdown(const ValidationReport& report) {
    const AccuracyTargets targets = accuracy_targets(report.rows);
    if (targets.targets.empty()) return "";
    std::string text =
        "## What it is held to\n\nCollectives and sends, not tokens to experts. Quantiles are of each operation of a "
        "machine, then averaged; a bias is the mean over the operations of a machine.\n\n" +
        markdown_of(targets_table(targets));
    if (!targets.biases.empty()) text += "\n" + markdown_of(biases_table(targets));
    if (!report.unseen.empty())
        text += "\nEach source predicted by constants fitted without it (`fmsim calibrate`):\n\n" +
                markdown_of(unseen_table(targets, report.unseen));
    return text + "\n";
}

std::string out_of_reach_markdown(const ValidationReport& report) {
    if (report.out_of_reach.empty()) return "";
    Table table;
    table.columns = {{.key = "what", .head = "out of reach"},
                     {.key = "tables", .head = "tables"},
                     {.key = "rows", .head = "rows"},
                     {.key = "median_percent", .head = "median", .unit = "(%)"},
                     {.key = "p90_percent", .head = "90th", .unit = "(%)"},
                     {.key = "bias_percent", .head = "bias", .unit = "(%)"},
                     {.key = "why", .head = "why"}};
    for (const OutOfReachErrors& one : report.out_of_reach)
        table.rows.push_back({one.said.what, static_cast<std::int64_t>(one.tables), static_cast<std::int64_t>(one.rows),
                              one.errors.median, one.errors.p90, one.errors.bias, one.said.why});
    return "## Out of reach\n\nWhat the model cannot reach, with the errors of this run (below 0: predicted too fast) "
           "and the physical reason. No constant hides them.\n\n" +
           markdown_of(table) + "\n";
}

}  // namespace fmsim
