// Why a metric moved is found by asking again: with each fact of the machine that differs from the stored one set back,
// alone. How far the metric goes back is that fact's share.
#include "check_run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fmsim::cli {
namespace {

using Values = std::map<std::string, double>;

constexpr double kPercent = 100, kGiB = 1073741824;
constexpr double kLeastShare = 0.01;    // of a move, to be told of
constexpr std::size_t kMostTold = 3;    // facts in one reason
constexpr std::size_t kMostFacts = 64;  // that differ and are each tried

void add_call(Values& values, const std::string& prefix, const CallPrediction& call) {
    values[prefix + "time_us"] = microseconds(call.time());
    if (!call.collective && call.kind != "send") return;
    values[prefix + "algbw_GBps"] = call.algbw_gbps();
    values[prefix + "busbw_GBps"] = call.busbw_gbps();
}

Values values_of(const Answer& answer) {
    Values values;
    if (answer.sweep) add_call(values, "", answer.sweep->rows.front().predicted);
    if (answer.run) {
        values["time_s"] = seconds(answer.run->end);
        for (const ReportedCall& call : answer.run->operations)
            add_call(values, call.predicted.call.name + "/", call.predicted);
    }
    if (answer.step) {
        double memory = 0;
        for (const StagePrediction& stage : answer.step->stages) memory = std::max(memory, stage.memory.all());
        values["time_s"] = answer.step->seconds;
        values["tokens_per_s_per_gpu"] = answer.step->tokens_per_second_gpu;
        values["mfu"] = answer.step->mfu;
        values["memory_gib"] = memory / kGiB;
    }
    return values;
}

std::string beside(const GateSuite& suite, const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(suite.file).parent_path();
    return std::filesystem::path(path).is_absolute() || folder.empty() ? path : (folder / path).string();
}

Ask question_of(const GateSuite& suite, const GateScenario& scenario) {
    if (!scenario.collective.empty()) {
        const SweepQuestion question{.collective = parse_collective(scenario.collective),
                                     .sizes = {parse_bytes(scenario.size).value_or(Bytes{})}};
        return [question](const ScenarioOptions& options) { return ask_sweep(question, options); };
    }
    const std::string file = beside(suite, scenario.workload);
    const FileQuestion question{read_file(file), file};
    return [question](const ScenarioOptions& options) { return ask_file(question, options); };
}

ScenarioOptions options_of(const GateSuite& suite, const GateScenario& scenario, const ScenarioOptions& base) {
    ScenarioOptions options;
    options.catalogue = base.catalogue;
    for (const auto& [key, value] : scenario.words) {
        const bool file = key == "cluster" && value.ends_with(".json");
        options = with_changes(options, {parse_change(key + "=" + (file ? beside(suite, value) : value))});
    }
    return with_changes(options, parse_changes(scenario.changes));
}

bool fits(const Change& change, const Cluster& cluster) {
    if (is_scenario_word(change)) return true;
    try {
        changed(cluster, change);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

std::string machine_of(const Cluster& cluster) { return cluster.name.substr(0, cluster.name.find(':')); }

Words words_of(const std::vector<ClusterFact>& facts) {
    Words words;
    for (const ClusterFact& fact : facts) words.emplace_back(fact.name, fact.value);
    return words;
}

// "efa.latency.LL" -> "EFA latency (LL)"
std::string spoken(const std::string& fact) {
    static const std::map<std::string, std::string> kThings{{"efa", "EFA"},           {"infiniband", "InfiniBand"},
                                                            {"roce", "RoCE"},         {"nvlink", "NVLink"},
                                                            {"nvswitch", "NVSwitch"}, {"pcie", "PCIe"},
                                                            {"numa", "NUMA"},         {"gpu", "GPU"}};
    const std::size_t dot = fact.find('.'), second = fact.find('.', dot + 1);
    const std::string thing = fact.substr(0, dot);
    const auto known = kThings.find(thing);
    std::string property = fact.substr(dot + 1, second == std::string::npos ? second : second - dot - 1);
    std::replace(property.begin(), property.end(), '_', ' ');
    return fmt::format("{} {}{}", known == kThings.end() ? thing : known->second, property,
                       second == std::string::npos ? "" : fmt::format(" ({})", fact.substr(second + 1)));
}

struct Moved {
    const GateMetric* metric;
    double value;
};

// A fact that differs, and the values with the stored one.
struct Restored {
    std::string words;
    Values values;
};

std::vector<Restored> restored(const Words& stored, const Words& now, const Ask& ask, const ScenarioOptions& options) {
    std::vector<Restored> all;
    for (const auto& [fact, value] : stored) {
        const auto current =
            std::find_if(now.begin(), now.end(), [&name = fact](const auto& row) { return row.first == name; });
        if (current == now.end() || current->second == value || all.size() == kMostFacts) continue;
        try {
            const Change back = parse_change(fact + "=" + value);
            all.push_back({fmt::format("{} {} -> {}", spoken(fact), value, current->second),
                           values_of(ask(with_changes(options, {back})))});
        } catch (const std::runtime_error&) {
            continue;  // it cannot be asked back: the fact is of no help
        }
    }
    return all;
}

std::string facts_reason(const std::vector<Restored>& facts, const Moved& moved) {
    std::vector<std::pair<double, std::string>> shares;
    for (const Restored& fact : facts) {
        const auto value = fact.values.find(moved.metric->name);
        if (value == fact.values.end()) continue;
        const double share = (moved.value - value->second) / (moved.value - *moved.metric->baseline);
        if (share > kLeastShare) shares.emplace_back(share, fact.words);
    }
    std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (std::size_t i = 0; i < shares.size() && i < kMostTold; ++i)
        text +=
            fmt::format("{}{} makes {:.0f} % of it", i == 0 ? "" : ", ", shares[i].second, shares[i].first * kPercent);
    if (shares.size() > kMostTold) text += fmt::format(", and {} more", shares.size() - kMostTold);
    return text;
}

class ScenarioRun {
public:
    ScenarioRun(const GateSuite& suite, const GateScenario& scenario, const std::vector<Change>& changes,
                const ScenarioOptions& base, std::vector<bool>& used)
        : suite_(suite), scenario_(scenario), changes_(changes), base_(base), used_(used) {}

    void run(SuiteRun& all) {
        GateMeasured& measured = all.measured.emplace_back();
        BaselineUpdate& update = all.updates.emplace_back();
        if (!scenario_.results.empty()) {
            const std::string file = beside(suite_, scenario_.results);
            measured.values = parse_results(read_file(file), file);
        } else {
            predict(measured, update, all.facts);
        }
        for (const GateMetric& metric : scenario_.metrics)
            if (const auto value = measured.values.find(metric.name); value != measured.values.end())
                update.values.insert(*value);
    }

private:
    void predict(GateMeasured& measured, BaselineUpdate& update, std::map<std::string, Words>& facts) {
        const Ask ask = question_of(suite_, scenario_);
        const ScenarioOptions sound = options_of(suite_, scenario_, base_);
        ScenarioOptions options = sound;
        std::vector<std::string> words;
        if (!changes_.empty()) {
            const Cluster cluster = ask(sound).cluster;
            for (std::size_t i = 0; i < changes_.size(); ++i) {
                if (!fits(changes_[i], cluster)) continue;
                used_[i] = true;
                options = with_changes(options, {changes_[i]});
                words.push_back(changes_[i].text);
            }
        }
        try {
            const Answer answer = ask(options);
            measured.values = values_of(answer);
            check_names(measured.values);
            const Words now = words_of(facts_of(answer.cluster));
            facts[machine_of(answer.cluster)] = now;
            update.before = answer.outcome;
            add_reasons(measured, answer, now, ask, options, words);
        } catch (const Infeasible& error) {
            measured.failed = error.what();
        }
    }

    void check_names(const Values& values) const {
        std::vector<Problem> problems;
        std::vector<std::string> names;
        for (const auto& [name, value] : values) names.push_back(name);
        for (const GateMetric& metric : scenario_.metrics) {
            if (values.contains(metric.name)) continue;
            const auto meant = nearest(metric.name, names);
            problems.push_back({suite_.file, metric.line, scenario_.pointer + "/metrics",
                                meant ? fmt::format("no such metric; did you mean \"{}\"?", *meant)
                                      : fmt::format("expected one of {}", fmt::join(names, ", ")),
                                metric.name});
        }
        if (!problems.empty()) throw InputError(std::move(problems));
    }

    void add_reasons(GateMeasured& measured, const Answer& answer, const Words& now, const Ask& ask,
                     const ScenarioOptions& options, const std::vector<std::string>& words) const {
        std::vector<Moved> moved;
        for (const GateMetric& metric : scenario_.metrics)
            if (metric.baseline && std::abs(measured.values.at(metric.name) - *metric.baseline) >
                                       metric.tolerance * std::abs(*metric.baseline))
                moved.push_back({&metric, measured.values.at(metric.name)});
        if (moved.empty()) return;
        const auto stored = suite_.facts.find(machine_of(answer.cluster));
        std::vector<Restored> facts;
        if (stored != suite_.facts.end()) facts = restored(stored->second, now, ask, options);
        std::string parts;
        if (scenario_.before) parts = compare(*scenario_.before, answer.outcome).reason();
        for (const Moved& one : moved) {
            std::string reason = facts_reason(facts, one);
            const auto add = [&](const std::string& more) {
                if (!more.empty()) reason += (reason.empty() ? "" : "; ") + more;
            };
            if (reason.empty() && words.empty())
                add("no fact of the machine makes it: the model, or other constants, changed");
            add(parts);
            if (!words.empty()) add(fmt::format("with {}", fmt::join(words, ", ")));
            measured.reasons[one.metric->name] = reason;
        }
    }

    const GateSuite& suite_;
    const GateScenario& scenario_;
    const std::vector<Change>& changes_;
    const ScenarioOptions& base_;
    std::vector<bool>& used_;
};

}  // namespace

SuiteRun run_suite(const GateSuite& suite, const std::vector<Change>& changes, const ScenarioOptions& options) {
    SuiteRun all;
    std::vector<bool> used(changes.size());
    for (const GateScenario& scenario : suite.scenarios) ScenarioRun(suite, scenario, changes, options, used).run(all);
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < changes.size(); ++i)
        if (!used[i])
            problems.push_back({"--what-if", 0, "'" + printable(changes[i].text) + "'",
                                "no scenario's cluster has what it is about", ""});
    if (!problems.empty()) throw InputError(std::move(problems));
    return all;
}

}  // namespace fmsim::cli
