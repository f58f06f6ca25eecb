// A metric against its limits. With a baseline of 1081.357, a tolerance of 10 % and higher being better the floor is
// 973.221: 973.221 passes, 961.963 does not.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "fmsim/gate.hpp"

namespace fmsim {
namespace {

constexpr double kPercent = 100;
// A limit is a product of decimals in binary: what is on it may come out beyond it by so much of it.
constexpr double kOnTheLimit = 1e-12;

struct Limits {
    double floor{}, ceiling{};
};
Limits limits_of(const GateMetric& metric) {
    const double room = std::abs(*metric.baseline) * metric.tolerance;
    return {*metric.baseline - room, *metric.baseline + room};
}
bool below(double value, double limit) { return value < limit - std::abs(limit) * kOnTheLimit; }
bool above(double value, double limit) { return value > limit + std::abs(limit) * kOnTheLimit; }

bool better(const GateMetric& metric, double measured) {
    const Limits limits = limits_of(metric);
    return (metric.better == Better::lower && below(measured, limits.floor)) ||
           (metric.better == Better::higher && above(measured, limits.ceiling));
}

double limit_of(const GateMetric& metric, double measured) {
    const Limits limits = limits_of(metric);
    if (metric.better == Better::lower) return limits.ceiling;
    if (metric.better == Better::higher) return limits.floor;
    return measured < *metric.baseline ? limits.floor : limits.ceiling;
}

const GateAllowance* allowance_of(const GateSuite& suite, const Judgement& judgement) {
    const auto found = std::find_if(suite.allow.begin(), suite.allow.end(), [&](const GateAllowance& allowance) {
        return allowance.scenario == judgement.scenario &&
               (allowance.metric.empty() || allowance.metric == judgement.metric);
    });
    return found == suite.allow.end() ? nullptr : &*found;
}

Judgement judged(const GateScenario& scenario, const GateMetric& metric, const GateMeasured& measured) {
    Judgement judgement{.scenario = scenario.name,
                        .metric = metric.name,
                        .verdict = Verdict::within,
                        .measured = {},
                        .baseline = *metric.baseline,
                        .limit = {},
                        .reason = "",
                        .allowance = "",
                        .line = metric.line};
    const auto value = measured.values.find(metric.name);
    if (value == measured.values.end() || !std::isfinite(value->second)) {
        judgement.verdict = Verdict::missing;
        judgement.reason = measured.failed.empty() ? "the results have no such metric" : measured.failed;
        judgement.limit = limit_of(metric, *metric.baseline);
        return judgement;
    }
    judgement.measured = value->second;
    judgement.limit = limit_of(metric, value->second);
    if (worse(metric, value->second))
        judgement.verdict = Verdict::regressed;
    else if (better(metric, value->second))
        judgement.verdict = Verdict::improved;
    const auto reason = measured.reasons.find(metric.name);
    if (reason != measured.reasons.end() && judgement.verdict != Verdict::within) judgement.reason = reason->second;
    return judgement;
}

}  // namespace

std::string_view name(Better better) {
    static constexpr std::array<std::string_view, 3> kNames{"lower", "higher", "both"};
    return kNames[static_cast<std::size_t>(better)];
}

std::string_view name(Verdict verdict) {
    static constexpr std::array<std::string_view, 5> kNames{"within", "improved", "regressed", "missing", "allowed"};
    return kNames[static_cast<std::size_t>(verdict)];
}

std::optional<double> Judgement::percent() const {
    if (!measured || baseline == 0) return {};
    return (*measured - baseline) / std::abs(baseline) * kPercent;
}

bool worse(const GateMetric& metric, double measured) {
    const Limits limits = limits_of(metric);
    const bool high = metric.better != Better::higher && above(measured, limits.ceiling);
    const bool low = metric.better != Better::lower && below(measured, limits.floor);
    return high || low;
}

std::vector<Judgement> judge(const GateSuite& suite, const std::vector<GateMeasured>& measured,
                             const std::string& today) {
    std::vector<Judgement> all;
    for (std::size_t i = 0; i < suite.scenarios.size(); ++i)
        for (const GateMetric& metric : suite.scenarios[i].metrics) {
            if (!metric.baseline) continue;
            Judgement judgement = judged(suite.scenarios[i], metric, measured[i]);
            const bool failed = judgement.verdict == Verdict::regressed || judgement.verdict == Verdict::missing;
            if (const GateAllowance* const allowance = failed ? allowance_of(suite, judgement) : nullptr) {
                const bool over = allowance->until < today;  // days as text stand in their order
                judgement.allowance =
                    fmt::format("{} {}: {}", over ? "ended" : "until", allowance->until, allowance->reason);
                if (!over) judgement.verdict = Verdict::allowed;
            }
            all.push_back(std::move(judgement));
        }
    return all;
}

bool regressed(const std::vector<Judgement>& judgements) {
    return std::any_of(judgements.begin(), judgements.end(), [](const Judgement& judgement) {
        return judgement.verdict == Verdict::regressed || judgement.verdict == Verdict::missing;
    });
}

}  // namespace fmsim
