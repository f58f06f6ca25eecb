// The gate's judgements for people and programs: a table, reasons below it; JSON; Markdown for a summary page.
#include "gate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

// GitHub refuses a step summary of more than 1 MiB; some room for what others add to it.
constexpr std::size_t kMostMarkdown = 1'000'000;

TableCell cell_of(const std::optional<double>& value) { return value ? TableCell{*value} : TableCell{}; }
TableCell words_of(const std::string& text) { return text.empty() ? TableCell{} : TableCell{text}; }

Table gate_table(const GateReport& report) {
    Table table;
    table.columns = {
        {.key = "scenario", .head = "scenario"},
        {.key = "metric", .head = "metric"},
        {.key = "measured", .head = "measured", .digits = 6},
        {.key = "baseline", .head = "baseline", .digits = 6},
        {.key = "difference_percent", .head = "differs", .unit = "(%)", .digits = 4},
        {.key = "limit", .head = "limit", .digits = 6},
        {.key = "verdict", .head = "verdict"},
        {.key = "reason", .head = "", .in_text = false},
        {.key = "allowance", .head = "", .in_text = false},
        {.key = "line", .head = "", .in_text = false},
    };
    for (const Judgement& row : report.judgements)
        table.rows.push_back({row.scenario, row.metric, cell_of(row.measured), row.baseline, cell_of(row.percent()),
                              cell_of(row.limit), std::string(name(row.verdict)), words_of(row.reason),
                              words_of(row.allowance), static_cast<std::int64_t>(row.line)});
    return table;
}

// A table's cell cannot hold a bar, a line's end or a tag.
std::string markdown(const std::string& text) {
    std::string made;
    for (const char c : text) {
        if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[') made += '\\';
        made += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return made;
}

std::string markdown_row(const Judgement& row) {
    const auto percent = row.percent();
    return fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} |\n", markdown(row.scenario), markdown(row.metric),
        figure(row.measured), figure(row.baseline), percent ? percent_text(*percent) : "-", figure(row.limit),
        name(row.verdict),
        markdown(row.reason + (row.allowance.empty() || row.reason.empty() ? "" : "; ") + row.allowance));
}

}  // namespace

GateCounts counts_of(const GateReport& report) {
    GateCounts counts;
    for (const Judgement& row : report.judgements) switch (row.verdict) {
            case Verdict::within:
                ++counts.within;
                break;
            case Verdict::improved:
                ++counts.improved;
                break;
            case Verdict::regressed:
                ++counts.regressed;
                break;
            case Verdict::missing:
                ++counts.missing;
                break;
            case Verdict::allowed:
                ++counts.allowed;
                break;
        }
    return counts;
}

std::string summary_of(const GateReport& report) {
    const GateCounts counts = counts_of(report);
    std::string text;
    const auto add = [&](std::size_t count, const char* what) {
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
    };
    add(counts.regressed, "regressed");
    add(counts.missing, "missing");
    add(counts.allowed, "allowed");
    add(counts.improved, "improved");
    add(counts.within, "within");
    return text.empty() ? "nothing to judge" : text;
}

std::string figure(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "-"; }

std::string sentence_of(const Judgement& row) {
    std::string text = row.metric + " ";
    if (row.measured) {
        const auto percent = row.percent();
        text += fmt::format("{} beside {}{}", figure(row.measured), figure(row.baseline),
                            percent ? fmt::format(" ({})", percent_text(*percent)) : "");
    } else {
        text += fmt::format("missing, beside {}", figure(row.baseline));
    }
    if (row.limit) text += fmt::format(", limit {}", figure(row.limit));
    if (!row.reason.empty()) text += "; " + row.reason;
    if (!row.allowance.empty())
        text += (row.verdict == Verdict::allowed ? "; allowed " : "; allowance ") + row.allowance;
    return text;
}

std::string shortened(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    static constexpr std::string_view kDots = "...";
    std::size_t end = most - kDots.size();
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // within a character
    return text.substr(0, end) + std::string(kDots);
}

std::string gate_text(const GateReport& report) {
    std::string text =
        fmt::format("# {}: {} scenarios, {}\n", printable(report.name), report.scenarios, summary_of(report));
    for (const std::string& change : report.changes) text += fmt::format("# what if {}\n", printable(change));
    text += to_text(gate_table(report));
    for (const Judgement& row : report.judgements)
        if (row.verdict != Verdict::within)
            text += fmt::format("{}: {}: {}\n", name(row.verdict), printable(row.scenario), sentence_of(row));
    return text;
}

std::string gate_json(const GateReport& report) {
    const GateCounts counts = counts_of(report);
    nlohmann::ordered_json json;
    json["suite"] = report.name;
    json["file"] = report.file;
    json["today"] = report.today;
    json["what_if"] = report.changes;
    json["regressed"] = regressed(report.judgements);
    json["counts"] = {{"scenarios", report.scenarios}, {"regressed", counts.regressed}, {"missing", counts.missing},
                      {"allowed", counts.allowed},     {"improved", counts.improved},   {"within", counts.within}};
    json["metrics"] = to_json(gate_table(report));
    return json_document(report.provenance, json);
}

std::string gate_markdown(const GateReport& report) {
    std::string text =
        fmt::format("## {}\n\n{} scenarios: {}.\n\n", markdown(report.name), report.scenarios, summary_of(report));
    for (const std::string& change : report.changes) text += fmt::format("What if {}.\n\n", markdown(change));
    text +=
        "| scenario | metric | measured | baseline | differs | limit | verdict | reason |\n"
        "|---|---|---:|---:|---:|---:|---|---|\n";
    // What failed first, so that a page that is cut keeps it.
    std::vector<const Judgement*> rows;
    for (const Judgement& row : report.judgements) rows.push_back(&row);
    const auto rank = [](Verdict verdict) {
        return verdict == Verdict::within ? 3 : verdict == Verdict::improved ? 2 : verdict == Verdict::allowed ? 1 : 0;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Judgement* a, const Judgement* b) { return rank(a->verdict) < rank(b->verdict); });
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string row = markdown_row(*rows[i]);
        if (text.size() + row.size() > kMostMarkdown)
            return text + fmt::format("\n{} more metrics did not fit on this page.\n", rows.size() - i);
        text += row;
    }
    return text;
}

std::string write(const GateReport& report, GateFormat format) {
    switch (format) {
        case GateFormat::text:
            return gate_text(report);
        case GateFormat::json:
            return gate_json(report);
        case GateFormat::junit:
            return gate_junit(report);
        case GateFormat::sarif:
            return gate_sarif(report);
        case GateFormat::github:
            return gate_github(report);
        case GateFormat::md:
            return gate_markdown(report);
    }
    return {};
}

std::string write(const std::vector<BaselineMove>& moves, const std::string& file) {
    if (moves.empty()) return fmt::format("# {}: all baselines are as they were\n", printable(file));
    Table table;
    table.columns = {{.key = "scenario", .head = "scenario"},
                     {.key = "metric", .head = "metric"},
                     {.key = "before", .head = "baseline", .digits = 6},
                     {.key = "after", .head = "new", .digits = 6},
                     {.key = "difference_percent", .head = "differs", .unit = "(%)", .digits = 4}};
    for (const BaselineMove& move : moves) {
        TableCell percent;
        if (move.before && *move.before != 0) percent = (move.after / *move.before - 1) * 100;
        table.rows.push_back({move.scenario, move.metric, cell_of(move.before), move.after, percent});
    }
    return fmt::format("# {}: {} baseline{} changed\n", printable(file), moves.size(), moves.size() == 1 ? "" : "s") +
           to_text(table);
}

}  // namespace fmsim
