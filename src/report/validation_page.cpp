// The errors as a page of documentation, and predicted against measured as a picture.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "fmsim/report.hpp"

namespace fmsim {
namespace {

std::string band_line(const BandScore& band, const std::string& machine, const std::string& collective) {
    return fmt::format("| {} | {} | {} | {} | {} | {:.1f} | {:.1f} | {:.1f} | {:+.1f} | {:.1f} | {:.1f} |\n", machine,
                       collective, band.large ? ">= 1 MiB" : "< 1 MiB", band.rows, band.sources, band.model.median,
                       band.model.p90, band.model.worst, band.model.bias, band.fit.median, band.fit.p90);
}

// Tables whose median is this far off are named.
constexpr double kFarOff = 25;

// `why` is said of those named among the tables that are out of reach.
std::string far_off(const ValidationReport& report) {
    std::map<std::string, std::vector<const ValidatedRow*>> tables;
    for (const ValidatedRow& row : report.rows)
        if (row.scored) tables[row.table].push_back(&row);
    std::string lines;
    for (const auto& [table, rows] : tables) {
        std::vector<double> errors;
        std::string said;
        for (const ValidatedRow* row : rows) errors.push_back((*row->predicted_us / row->measured_us - 1) * 100);
        for (const OutOfReachErrors& one : report.out_of_reach)
            if (std::any_of(rows.begin(), rows.end(), [&](const auto* row) { return is_said(one.said, *row); }))
                said = one.said.what;
        const ErrorQuantiles of = quantiles_of(errors);
        if (of.median >= kFarOff)
            lines +=
                fmt::format("| {} | {} | {:.0f} | {:+.0f} | {} |\n", table, errors.size(), of.median, of.bias, said);
    }
    return lines;
}

// ---- The picture: decades of microseconds, one colour a machine. ----

constexpr double kFirstDecade = 0, kLastDecade = 6, kSide = 640, kMargin = 60;
constexpr std::array<const char*, 12> kColours{"#1b6ca8", "#c0392b", "#27824a", "#8e44ad", "#b9770e", "#117a8b",
                                               "#7f8c8d", "#d35487", "#4a4a4a", "#6b8e23", "#a0522d", "#2e4a9e"};

double along(double us) {
    const double decade = std::clamp(std::log10(us), kFirstDecade, kLastDecade);
    return kMargin + (decade - kFirstDecade) / (kLastDecade - kFirstDecade) * kSide;
}
double up(double us) { return 2 * kMargin + kSide - along(us); }

std::string line(double x1, double y1, double x2, double y2, const char* style) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}
std::string label(double x, double y, std::string_view anchor, std::string_view text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
}

std::string axes() {
    std::string svg;
    for (double decade = kFirstDecade; decade <= kLastDecade; ++decade) {
        const double us = std::pow(10, decade), first = std::pow(10, kFirstDecade), last = std::pow(10, kLastDecade);
        svg += line(along(us), up(first), along(us), up(last), "stroke=\"#ddd\"");
        svg += line(along(first), up(us), along(last), up(us), "stroke=\"#ddd\"");
        svg += label(along(us), up(first) + 18, "middle", fmt::format("{:.0f}", us));
        svg += label(along(first) - 6, up(us) + 4, "end", fmt::format("{:.0f}", us));
    }
    const double first = std::pow(10, kFirstDecade), last = std::pow(10, kLastDecade);
    for (const double factor : {0.8, 1.0, 1.25})
        svg += line(along(first), up(first * factor), along(last), up(last * factor),
                    factor == 1 ? "stroke=\"#444\"" : "stroke=\"#888\" stroke-dasharray=\"4 4\"");
    svg += label(kMargin + kSide / 2, 2 * kMargin + kSide - 14, "middle", "measured, us");
    svg += fmt::format(
        "<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\">predicted, us</text>\n",
        kMargin + kSide / 2);
    return svg;
}

}  // namespace

std::string to_markdown(const ValidationReport& report, const std::string& picture) {
    std::size_t scored = 0;
    for (const ValidatedRow& row : report.rows) scored += row.scored;
    std::string page = fmt::format(
        "# Accuracy\n\nWritten by `bench/accuracy` (`fmsim validate DIR --page`): {} published tables, {} rows, of "
        "which {} count. Errors "
        "are of time, in percent: |predicted / measured - 1|. Beside the model stands the plainest one, latency + "
        "bytes "
        "/ bandwidth, whose two parameters were fitted to the very rows of the machine and operation.\n\n"
        "![predicted against measured; the dashed lines are 25 % off]({})\n\n",
        report.tables, report.rows.size(), scored, picture);
    page += targets_markdown(report) + out_of_reach_markdown(report) + "## By machine and operation\n\n";
    page +=
        "| machine | collective | sizes | rows | sources | median | 90th | worst | bias | line: median | line: 90th "
        "|\n|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const BandScore& band : report.score.bands) page += band_line(band, band.machine, band.collective);
    for (const auto& mean : {report.score.small, report.score.large})
        if (mean) page += band_line(*mean, "**mean**", "of the above");
    page += fmt::format(
        "\n## Tables that are far off\n\nTheir median error is {:.0f} % or more.\n\n"
        "| table | rows | median | bias | among those out of reach |\n|---|---|---|---|---|\n{}",
        kFarOff, far_off(report));
    return page + experts_markdown(report);
}

std::string to_svg(const std::vector<ValidatedRow>& rows) {
    const double size = 2 * kMargin + kSide;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"white\"/>\n",
        size, size);
    svg += axes();
    std::map<std::string, std::size_t> machines;
    for (const ValidatedRow& row : rows)
        if (row.scored) machines.emplace(row.machine, machines.size());
    for (const ValidatedRow& row : rows)
        if (row.scored)
            svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.6\" fill=\"{}\"/>\n", along(row.measured_us),
                               up(*row.predicted_us), kColours[machines.at(row.machine) % kColours.size()]);
    double y = kMargin + 14;
    for (const auto& [machine, number] : machines) {
        svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", kMargin + 14, y - 4,
                           kColours[number % kColours.size()]);
        svg += label(kMargin + 24, y, "start", machine);
        y += 16;
    }
    return svg + "</svg>\n";
}

}  // namespace fmsim
