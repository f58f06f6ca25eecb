// Suites of the gate: read, and written again with new baselines and nothing else changed.
#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "document.hpp"
#include "fmsim/formats.hpp"
#include "outline.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;
using Json = nlohmann::ordered_json;

constexpr double kPercent = 100, kMicro = 1e-6;
constexpr double kTolerance = 0.01;  // where nobody says
constexpr std::array kWords{"cluster",   "gpus",     "per_domain",    "placement", "fidelity",
                            "algorithm", "protocol", "most_channels", "size"};

// "0.1 %"; the schema has seen that it is one.
double tolerance_at(const Spot& spot) {
    double percent{};
    const std::string text = spot.text();
    std::from_chars(text.data(), text.data() + text.size(), percent);
    return percent / kPercent;
}

// Keys of an object in the order in which the file has them; JSON values keep none.
std::vector<std::string> keys_in_order(const Json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
}

Better better_of(const std::string& metric, const Spot& spot) {
    if (spot.has("better")) {
        for (const Better better : {Better::lower, Better::higher, Better::both})
            if (spot["better"].text() == name(better)) return better;
    }
    const bool time = metric.find("time") != std::string::npos || metric.find("latency") != std::string::npos ||
                      metric.find("memory") != std::string::npos;
    return time ? Better::lower : Better::higher;
}

Outcome before_at(const Spot& spot) {
    Outcome before;
    if (spot.has("time_s")) before.seconds = spot["time_s"].number();
    for (std::size_t i = 0; spot.has("rows") && i < spot["rows"].size(); ++i) {
        const Spot row = spot["rows"][i];
        OutcomeRow made{.name = row["name"].name(), .seconds = row["time_us"].number() * kMicro};
        if (row.has("parts_us"))
            for (const char* part : {kLaunchPart, kWaitingPart, kBytesPart, kComputingPart})
                if (row["parts_us"].has(part)) made.parts.push_back({part, row["parts_us"][part].number() * kMicro});
        if (row.has("limited_by")) made.limited_by = row["limited_by"].name();
        if (row.has("how")) made.how = row["how"].name();
        before.rows.push_back(std::move(made));
    }
    return before;
}

void read_question(GateScenario& scenario, const Spot& spot) {
    const auto text = [&](const char* key) { return spot.has(key) ? spot[key].name() : std::string(); };
    scenario.collective = text("collective");
    scenario.workload = text("workload");
    scenario.results = text("results");
    const auto count = [](const std::string& word) { return word.empty() ? 0 : 1; };
    if (count(scenario.collective) + count(scenario.workload) + count(scenario.results) != 1)
        spot.refuse("expected one of \"collective\", \"workload\" and \"results\"", "");
    if (!scenario.collective.empty()) {
        try {
            parse_collective(scenario.collective);
        } catch (const InputError& error) {
            spot["collective"].refuse(error.problems.front().expected, scenario.collective);
        }
        if (!spot.has("cluster")) spot.refuse("expected a key \"cluster\" beside \"collective\"", "");
        if (!spot.has("size")) spot.refuse("expected a key \"size\" beside \"collective\"", "");
        if (spot.has("size")) scenario.size = to_text(spot["size"].bytes());
    } else if (spot.has("size")) {
        spot["size"].refuse("expected a size only beside \"collective\"");
    }
    for (const char* key : kWords) {
        if (!spot.has(key) || std::string_view(key) == "size") continue;
        if (!scenario.results.empty()) spot[key].refuse("expected no such key beside \"results\"");
        const auto& value = spot[key].json();
        scenario.words.emplace_back(key, value.is_string() ? spot[key].name() : fmt::format("{}", spot[key].count()));
    }
    for (std::size_t i = 0; spot.has("what_if") && i < spot["what_if"].size(); ++i)
        scenario.changes.push_back(spot["what_if"][i].text());
}

GateScenario scenario_at(const Spot& spot, const Json& ordered, double tolerance) {
    GateScenario scenario;
    scenario.name = spot["name"].name();
    scenario.pointer = spot.pointer();
    read_question(scenario, spot);
    for (const std::string& key : keys_in_order(ordered["metrics"])) {
        const Spot metric = spot["metrics"][key];
        if (has_control_characters(key)) metric.refuse("expected a name without control characters", key);
        GateMetric made{.name = key,
                        .better = better_of(key, metric),
                        .tolerance = metric.has("tolerance") ? tolerance_at(metric["tolerance"]) : tolerance,
                        .baseline = {}};
        if (metric.has("baseline") && metric["baseline"].json().is_number())
            made.baseline = metric["baseline"].number();
        scenario.metrics.push_back(std::move(made));
    }
    if (spot.has("before")) scenario.before = before_at(spot["before"]);
    return scenario;
}

// Each metric's line, for those who point at it.
void add_metric_lines(GateSuite& suite, std::string_view text) {
    std::vector<Problem> places;
    for (const GateScenario& scenario : suite.scenarios)
        for (const GateMetric& metric : scenario.metrics) {
            std::string key;
            for (const char c : metric.name) key += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
            places.push_back({suite.file, 0, scenario.pointer + "/metrics/" + key, "", ""});
        }
    add_lines(places, text);
    std::size_t at = 0;
    for (GateScenario& scenario : suite.scenarios)
        for (GateMetric& metric : scenario.metrics) metric.line = places[at++].line;
}

void read_allowances(GateSuite& suite, const Spot& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Spot spot = list[i];
        GateAllowance allowance{.scenario = spot["scenario"].text(),
                                .metric = spot.has("metric") ? spot["metric"].text() : "",
                                .reason = spot["reason"].name(),
                                .until = spot["until"].text()};
        const auto named = std::find_if(suite.scenarios.begin(), suite.scenarios.end(),
                                        [&](const GateScenario& known) { return known.name == allowance.scenario; });
        if (named == suite.scenarios.end()) {
            std::vector<std::string> names;
            for (const GateScenario& known : suite.scenarios) names.push_back(known.name);
            const auto meant = nearest(allowance.scenario, names);
            spot["scenario"].refuse(
                fmt::format("expected the name of a scenario{}", meant ? fmt::format(", such as \"{}\"", *meant) : ""));
        } else if (!allowance.metric.empty() &&
                   std::none_of(named->metrics.begin(), named->metrics.end(),
                                [&](const GateMetric& metric) { return metric.name == allowance.metric; })) {
            spot["metric"].refuse("expected a metric of that scenario");
        }
        suite.allow.push_back(std::move(allowance));
    }
}

Json outcome_json(const Outcome& outcome) {
    Json json = Json::object();
    if (outcome.seconds) json["time_s"] = *outcome.seconds;
    json["rows"] = Json::array();
    for (const OutcomeRow& row : outcome.rows) {
        Json made{{"name", row.name}, {"time_us", row.seconds / kMicro}};
        for (const OutcomePart& part : row.parts) made["parts_us"][part.name] = part.seconds / kMicro;
        if (!row.limited_by.empty()) made["limited_by"] = row.limited_by;
        if (!row.how.empty()) made["how"] = row.how;
        json["rows"].push_back(std::move(made));
    }
    return json;
}

}  // namespace

GateSuite parse_suite(std::string_view text, const std::string& file) {
    Document document(text, file, "suite");
    const Json ordered = Json::parse(text);
    const Spot root = document.root();
    GateSuite suite{.name = root.has("name") ? root["name"].name() : file, .file = file};
    const double tolerance = root.has("tolerance") ? tolerance_at(root["tolerance"]) : kTolerance;
    std::set<std::string> names;
    for (std::size_t i = 0; i < root["scenarios"].size(); ++i) {
        const Spot spot = root["scenarios"][i];
        suite.scenarios.push_back(scenario_at(spot, ordered["scenarios"][i], tolerance));
        if (!names.insert(suite.scenarios.back().name).second)
            spot["name"].refuse("expected a name of its own for each scenario");
    }
    if (root.has("allow")) read_allowances(suite, root["allow"]);
    if (root.has("facts"))
        for (const std::string& machine : keys_in_order(ordered["facts"]))
            for (const std::string& fact : keys_in_order(ordered["facts"][machine]))
                suite.facts[machine].emplace_back(fact, root["facts"][machine][fact].text());
    document.finish();
    add_metric_lines(suite, text);
    return suite;
}

std::map<std::string, double> parse_results(std::string_view text, const std::string& file) {
    if (auto problems = outline_problems(text, file); !problems.empty()) throw InputError(std::move(problems));
    const nlohmann::json value = nlohmann::json::parse(text);
    std::map<std::string, double> results;
    if (!value.is_object())
        throw InputError({{file, 1, "", "expected an object with a number a metric", "another value"}});
    const nlohmann::json flat = value.flatten();
    for (const auto& [pointer, number] : flat.items())
        if (number.is_number()) results[pointer.substr(1)] = number.get<double>();
    return results;
}

std::string updated_suite(std::string_view text, const std::string& file, const std::vector<BaselineUpdate>& updates,
                          const std::map<std::string, Words>& facts) {
    parse_suite(text, file);  // refuses what is no suite
    const Json written = Json::parse(text);
    Json json = written;
    for (std::size_t i = 0; i < updates.size(); ++i) {
        Json& scenario = json["scenarios"][i];
        for (auto& [key, metric] : scenario["metrics"].items()) {
            const auto value = updates[i].values.find(key);
            if (value != updates[i].values.end()) metric["baseline"] = value->second;
        }
        if (updates[i].before) {
            Json made = outcome_json(*updates[i].before);
            if (scenario.contains("before"))  // the user's own keys stay
                for (const auto& [key, value] : scenario["before"].items())
                    if (key.starts_with("x-")) made[key] = value;
            scenario["before"] = std::move(made);
        }
    }
    for (const auto& [machine, words] : facts) {
        Json made = Json::object();
        for (const auto& [key, value] : words) made[key] = value;
        json["facts"][machine] = std::move(made);
    }
    return json == written ? std::string(text) : json.dump(2) + "\n";
}

}  // namespace fmsim
