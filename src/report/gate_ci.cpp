// The gate's judgements for pipelines: JUnit's XML, SARIF 2.1.0, and the annotations of GitHub's workflow commands.
//
// Limits, as GitHub documents them: 10 errors, 10 warnings and 10 notices a step, the rest is dropped; of a SARIF file
// it shows the 5,000 gravest results. What is beyond is counted in the last one.
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "gate.hpp"

namespace fmsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostAnnotations = 10;
constexpr std::size_t kMostMessage = 4000;  // bytes; GitHub shows a page's worth
constexpr std::size_t kMostTitle = 255;
constexpr std::size_t kMostResults = 5000;

// XML 1.0 has no way to write most control characters, and a terminal that shows a log would obey them.
std::string plain_text(const std::string& text) {
    std::string made;
    for (const char c : text) {
        const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
        made += control ? '?' : c;
    }
    return made;
}

bool failed(const Judgement& row) { return row.verdict == Verdict::regressed || row.verdict == Verdict::missing; }

// %, line ends, and in a property also : and ,
std::string command_text(const std::string& text, bool property) {
    std::string made;
    for (const char c : plain_text(text)) {
        const bool escaped = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
        made += escaped ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
    }
    return made;
}

std::string uri_of(const std::string& path) {
    std::string made;
    for (const char c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("-._~/").find(c) != std::string_view::npos;
        made += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return made;
}

struct Rule {
    const char* id;
    const char* says;
    const char* level;
};
// By Verdict; what is within its limits is no result.
constexpr Rule kRules[]{{"within", "A metric is within its limits", "none"},
                        {"improved", "A metric is better than its baseline by more than the tolerance", "note"},
                        {"regressed", "A metric is worse than its baseline by more than the tolerance", "error"},
                        {"missing", "A metric of the baseline was not measured", "error"},
                        {"allowed", "A metric is worse than its limit, which is allowed for a time", "warning"}};
const Rule& rule_of(Verdict verdict) { return kRules[static_cast<std::size_t>(verdict)]; }

Json result_of(const GateReport& report, const Judgement& row) {
    const Rule& rule = rule_of(row.verdict);
    Json result{{"ruleId", rule.id},
                {"ruleIndex", static_cast<int>(row.verdict) - 1},
                {"level", rule.level},
                {"message", {{"text", shortened(row.scenario + ": " + sentence_of(row), kMostMessage)}}},
                {"locations", Json::array({{{"physicalLocation",
                                             {{"artifactLocation", {{"uri", uri_of(report.file)}}},
                                              {"region", {{"startLine", std::max<std::size_t>(row.line, 1)}}}}}}})},
                {"partialFingerprints", {{"fmsimMetric/v1", row.scenario + "/" + row.metric}}}};
    if (row.verdict == Verdict::allowed)
        result["suppressions"] =
            Json::array({{{"kind", "external"}, {"justification", shortened(row.allowance, kMostMessage)}}});
    return result;
}

}  // namespace

std::string gate_junit(const GateReport& report) {
    const GateCounts counts = counts_of(report);
    pugi::xml_document document;
    pugi::xml_node declaration = document.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    const auto count = [](pugi::xml_node node, const char* key, std::size_t value) {
        node.append_attribute(key) = static_cast<unsigned long long>(value);
    };
    pugi::xml_node suites = document.append_child("testsuites");
    pugi::xml_node suite = suites.append_child("testsuite");
    for (pugi::xml_node node : {suites, suite}) {
        node.append_attribute("name") = plain_text(report.name).c_str();
        count(node, "tests", report.judgements.size());
        count(node, "failures", counts.regressed + counts.missing);
        count(node, "errors", 0);
        if (node == suite) count(node, "skipped", counts.allowed);
        node.append_attribute("time") = "0";
    }
    for (const Judgement& row : report.judgements) {
        pugi::xml_node test = suite.append_child("testcase");
        test.append_attribute("classname") = plain_text(row.scenario).c_str();
        test.append_attribute("name") = plain_text(row.metric).c_str();
        test.append_attribute("time") = "0";
        const std::string sentence = plain_text(sentence_of(row));
        if (failed(row)) {
            pugi::xml_node failure = test.append_child("failure");
            failure.append_attribute("message") = sentence.c_str();
            failure.append_attribute("type") = std::string(name(row.verdict)).c_str();
        } else if (row.verdict == Verdict::allowed) {
            test.append_child("skipped").append_attribute("message") = sentence.c_str();
        } else if (row.verdict == Verdict::improved) {
            test.append_child("system-out").text() = sentence.c_str();
        }
    }
    std::ostringstream text;
    document.save(text, "  ", pugi::format_indent, pugi::encoding_utf8);
    return text.str();
}

std::string gate_sarif(const GateReport& report) {
    Json rules = Json::array();
    for (const Rule& rule : kRules)
        if (std::string_view(rule.level) != "none")
            rules.push_back({{"id", rule.id},
                             {"shortDescription", {{"text", rule.says}}},
                             {"defaultConfiguration", {{"level", rule.level}}}});
    Json results = Json::array();
    std::size_t left = 0;
    for (const bool grave : {true, false})
        for (const Judgement& row : report.judgements) {
            if (row.verdict == Verdict::within || failed(row) != grave) continue;
            if (results.size() < kMostResults)
                results.push_back(result_of(report, row));
            else
                ++left;
        }
    if (left > 0)
        results.back()["message"]["text"] = fmt::format("{} more results; this is the last that fits", left + 1);
    const Json driver{{"name", "fmsim"}, {"version", report.provenance.fmsim_version}, {"rules", rules}};
    const Json document{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                        {"version", "2.1.0"},
                        {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", results}}})}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string gate_github(const GateReport& report) {
    std::string text;
    const auto annotate = [&](const char* command, auto is) {
        std::vector<const Judgement*> rows;
        for (const Judgement& row : report.judgements)
            if (is(row)) rows.push_back(&row);
        for (std::size_t i = 0; i < rows.size() && i < kMostAnnotations; ++i) {
            const Judgement& row = *rows[i];
            const bool last = i + 1 == kMostAnnotations && rows.size() > kMostAnnotations;
            const std::string title =
                last ? fmt::format("{} more", rows.size() - i) : fmt::format("{} {}", row.scenario, name(row.verdict));
            const std::string message =
                last ? fmt::format("{} more metrics {}; the whole list is in the log and the other formats",
                                   rows.size() - i, name(row.verdict))
                     : sentence_of(row);
            text += fmt::format("::{} file={},line={},title={}::{}\n", command, command_text(report.file, true),
                                std::max<std::size_t>(row.line, 1), command_text(shortened(title, kMostTitle), true),
                                command_text(shortened(message, kMostMessage), false));
        }
    };
    annotate("error", failed);
    annotate("warning", [](const Judgement& row) { return row.verdict == Verdict::allowed; });
    annotate("notice", [](const Judgement& row) { return row.verdict == Verdict::improved; });
    return text + fmt::format("{}: {}\n", command_text(report.name, false), summary_of(report));
}

}  // namespace fmsim
