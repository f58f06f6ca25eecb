// Why a run takes what it takes, in lines that fit a narrow terminal.
#include <cmath>

#include <fmt/format.h>

#include "calls.hpp"

namespace fmsim {
namespace {

constexpr std::size_t kWidth = 78;
constexpr std::size_t kDepth = 2;   // shown without being asked
constexpr double kSmallest = 2e-3;  // of the run: smaller nodes are counted
constexpr double kMega = 1e6, kGiga = 1e9, kPercent = 100;

std::string time_text(double seconds) {
    const double size = std::abs(seconds);
    if (size >= 1) return fmt::format("{:.4g} s", seconds);
    if (size >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
    return fmt::format("{:.4g} us", seconds * kMega);
}

std::string bytes_text(double bytes) {
    if (bytes >= kGiga) return fmt::format("{:.3g} GB", bytes / kGiga);
    if (bytes >= 1e6) return fmt::format("{:.3g} MB", bytes / 1e6);
    return fmt::format("{:.0f} bytes", bytes);
}

// Words in lines of kWidth behind `indent` places; the first line starts with `first`, as wide as the indent.
std::string wrapped(const std::string& text, std::size_t indent, const std::string& first = "") {
    std::string all, line = first + std::string(indent - std::min(indent, first.size()), ' ');
    bool empty = true;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t space = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, space - at);
        if (!empty && line.size() + 1 + word.size() > kWidth) {
            all += line + "\n";
            line = std::string(indent, ' ');
            empty = true;
        }
        line += (empty ? "" : " ") + word;
        empty = false;
        at = space + 1;
    }
    return all + line + "\n";
}

class Text {
public:
    explicit Text(const WhyReport& report) : report_(report) {}

    std::string all() {
        text_ = fmt::format("# {}: {}\n", printable(report_.title), time_text(report_.seconds));
        if (!report_.focus.empty()) {
            if (const WhyNode* const node = find(report_.tree, report_.focus)) add(*node, 0, true);
            return text_;
        }
        add(report_.tree, 0, false);
        add_saturated();
        add_levers();
        add_use();
        return text_;
    }

private:
    double share(double seconds) const { return report_.seconds > 0 ? kPercent * seconds / report_.seconds : 0; }

    void add(const WhyNode& node, std::size_t depth, bool whole) {
        const std::size_t indent = 2 * depth + (node.id.empty() ? 0 : node.id.size() + 2);
        const std::string first = std::string(2 * depth, ' ') + node.id;
        text_ += wrapped(node.title, indent, first);
        std::string figures = fmt::format("{}, {:.3g} %", time_text(node.seconds), share(node.seconds));
        if (node.bound_s && *node.bound_s > 0) figures += "; closed form " + time_text(*node.bound_s);
        text_ += wrapped(figures, indent);
        if (whole) {
            if (!node.rule.empty()) text_ += wrapped("rule: " + node.rule, indent);
            if (!node.bound_rule.empty()) text_ += wrapped("closed form: " + node.bound_rule, indent);
            for (const WhyInput& input : node.inputs) add(input, indent);
        }
        for (const WhyAlternative& other : node.alternatives) add(other, indent);
        if (!whole && depth + 1 > kDepth) return;
        std::size_t small = 0;
        double together = 0;
        for (const WhyNode& child : node.children) {
            if (whole || std::abs(child.seconds) >= kSmallest * report_.seconds) {
                add(child, depth + 1, whole);
                continue;
            }
            ++small;
            together += child.seconds;
        }
        if (small > 0)
            text_ += wrapped(fmt::format("{} more, {}, {:.2g} %", small, time_text(together), share(together)),
                             2 * depth + 2);
    }
    void add(const WhyInput& input, std::size_t indent) {
        std::string line = fmt::format("{} = {}", input.name, input.value);
        if (!input.confidence.empty()) line += fmt::format(" (confidence {})", input.confidence);
        if (!input.source.empty()) line += "; " + input.source;
        text_ += wrapped(line, indent + 2, std::string(indent, ' ') + "-");
    }
    void add(const WhyAlternative& other, std::size_t indent) {
        text_ += wrapped(other.why.empty() ? fmt::format("with {}: {} in all, {:+.3g} %", other.what,
                                                         time_text(other.seconds), share(other.seconds) - kPercent)
                                           : fmt::format("with {}: {}", other.what, printable(other.why)),
                         indent + 2, std::string(indent, ' ') + "-");
    }
    void add_saturated() {
        if (report_.saturated.empty()) return;
        text_ += "# sets the pace: its share of the critical time\n";
        for (const auto& [name, call, found] : report_.saturated)
            text_ += wrapped(fmt::format("{}, {:.3g} % busy during {}{}", name, kPercent * found.busy, printable(call),
                                         found.alike > 1 ? fmt::format("; {} more alike", found.alike - 1) : ""),
                             8, fmt::format("{:5.1f} %", share(seconds(found.critical))));
    }
    void add_levers() {
        if (report_.levers.empty()) return;
        text_ += "# a hundredth cheaper, choices pinned: what it saves of the run\n";
        for (const Lever& lever : report_.levers) {
            std::string line(name(lever.cause));
            if (lever.no_effect) {
                line += ": no effect: ";
                line += lever.amount <= 0 ? (lever.cause <= Cause::network ? "0 bytes" : "it does not come up")
                        : lever.cause <= Cause::network ? bytes_text(lever.amount) + ", never waited for"
                                                        : time_text(lever.amount) + " in all, never waited for";
                text_ += wrapped(line, 10, "       -");
                continue;
            }
            if (lever.kink)
                line += fmt::format("; at a kink: a hundredth dearer costs {:.3g} %", share(lever.dearer) / kPercent);
            if (lever.room > 1 && lever.room < 1.005)
                line += "; for less than a hundredth";
            else if (lever.then)
                line += fmt::format("; up to {:.3g} times, {}; then {}", lever.room,
                                    time_text(seconds(lever.end_there)), name(*lever.then));
            else if (lever.room > 1 && std::isfinite(lever.room))
                line += fmt::format("; up to {:.3g} times, {}", lever.room, time_text(seconds(lever.end_there)));
            else if (lever.room > 1)
                line += "; nothing else in the way up to 64 times";
            text_ += wrapped(line, 10, fmt::format("{:6.3f} %", share(lever.cheaper) / kPercent));
        }
    }
    void add_use() {
        if (report_.use.empty()) return;
        text_ += "# links over the run, in tenths of their rate (9: over nine)\n";
        const auto digits = [](const std::vector<double>& parts) {
            std::string line;
            for (const double part : parts) line += part <= 0 ? '.' : static_cast<char>('0' + std::min(9.0, part * 10));
            return line;
        };
        for (const UseOverTime& use : report_.use) {
            text_ += fmt::format("  {:<10} busiest  {}\n", use.kind, digits(use.busiest));
            text_ += fmt::format("  {:<10} mean     {}\n", "", digits(use.mean));
        }
    }

    const WhyReport& report_;
    std::string text_;
};

nlohmann::ordered_json json_of(const WhyNode& node) {
    nlohmann::ordered_json json;
    json["id"] = node.id;
    json["title"] = node.title;
    json["time_s"] = node.seconds;
    if (node.bound_s) json["closed_form_s"] = *node.bound_s;
    if (!node.bound_rule.empty()) json["closed_form_rule"] = node.bound_rule;
    json["rule"] = node.rule;
    json["inputs"] = nlohmann::ordered_json::array();
    for (const WhyInput& input : node.inputs)
        json["inputs"].push_back(
            {{"name", input.name}, {"value", input.value}, {"confidence", input.confidence}, {"source", input.source}});
    if (!node.alternatives.empty()) json["alternatives"] = nlohmann::ordered_json::array();
    for (const WhyAlternative& other : node.alternatives) {
        nlohmann::ordered_json one{{"what", other.what}};
        if (other.why.empty())
            one["time_s"] = other.seconds;
        else
            one["refused"] = other.why;
        json["alternatives"].push_back(one);
    }
    json["children"] = nlohmann::ordered_json::array();
    for (const WhyNode& child : node.children) json["children"].push_back(json_of(child));
    return json;
}

nlohmann::ordered_json json_of(const Lever& lever) {
    nlohmann::ordered_json json;
    json["cause"] = key(lever.cause);
    json["slope_s"] = lever.slope;  // for each e-fold of its cost: a hundredth of it for 1 %
    json["kink"] = lever.kink;
    json["slope_cheaper_s"] = lever.cheaper;
    json["slope_dearer_s"] = lever.dearer;
    json["no_effect"] = lever.no_effect;
    json[lever.cause <= Cause::network ? "bytes" : "amount_s"] = lever.amount;
    json["room"] = std::isfinite(lever.room) && lever.room > 0 ? nlohmann::ordered_json(lever.room) : nullptr;
    json["time_there_s"] = seconds(lever.end_there);
    json["then"] = lever.then ? nlohmann::ordered_json(key(*lever.then)) : nullptr;
    return json;
}

std::string json_of(const WhyReport& report) {
    nlohmann::ordered_json json;
    json["run"] = report.title;
    json["time_s"] = report.seconds;
    const WhyNode* const node = report.focus.empty() ? &report.tree : find(report.tree, report.focus);
    json["tree"] = json_of(*node);
    json["saturated"] = nlohmann::ordered_json::array();
    for (const auto& [name, call, found] : report.saturated)
        json["saturated"].push_back({{"resource", name},
                                     {"during", call},
                                     {"busy", found.busy},
                                     {"alike", found.alike},
                                     {"critical_s", seconds(found.critical)}});
    json["levers"] = nlohmann::ordered_json::array();
    for (const Lever& lever : report.levers) json["levers"].push_back(json_of(lever));
    json["utilisation"] = nlohmann::ordered_json::array();
    for (const UseOverTime& use : report.use)
        json["utilisation"].push_back({{"kind", use.kind}, {"mean", use.mean}, {"busiest", use.busiest}});
    return json_document(report.provenance, json);
}

void add_rows(const WhyNode& node, Table& table) {
    table.rows.push_back({node.id, node.title, node.seconds, node.bound_s ? TableCell{*node.bound_s} : TableCell{}});
    for (const WhyNode& child : node.children) add_rows(child, table);
}

std::string csv_of(const WhyReport& report) {
    Table table;
    table.columns = {{.key = "id", .head = ""},
                     {.key = "title", .head = ""},
                     {.key = "time_s", .head = ""},
                     {.key = "closed_form_s", .head = ""}};
    add_rows(report.focus.empty() ? report.tree : *find(report.tree, report.focus), table);
    return to_csv(table);
}

}  // namespace

std::string write(const WhyReport& report, Format format) {
    return in_format(
        format, report, [](const WhyReport& r) { return Text(r).all(); }, [](const WhyReport& r) { return json_of(r); },
        csv_of);
}

}  // namespace fmsim
