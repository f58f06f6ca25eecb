// What must not change a run, or change it in a known way: units, names, copies, folding, doing it again.
#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

#include "engine/draft.hpp"

namespace fmsim::test {
namespace {

constexpr std::uint64_t kSeeds = 200;

Timeline run(const Draft& draft) { return fmsim::run(build(draft), Record::rates); }

std::size_t events(const Draft& draft) { return 3 * draft.activities.size() + draft.orders.size(); }

// A random draft whose delays and lags are multiples of `k` femtoseconds.
Draft draft_in_steps(std::uint64_t seed, std::int64_t k) {
    Draft draft = random_draft(seed);
    for (DraftActivity& activity : draft.activities) activity.delay.fs -= activity.delay.fs % k;
    for (DraftOrder& order : draft.orders) order.lag.fs -= order.lag.fs % k;
    return draft;
}

TEST_CASE("k times the capacities, holds and limits and a k-th of the delays give a k-th of the times") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const std::int64_t k = 2 + static_cast<std::int64_t>(seed % 9);
        CAPTURE(seed, k);
        const Draft draft = draft_in_steps(seed, k);
        Draft faster = draft;
        for (double& capacity : faster.capacity) capacity *= static_cast<double>(k);
        for (DraftActivity& activity : faster.activities) {
            activity.delay.fs /= k;
            activity.rate_limit *= static_cast<double>(k);
            for (Hold& hold : activity.holds) hold.amount *= static_cast<double>(k);
        }
        for (DraftOrder& order : faster.orders) order.lag.fs /= k;

        const Timeline before = run(draft);
        const Timeline after = run(faster);
        REQUIRE(before.unfinished == after.unfinished);
        for (std::size_t i = 0; i < draft.activities.size(); ++i)
            CHECK(
                close(before.ended.rows[i], {after.ended.rows[i].fs * k}, static_cast<std::size_t>(k) * events(draft)));
    }
}

TEST_CASE("units of work and of resources are free: scaled work, weights and limits change no bit") {
    // Powers of two, so that no rounding differs: work in half units, resources in quarter units.
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        CAPTURE(seed);
        const Draft draft = random_draft(seed);
        Draft other = draft;
        for (double& capacity : other.capacity) capacity *= 4;
        for (DraftActivity& activity : other.activities) {
            activity.work *= 2;
            activity.rate_limit *= 2;
            for (Use& use : activity.uses) use.weight *= 2;
            for (Hold& hold : activity.holds) hold.amount *= 4;
        }
        CHECK(run(draft).ended.rows == run(other).ended.rows);
    }
}

// Two systems that know nothing of each other, in one.
Draft doubled(const Draft& draft) {
    Draft both = draft;
    const auto resources = static_cast<std::uint32_t>(draft.capacity.size());
    const auto activities = static_cast<std::uint32_t>(draft.activities.size());
    both.capacity.insert(both.capacity.end(), draft.capacity.begin(), draft.capacity.end());
    for (DraftActivity activity : draft.activities) {
        for (Use& use : activity.uses) use.resource.value += resources;
        for (Hold& hold : activity.holds) hold.resource.value += resources;
        both.activities.push_back(activity);
    }
    for (const auto& [before, after, lag] : draft.orders)
        both.orders.push_back({before + activities, after + activities, lag});
    return both;
}

TEST_CASE("a copy beside a system changes no bit of it, and runs alike") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        CAPTURE(seed);
        const Draft draft = random_draft(seed);
        std::vector<SimTime> twice = run(draft).ended.rows;
        twice.insert(twice.end(), twice.begin(), twice.begin() + static_cast<std::ptrdiff_t>(draft.activities.size()));
        CHECK(run(doubled(draft)).ended.rows == twice);
    }
}

// `copies` of everything, but only one of each resource with an odd id, which all copies share. The folded draft says
// the same with one representative: on what is shared it weighs and holds `copies` times as much.
struct Fold {
    Draft in_full;
    Draft folded;
};

Fold fold(const Draft& draft, std::uint32_t copies) {
    const auto shared = [](ResourceId resource) { return resource.value % 2 == 1; };
    const auto resources = static_cast<std::uint32_t>(draft.capacity.size());
    const auto activities = static_cast<std::uint32_t>(draft.activities.size());
    Fold result{.in_full = {}, .folded = draft};
    for (std::uint32_t copy = 0; copy < copies; ++copy) {
        result.in_full.capacity.insert(result.in_full.capacity.end(), draft.capacity.begin(), draft.capacity.end());
        for (DraftActivity activity : draft.activities) {
            for (Use& use : activity.uses)
                if (!shared(use.resource)) use.resource.value += copy * resources;
            for (Hold& hold : activity.holds)
                if (!shared(hold.resource)) hold.resource.value += copy * resources;
            result.in_full.activities.push_back(activity);
        }
        for (const auto& [before, after, lag] : draft.orders)
            result.in_full.orders.push_back({before + copy * activities, after + copy * activities, lag});
    }
    for (DraftActivity& activity : result.folded.activities) {
        for (Use& use : activity.uses)
            if (shared(use.resource)) use.weight *= copies;
        for (Hold& hold : activity.holds)
            if (shared(hold.resource)) hold.amount *= copies;
    }
    return result;
}

TEST_CASE("what behaves alike may be merged: one representative with the weight of all runs as each of them does") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const std::uint32_t copies = 2 + static_cast<std::uint32_t>(seed % 3);
        CAPTURE(seed, copies);
        const Fold both = fold(random_draft(seed), copies);
        const Timeline in_full = run(both.in_full);
        const Timeline folded = run(both.folded);
        const std::size_t n = both.folded.activities.size();
        REQUIRE(in_full.unfinished.size() == copies * folded.unfinished.size());
        for (std::size_t i = 0; i < copies * n; ++i)
            CHECK(close(in_full.ended.rows[i], folded.ended.rows[i % n], events(both.in_full)));
    }
}

// Where each thing goes: a random order of 0 to n - 1.
std::vector<std::uint32_t> random_order(Dice& dice, std::size_t n) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    dice.shuffle(order);
    return order;
}

Draft renamed(const Draft& draft, const std::vector<std::uint32_t>& resource_to,
              const std::vector<std::uint32_t>& activity_to, Dice& dice) {
    Draft other = draft;
    for (std::size_t r = 0; r < resource_to.size(); ++r) other.capacity[resource_to[r]] = draft.capacity[r];
    for (std::size_t i = 0; i < activity_to.size(); ++i) {
        DraftActivity activity = draft.activities[i];
        for (Use& use : activity.uses) use.resource.value = resource_to[use.resource.value];
        for (Hold& hold : activity.holds) hold.resource.value = resource_to[hold.resource.value];
        dice.shuffle(activity.uses);
        other.activities[activity_to[i]] = activity;
    }
    for (DraftOrder& order : other.orders) {
        order.before = activity_to[order.before];
        order.after = activity_to[order.after];
    }
    dice.shuffle(other.orders);
    return other;
}

TEST_CASE("names mean nothing: shuffled activities, resources, uses and orders give the same times") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        CAPTURE(seed);
        const Draft draft = random_draft(seed);
        Dice dice(seed);
        const auto resource_to = random_order(dice, draft.capacity.size());
        const auto activity_to = random_order(dice, draft.activities.size());
        const Timeline straight = run(draft);
        const Timeline shuffled = run(renamed(draft, resource_to, activity_to, dice));
        REQUIRE(straight.unfinished.size() == shuffled.unfinished.size());
        for (std::size_t i = 0; i < activity_to.size(); ++i)
            CHECK(close(straight.ended.rows[i], shuffled.ended.rows[activity_to[i]], events(draft)));
    }
}

TEST_CASE("the same system run twice gives the same bits throughout") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        CAPTURE(seed);
        const System system = build(random_draft(seed));
        const Timeline first = fmsim::run(system, Record::rates);
        const Timeline second = fmsim::run(system, Record::rates);
        CHECK(first.started.rows == second.started.rows);
        CHECK(first.flowing.rows == second.flowing.rows);
        CHECK(first.ended.rows == second.ended.rows);
        CHECK(first.held_by.rows == second.held_by.rows);
        CHECK(first.solves == second.solves);
        const auto same_rate = [](const RateStep& a, const RateStep& b) {
            return a.activity == b.activity && a.from == b.from && a.share == b.share;
        };
        CHECK(std::equal(first.rates.begin(), first.rates.end(), second.rates.begin(), second.rates.end(), same_rate));
        const auto same_use = [](const UseStep& a, const UseStep& b) {
            return a.resource == b.resource && a.from == b.from && a.used == b.used;
        };
        CHECK(std::equal(first.use.begin(), first.use.end(), second.use.begin(), second.use.end(), same_use));
    }
}

// FNV-1a, 64 bits.
std::uint64_t hashed(std::uint64_t hash, std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ ((value >> (8 * byte)) & 0xff)) * 0x100000001b3;
    return hash;
}

TEST_CASE("compilers, build types and processors give the same bits") {
    // A new value here is a change of results: docs/CHANGES.md says why, if it is meant.
    std::uint64_t hash = 0xcbf29ce484222325;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const Timeline timeline = run(random_draft(seed));
        for (const SimTime end : timeline.ended.rows) hash = hashed(hash, static_cast<std::uint64_t>(end.fs));
        for (const ResourceId by : timeline.held_by.rows) hash = hashed(hash, by.value);
    }
    CHECK(hash == 11146366198620357957u);
}

}  // namespace
}  // namespace fmsim::test
