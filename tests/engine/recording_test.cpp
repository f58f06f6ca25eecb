// What a run records when asked: rates and uses, drawn by hand; and over random systems that they add up to the work
// and are max-min fair.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "engine/draft.hpp"

namespace fmsim::test {
namespace {

constexpr ResourceId link{0};
constexpr double kGB = 1e9;

TEST_CASE("rates and uses are recorded where they change") {
    // 0 [ f0: 1/2, f1: 1/2 ] 1000 ns [ f0: 1 ] 1500 ns
    const Draft draft{.capacity = {kGB},
                      .activities = {{.work = 1000, .uses = {{link, 1}}}, {.work = 500, .uses = {{link, 1}}}}};
    const Timeline timeline = run(build(draft), Record::rates);

    REQUIRE(timeline.rates.size() == 3);
    CHECK(timeline.rates[0].share == Share{kGB / 2, link});
    CHECK(timeline.rates[1].share == Share{kGB / 2, link});
    CHECK(timeline.rates[2].activity == ActivityId{0});
    CHECK(timeline.rates[2].from == ns(1000));
    CHECK(timeline.rates[2].share == Share{kGB, link});

    std::vector<std::pair<SimTime, double>> use;
    for (const UseStep& step : timeline.use) use.emplace_back(step.from, step.used);
    CHECK(use == std::vector<std::pair<SimTime, double>>{{ns(0), kGB}, {ns(1000), kGB}, {ns(1500), 0}});
}

TEST_CASE("nothing is recorded unless asked for, and asking changes no time") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        const System system = build(random_draft(seed));
        const Timeline silent = run(system);
        CHECK(silent.rates.empty());
        CHECK(silent.use.empty());
        CHECK(silent.ended.rows == run(system, Record::rates).ended.rows);
    }
}

bool ended(const Timeline& timeline, ActivityId activity) {
    return !std::binary_search(timeline.unfinished.begin(), timeline.unfinished.end(), activity);
}

// The steps of one activity or resource, each until the next one; the last until `end`.
double integral(const std::vector<std::pair<SimTime, double>>& steps, SimTime end) {
    double sum = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const SimTime until = i + 1 < steps.size() ? steps[i + 1].first : end;
        sum += steps[i].second * seconds(until - steps[i].first);
    }
    return sum;
}

// Each step may be rounded by half a femtosecond of the highest rate.
double rounding(const std::vector<std::pair<SimTime, double>>& steps) {
    double highest = 0;
    for (const auto& [from, rate] : steps) highest = std::max(highest, rate);
    return highest * 1e-15 * static_cast<double>(steps.size());
}

TEST_CASE("the recorded rates of an activity add up to its work") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const System system = build(random_draft(seed));
        const Timeline timeline = run(system, Record::rates);
        std::vector<std::vector<std::pair<SimTime, double>>> steps(system.activities());
        for (const RateStep& step : timeline.rates) steps[step.activity.value].emplace_back(step.from, step.share.rate);
        for (std::uint32_t i = 0; i < system.activities(); ++i) {
            CAPTURE(seed, i);
            if (!ended(timeline, {i})) continue;
            const double done = integral(steps[i], timeline.ended[ActivityId{i}]);
            CHECK(std::abs(done - system.work.rows[i]) <= 1e-9 * system.work.rows[i] + rounding(steps[i]));
        }
    }
}

TEST_CASE("the recorded use of a resource adds up to the weighted work done on it") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const System system = build(random_draft(seed));
        const Timeline timeline = run(system, Record::rates);
        if (!timeline.unfinished.empty()) continue;
        std::vector<double> expected(system.resources());
        std::size_t steps_in_all = 0;
        for (std::uint32_t i = 0; i < system.activities(); ++i)
            for (const auto& [resource, weight] : system.uses.of(i))
                expected[resource.value] += weight * system.work.rows[i];
        std::vector<std::vector<std::pair<SimTime, double>>> steps(system.resources());
        for (const UseStep& step : timeline.use) steps[step.resource.value].emplace_back(step.from, step.used);
        for (std::size_t r = 0; r < steps.size(); ++r) {
            CAPTURE(seed, r);
            const double used = integral(steps[r], timeline.end);
            CHECK(std::abs(used - expected[r]) <= 1e-9 * expected[r] + rounding(steps[r]));
            steps_in_all += steps[r].size();
        }
        CHECK(steps_in_all == timeline.use.size());
    }
}

// Replays the recorded rates of a run in which all ended, and looks at each moment between two instants.
class Replay {
public:
    Replay(const System& system, const Timeline& timeline)
        : system_(system), timeline_(timeline), share_{std::vector<Share>(system.activities())} {}

    // Bertsekas and Gallager: a feasible allocation is the max-min fair one if and only if everyone is held: by its own
    // limit, or by a resource that is full and on which nobody has risen to a higher level.
    bool fair_throughout() {
        std::size_t next = 0;
        while (next < timeline_.rates.size()) {
            const SimTime now = timeline_.rates[next].from;
            for (; next < timeline_.rates.size() && timeline_.rates[next].from == now; ++next)
                share_[timeline_.rates[next].activity] = timeline_.rates[next].share;
            look_at(now);
            for (std::uint32_t i = 0; i < system_.activities(); ++i)
                if (flows({i}, now) && !(feasible({i}) && held({i}))) return false;
        }
        return true;
    }

private:
    struct Load {
        double available{};
        double used{};
        double highest{};  // level
    };
    static constexpr double kSlack = 1e-9;

    bool flows(ActivityId activity, SimTime now) const {
        return timeline_.flowing[activity] <= now && now < timeline_.ended[activity];
    }
    double level(ActivityId activity) const { return share_[activity].rate / system_.share[activity]; }

    void look_at(SimTime now) {
        load_.rows.clear();
        for (const double capacity : system_.capacity.rows) load_.rows.push_back({.available = capacity});
        for (std::uint32_t i = 0; i < system_.activities(); ++i) {
            if (timeline_.started[ActivityId{i}] <= now && now < timeline_.ended[ActivityId{i}])
                for (const Hold& hold : system_.holds.of(i)) load_[hold.resource].available -= hold.amount;
            if (!flows({i}, now)) continue;
            for (const auto& [resource, weight] : system_.uses.of(i)) {
                load_[resource].used += weight * share_[ActivityId{i}].rate;
                load_[resource].highest = std::max(load_[resource].highest, level({i}));
            }
        }
    }

    bool feasible(ActivityId activity) const {
        const auto uses = system_.uses.of(activity.value);
        return share_[activity].rate <= system_.rate_limit[activity] &&
               std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
                   const Load& load = load_[use.resource];
                   return load.used <= std::max(0.0, load.available) + kSlack * system_.capacity[use.resource];
               });
    }

    bool held(ActivityId activity) const {
        const double rate = share_[activity].rate;
        const ResourceId by = share_[activity].held_by;
        if (by == kOwnLimit) return rate == system_.rate_limit[activity];
        const auto uses = system_.uses.of(activity.value);
        const bool uses_it = std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return use.resource == by; });
        const Load& load = load_[by];
        const bool full = load.used >= load.available - kSlack * system_.capacity[by];
        return uses_it && full && level(activity) >= load.highest * (1 - kSlack);
    }

    const System& system_;
    const Timeline& timeline_;
    Column<ActivityId, Share> share_;
    Column<ResourceId, Load> load_;
};

TEST_CASE("at every instant everyone is held by its own limit or by a full resource on which nobody is higher") {
    std::size_t looked_at = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        const System system = build(random_draft(seed));
        const Timeline timeline = run(system, Record::rates);
        if (!timeline.unfinished.empty()) continue;
        CHECK(Replay(system, timeline).fair_throughout());
        ++looked_at;
    }
    CHECK(looked_at > 200);
}

}  // namespace
}  // namespace fmsim::test
