// A collective over a range of sizes.
#include <algorithm>

#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

std::string head(const SweepReport& report) {
    return fmt::format("# {} on {}: {} GPUs in {} NVLink domain{}, {} fidelity\n", name(report.collective),
                       report.cluster, report.ranks, report.domains, report.domains == 1 ? "" : "s",
                       fidelity_name(report.fidelity));
}

// Why an all-reduce may have more bus bandwidth than the line: what is counted is what a ring sends.
std::string over_the_line(const SweepReport& report) {
    const double line = report.line_rate.value * 1e-9;
    const bool over = report.collective == Collective::all_reduce && line > 0 &&
                      std::any_of(report.rows.begin(), report.rows.end(),
                                  [&](const ReportedCall& row) { return row.predicted.busbw_gbps() > line; });
    if (!over) return "";
    return fmt::format(
        "# busbw over the {:.4g} GB/s of a domain's NICs: it counts a byte 2 (n-1)/n times, as a ring sends it;\n"
        "# a tree sends it between domains once\n",
        line);
}

struct Errors {
    ErrorSummary ours;
    ErrorSummary closed_form;
};
Errors errors_of(const SweepReport& report) {
    std::vector<double> ours, closed_form;
    for (const auto& [call, finding, measured_us] : report.rows) {
        if (!measured_us) continue;
        ours.push_back(error_percent(call.time(), *measured_us));
        closed_form.push_back(error_percent(call.closed_form, *measured_us));
    }
    return {summarise(ours), summarise(closed_form)};
}

std::string text_of(const SweepReport& report) {
    std::string text = head(report);
    if (!report.measurements)
        return text + to_text(calls_table(report.rows, false)) + over_the_line(report) +
               warning_lines(report.provenance);
    text +=
        fmt::format("# beside {}: {}\n", printable(report.measurements->id), printable(report.measurements->source));
    text += to_text(comparison_table(report.rows));
    const Errors errors = errors_of(report);
    text += fmt::format(
        "# mean |error| over {} sizes: fmsim {:.1f} % (worst {:.1f} %), closed form {:.1f} % "
        "(worst {:.1f} %)\n",
        errors.ours.rows, errors.ours.mean_percent, errors.ours.worst_percent, errors.closed_form.mean_percent,
        errors.closed_form.worst_percent);
    return text + over_the_line(report) + warning_lines(report.provenance);
}

std::string json_of(const SweepReport& report) {
    nlohmann::ordered_json json;
    json["collective"] = name(report.collective);
    json["cluster"] = report.cluster;
    json["ranks"] = report.ranks;
    json["domains"] = report.domains;
    json["fidelity"] = fidelity_name(report.fidelity);
    json["rows"] = to_json(calls_table(report.rows, false));
    if (report.measurements) {
        const Errors errors = errors_of(report);
        json["measurements"] = {{"id", report.measurements->id},
                                {"source", report.measurements->source},
                                {"rows", errors.ours.rows},
                                {"mean_error_percent", errors.ours.mean_percent},
                                {"worst_error_percent", errors.ours.worst_percent},
                                {"closed_form_mean_error_percent", errors.closed_form.mean_percent},
                                {"closed_form_worst_error_percent", errors.closed_form.worst_percent}};
    }
    return json_document(report.provenance, json);
}

}  // namespace

std::string write(const SweepReport& report, Format format) {
    const auto csv_of = [](const SweepReport& r) { return to_csv(calls_table(r.rows, false)); };
    return in_format(format, report, text_of, json_of, csv_of);
}

}  // namespace fmsim
