// Two outcomes row by row. Of a row the part that moved most is its reason, with what bounded it before and after.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "fmsim/outcome.hpp"

namespace fmsim {
namespace {

constexpr double kPercent = 100;

std::optional<double> percent_of(double before, double after) {
    if (!(before > 0)) return {};
    return (after / before - 1) * kPercent;
}

double part_of(const OutcomeRow& row, const std::string& name) {
    for (const OutcomePart& part : row.parts)
        if (part.name == name) return part.seconds;
    return 0;
}

// The part whose time differs most, as long as it differs at all.
void find_moved(RowDifference& row) {
    const double whole = std::max(row.before->seconds, row.after->seconds);
    for (const OutcomePart& part : row.after->parts) {
        const double by = part.seconds - part_of(*row.before, part.name);
        if (std::abs(by) <= std::abs(row.moved_seconds) || std::abs(by) <= kSameTime * whole) continue;
        row.moved = part.name;
        row.moved_seconds = by;
    }
}

std::string bound_text(const OutcomeRow& before, const OutcomeRow& after) {
    if (before.limited_by == after.limited_by) return after.limited_by;
    return fmt::format("{} -> {}", before.limited_by.empty() ? "-" : before.limited_by,
                       after.limited_by.empty() ? "-" : after.limited_by);
}

}  // namespace

bool same_time(double a, double b) { return std::abs(a - b) <= kSameTime * std::max(std::abs(a), std::abs(b)); }

std::string how_words(std::string_view algorithm, std::string_view protocol, std::int64_t channels) {
    return fmt::format("{} {} x {}", algorithm, protocol, channels);
}

std::string exchange_words(std::string_view exchange, double megabytes) {
    return fmt::format("{} of {:.4g} MB", exchange, megabytes);
}

std::string percent_text(double percent) {
    if (percent == 0) return "no change";
    const bool tiny = std::abs(percent) < 0.01;
    return tiny ? fmt::format("{:+.1e} %", percent) : fmt::format("{:+.4g} %", percent);
}

std::optional<double> RowDifference::percent() const {
    if (!before || !after) return {};
    return percent_of(before->seconds, after->seconds);
}

std::string RowDifference::reason() const {
    if (!before) return "only after";
    if (!after) return "only before";
    if (same()) return "";
    std::string text;
    const auto add = [&](const std::string& more) {
        if (!more.empty()) text += (text.empty() ? "" : ", ") + more;
    };
    if (!moved.empty()) {
        const auto by = percent_of(part_of(*before, moved), part_of(*after, moved));
        add(by ? fmt::format("{} {}", moved, percent_text(*by)) : fmt::format("{} is new", moved));
    }
    add(bound_text(*before, *after));
    if (before->how != after->how) add(fmt::format("{} -> {}", before->how, after->how));
    return text;
}

std::optional<double> Comparison::percent() const {
    if (!before.seconds || !after.seconds) return {};
    return percent_of(*before.seconds, *after.seconds);
}

bool Comparison::same() const {
    const bool whole = before.seconds.has_value() == after.seconds.has_value() &&
                       (!before.seconds || same_time(*before.seconds, *after.seconds));
    return whole && std::all_of(rows.begin(), rows.end(), [](const RowDifference& row) { return row.same(); });
}

std::string Comparison::reason() const {
    const auto most = std::max_element(rows.begin(), rows.end(), [](const RowDifference& a, const RowDifference& b) {
        return std::abs(a.seconds()) < std::abs(b.seconds());
    });
    if (most == rows.end() || most->same()) return "";
    const std::string why = most->reason();
    return most->name.empty() ? why : fmt::format("{}: {}", most->name, why.empty() ? "its time" : why);
}

Comparison compare(const Outcome& before, const Outcome& after) {
    Comparison made{.before = before, .after = after, .rows = {}};
    std::map<std::string, std::vector<const OutcomeRow*>> left;
    for (const OutcomeRow& row : after.rows) left[row.name].push_back(&row);
    std::map<std::string, std::size_t> met;
    for (const OutcomeRow& row : before.rows) {
        RowDifference difference{.name = row.name, .before = row, .after = {}, .moved = {}};
        const auto same = left.find(row.name);
        const std::size_t count = met[row.name];
        if (same != left.end() && count < same->second.size()) {
            difference.after = *same->second[count];
            ++met[row.name];
            find_moved(difference);
        }
        made.rows.push_back(std::move(difference));
    }
    std::map<std::string, std::size_t> seen;
    for (const OutcomeRow& row : after.rows)
        if (seen[row.name]++ >= met[row.name])
            made.rows.push_back({.name = row.name, .before = {}, .after = row, .moved = {}});
    return made;
}

}  // namespace fmsim
