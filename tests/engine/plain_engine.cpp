#include "engine/plain_engine.hpp"

#include <algorithm>
#include <limits>

namespace fmsim::test {
namespace {

constexpr long double kNever = std::numeric_limits<long double>::infinity();
// What long doubles leave between two instants that are one: a thousandth of a femtosecond.
constexpr long double kTie = 1e-18L;

long double exact_seconds(SimTime t) { return static_cast<long double>(t.fs) * 1e-15L; }

ActivityId id(std::size_t i) { return {static_cast<std::uint32_t>(i)}; }

class PlainRun {
public:
    explicit PlainRun(const System& system);
    bool apply_one_change();
    bool advance();
    PlainTimeline timeline;

private:
    bool started(std::size_t i) const { return timeline.started[i] < kNever; }
    bool flowing(std::size_t i) const { return timeline.flowing[i] < kNever; }
    bool ended(std::size_t i) const { return timeline.ended[i] < kNever; }
    bool due(long double when) const { return when <= now_ + kTie; }

    long double ready(std::size_t i) const;  // when the last of its predecessors arrives
    long double next_change(std::size_t i, const std::vector<long double>& rates) const;
    std::vector<long double> rates() const;

    struct Before {
        std::size_t activity;
        long double lag;
    };
    const System& system_;
    std::vector<std::vector<Before>> before_;
    std::vector<long double> left_;  // work
    long double now_ = 0;
};

PlainRun::PlainRun(const System& system) : system_(system), before_(system.activities()) {
    const std::size_t n = system.activities();
    timeline = {std::vector(n, kNever), std::vector(n, kNever), std::vector(n, kNever)};
    left_.assign(system.work.rows.begin(), system.work.rows.end());
    for (std::size_t i = 0; i < n; ++i)
        for (const auto& [after, lag] : system.successors.of(i))
            before_[after.value].push_back({i, exact_seconds(lag)});
}

long double PlainRun::ready(std::size_t i) const {
    long double latest = 0;
    for (const auto& [activity, lag] : before_[i]) latest = std::max(latest, timeline.ended[activity] + lag);
    return latest;
}

bool PlainRun::apply_one_change() {
    for (std::size_t i = 0; i < system_.activities(); ++i) {
        if (ended(i)) continue;
        if (!started(i) && due(ready(i)))
            timeline.started[i] = now_;
        else if (started(i) && !flowing(i) && due(timeline.started[i] + exact_seconds(system_.delay[id(i)])))
            timeline.flowing[i] = now_;
        else if (flowing(i) && left_[i] == 0)
            timeline.ended[i] = now_;
        else
            continue;
        return true;
    }
    return false;
}

std::vector<long double> PlainRun::rates() const {
    std::vector<long double> available(system_.capacity.rows.begin(), system_.capacity.rows.end());
    std::vector<bool> flows(system_.activities());
    for (std::size_t i = 0; i < system_.activities(); ++i) {
        flows[i] = flowing(i) && !ended(i);
        if (!started(i) || ended(i)) continue;
        for (const Hold& hold : system_.holds.of(i)) available[hold.resource.value] -= hold.amount;
    }
    for (long double& amount : available) amount = std::max(amount, 0.0L);
    return plain_rates(system_, flows, available);
}

long double PlainRun::next_change(std::size_t i, const std::vector<long double>& rates) const {
    if (ended(i)) return kNever;
    if (!started(i)) return ready(i);
    if (!flowing(i)) return timeline.started[i] + exact_seconds(system_.delay[id(i)]);
    return rates[i] == 0 ? kNever : now_ + left_[i] / rates[i];
}

bool PlainRun::advance() {
    const std::vector<long double> now_at = rates();
    long double next = kNever;
    for (std::size_t i = 0; i < system_.activities(); ++i) next = std::min(next, next_change(i, now_at));
    if (next == kNever) return false;
    for (std::size_t i = 0; i < system_.activities(); ++i) {
        if (now_at[i] == 0) continue;
        const bool ends = next_change(i, now_at) <= next + kTie;
        left_[i] = ends ? 0 : left_[i] - now_at[i] * (next - now_);
    }
    now_ = next;
    ++timeline.instants;
    return true;
}

}  // namespace

std::vector<long double> plain_rates(const System& system, const std::vector<bool>& flowing,
                                     const std::vector<long double>& available) {
    std::vector<long double> rate(system.activities());
    std::vector<bool> rising = flowing;
    while (std::find(rising.begin(), rising.end(), true) != rising.end()) {
        std::vector<long double> left = available;
        std::vector<long double> demand(system.resources());
        for (std::size_t i = 0; i < rate.size(); ++i)
            for (const auto& [resource, weight] : system.uses.of(i)) {
                left[resource.value] -= weight * rate[i];
                if (rising[i]) demand[resource.value] += static_cast<long double>(weight) * system.share[id(i)];
            }
        // The level at which the activity stops: the lowest of its own limit's and its resources'.
        const auto stops_at = [&](std::size_t i) {
            long double level = static_cast<long double>(system.rate_limit[id(i)]) / system.share[id(i)];
            for (const auto& [resource, weight] : system.uses.of(i))
                level = std::min(level, std::max(0.0L, left[resource.value]) / demand[resource.value]);
            return level;
        };
        long double lowest = kNever;
        for (std::size_t i = 0; i < rate.size(); ++i)
            if (rising[i]) lowest = std::min(lowest, stops_at(i));
        std::vector<bool> still = rising;
        for (std::size_t i = 0; i < rate.size(); ++i)
            if (rising[i] && stops_at(i) == lowest) {
                rate[i] = system.share[id(i)] * lowest;
                still[i] = false;
            }
        rising = still;
    }
    return rate;
}

PlainTimeline run_plainly(const System& system) {
    PlainRun run(system);
    do {
        while (run.apply_one_change()) {
        }
    } while (run.advance());
    return run.timeline;
}

}  // namespace fmsim::test
