// The filling of one component: small cases drawn, and random ones against the plain filling.
#include "fair_shares.hpp"

#include <catch2/catch.hpp>

#include "engine/draft.hpp"
#include "engine/plain_engine.hpp"

namespace fmsim::test {
namespace {

// The shares of all activities at once, as if all flowed and nothing were held.
std::vector<Share> shares_of(const System& system) {
    Flowing flowing(system);
    std::vector<SlotId> slots;
    std::vector<ResourceId> resources;
    Column<SlotId, Standing> standing;
    for (std::uint32_t i = 0; i < system.activities(); ++i) {
        flowing.join({i}, {i});
        slots.push_back({i});
        standing.rows.push_back({kRising, kOwnLimit, {i}});
    }
    for (std::uint32_t r = 0; r < system.resources(); ++r) resources.push_back({r});
    FairShares filling(system);
    for (const ResourceId resource : resources) filling.count(resource, flowing, system.capacity[resource], standing);
    filling.fill(slots, resources, flowing, system.capacity, standing);
    std::vector<Share> shares;
    for (const SlotId slot : slots) shares.push_back(FairShares::share_of(system, standing[slot]));
    return shares;
}

constexpr ResourceId ab{0}, bc{1};

TEST_CASE("a flow over two links is held by the narrower and leaves the rest to others") {
    // A ==ab:2== B --bc:1-- C     f0: A-B    f1: A-B-C    f2: B-C
    // bc is tightest: f1 = f2 = 1/2. Then ab has 2 - 1/2 left, all for f0.
    const Draft draft{
        .capacity = {2, 1},
        .activities = {
            {.work = 1, .uses = {{ab, 1}}}, {.work = 1, .uses = {{ab, 1}, {bc, 1}}}, {.work = 1, .uses = {{bc, 1}}}}};
    CHECK(shares_of(build(draft)) == std::vector<Share>{{1.5, ab}, {0.5, bc}, {0.5, bc}});
}

TEST_CASE("a weight is what a unit of work takes: rates stay equal, not what they take") {
    // ab:4, f0 takes 1 a unit, f1 takes 3: rate x for both, x + 3x = 4
    const Draft draft{.capacity = {4}, .activities = {{.work = 1, .uses = {{ab, 1}}}, {.work = 1, .uses = {{ab, 3}}}}};
    CHECK(shares_of(build(draft)) == std::vector<Share>{{1, ab}, {1, ab}});
}

TEST_CASE("a share is the slope at which a rate rises") {
    // ab:4, shares 1 and 3: level t, rates t and 3t, t + 3t = 4
    const Draft draft{.capacity = {4},
                      .activities = {{.work = 1, .uses = {{ab, 1}}}, {.work = 1, .share = 3, .uses = {{ab, 1}}}}};
    CHECK(shares_of(build(draft)) == std::vector<Share>{{1, ab}, {3, ab}});
}

TEST_CASE("what meets its own limit leaves the rest to the others") {
    // ab:4, f0 wants at most 1, f1 gets 3
    const Draft draft{.capacity = {4},
                      .activities = {{.work = 1, .rate_limit = 1, .uses = {{ab, 1}}}, {.work = 1, .uses = {{ab, 1}}}}};
    CHECK(shares_of(build(draft)) == std::vector<Share>{{1, kOwnLimit}, {3, ab}});
}

TEST_CASE("a limit is met at limit / share: a steep activity meets it early") {
    // ab:6, f0 rises twice as fast up to 2 (level 1); f1 goes on to the 4 that are left
    const Draft draft{
        .capacity = {6},
        .activities = {{.work = 1, .share = 2, .rate_limit = 2, .uses = {{ab, 1}}}, {.work = 1, .uses = {{ab, 1}}}}};
    CHECK(shares_of(build(draft)) == std::vector<Share>{{2, kOwnLimit}, {4, ab}});
}

TEST_CASE("on a resource without capacity everything stands still, and elsewhere the rest moves") {
    const Draft draft{.capacity = {0, 1},
                      .activities = {{.work = 1, .uses = {{ab, 1}, {bc, 1}}}, {.work = 1, .uses = {{bc, 1}}}}};
    CHECK(shares_of(build(draft)) == std::vector<Share>{{0, ab}, {1, bc}});
}

TEST_CASE("one heavy user that is fixed early leaves no trace in the shares of many light ones") {
    // ab:3. The heavy one takes 1e18 a unit but wants 1e-18 units a second at most: 1 is gone, ten share 2.
    // 1e18 + 1 is 1e18 in doubles: what the light ones want must not be found by subtraction.
    Draft draft{.capacity = {3}, .activities = {{.work = 1, .rate_limit = 1e-18, .uses = {{ab, 1e18}}}}};
    for (int i = 0; i < 10; ++i) draft.activities.push_back({.work = 1, .uses = {{ab, 1}}});

    const std::vector<Share> shares = shares_of(build(draft));
    CHECK(shares[0] == Share{1e-18, kOwnLimit});
    for (std::size_t i = 1; i <= 10; ++i) CHECK(shares[i].rate == Approx(0.2).epsilon(1e-12));
}

TEST_CASE("weights over eighteen decades give what the plain filling gives") {
    const std::uint64_t seed = GENERATE(range(1u, 51u));
    CAPTURE(seed);
    Dice dice(seed);
    Draft draft{.capacity = {1e9, 3e9, 2e9}};
    for (int i = 0; i < 40; ++i) {
        DraftActivity activity{.work = 1};
        for (std::uint32_t r = 0; r < 3; ++r) {
            double weight = dice.between(1, 10);
            for (int decades = static_cast<int>(dice.below(18)); decades > 0; --decades) weight /= 10;
            if (r == dice.below(3) || activity.uses.empty()) activity.uses.push_back({{r}, weight});
        }
        draft.activities.push_back(activity);
    }
    const System system = build(draft);
    const std::vector<Share> fast = shares_of(system);
    const auto plain = plain_rates(system, std::vector<bool>(40, true), {1e9L, 3e9L, 2e9L});
    for (std::size_t i = 0; i < 40; ++i) CHECK(fast[i].rate == Approx(static_cast<double>(plain[i])).epsilon(1e-9));
}

TEST_CASE("random components get the rates of the plain filling") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        Draft draft = random_draft(seed);
        // Only what flows on something is ever filled.
        std::erase_if(draft.activities, [](const auto& a) { return a.uses.empty(); });
        draft.orders.clear();
        const System system = build(draft);
        const std::vector<Share> fast = shares_of(system);
        const auto plain = plain_rates(system, std::vector<bool>(fast.size(), true),
                                       {system.capacity.rows.begin(), system.capacity.rows.end()});
        for (std::size_t i = 0; i < fast.size(); ++i)
            CHECK(fast[i].rate == Approx(static_cast<double>(plain[i])).epsilon(1e-9));
    }
}

}  // namespace
}  // namespace fmsim::test
