// How far a workload folds, class by class, and whether the folded prediction can be trusted.
#include <cmath>

#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

Table classes_table(const Folding& folding) {
    Table table;
    table.columns = {{.key = "domain", .head = "domain"},
                     {.key = "alike", .head = "alike"},
                     {.key = "apart", .head = "told apart by"}};
    for (const auto& [first, count, apart] : folding.domains)
        table.rows.push_back({std::int64_t{first.value}, std::int64_t{count}, apart});
    return table;
}

double off(SimTime a, SimTime b) {
    if (b.fs == 0) return a.fs == 0 ? 0 : 1;
    return std::abs(static_cast<double>(a.fs - b.fs)) / static_cast<double>(b.fs);
}

std::string text_of(const FoldingReport& report) {
    std::string text = fmt::format("# {}: time {:.6g} us\n", report.cluster, microseconds(report.end));
    if (report.folding) {
        const Folding& folding = *report.folding;
        text += fmt::format("# {} ranks in {} classes, {} groups in {} classes\n", folding.ranks, folding.rank_classes,
                            folding.groups, folding.group_classes);
        text += to_text(classes_table(folding));
    } else {
        text += "# not folded: every rank is simulated\n";
    }
    if (!report.check) return text;
    const Trust trust = trust_of(report);
    text += fmt::format("# without folding {:.6g} us: {:.2g} apart; with bytes 1e-12 more: {:.2g} apart\n",
                        microseconds(report.check->unfolded), trust.folded_off, trust.perturbed_off);
    text +=
        trust.holds() ? "# the prediction can be trusted to 1e-9\n" : "# the prediction can NOT be trusted to 1e-9\n";
    return text;
}

std::string json_of(const FoldingReport& report) {
    nlohmann::ordered_json json;
    json["cluster"] = report.cluster;
    json["time_s"] = seconds(report.end);
    if (report.folding) {
        const Folding& folding = *report.folding;
        json["folding"] = {{"ranks", folding.ranks},
                           {"rank_classes", folding.rank_classes},
                           {"groups", folding.groups},
                           {"group_classes", folding.group_classes},
                           {"domain_classes", to_json(classes_table(folding))}};
    } else {
        json["folding"] = nullptr;
    }
    if (report.check) {
        const Trust trust = trust_of(report);
        json["check"] = {{"unfolded_time_s", seconds(report.check->unfolded)},
                         {"unfolded_off", trust.folded_off},
                         {"perturbed_off", trust.perturbed_off},
                         {"trusted_to_1e-9", trust.holds()}};
    }
    return json_document(report.provenance, json);
}

}  // namespace

Trust trust_of(const FoldingReport& report) {
    if (!report.check) return {};
    return {off(report.end, report.check->unfolded), off(report.check->perturbed, report.end)};
}

std::string write(const FoldingReport& report, Format format) {
    const auto csv_of = [](const FoldingReport& r) { return r.folding ? to_csv(classes_table(*r.folding)) : std::string(); };
    return in_format(format, report, text_of, json_of, csv_of);
}

}  // namespace fmsim
