// The engine against its slow twin on 1,000 random systems. The seed of a failing one is printed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "engine/draft.hpp"
#include "engine/plain_engine.hpp"

namespace fmsim::test {
namespace {

// In femtoseconds; neither may have come where the other did not.
bool agree(SimTime fast, long double plain, std::size_t events) {
    const long double fs = plain * 1e15L;
    return std::abs(static_cast<long double>(fast.fs) - fs) <= 1e-9L * fs + static_cast<long double>(events);
}

bool unfinished(const Timeline& timeline, std::uint32_t activity) {
    return std::binary_search(timeline.unfinished.begin(), timeline.unfinished.end(), ActivityId{activity});
}

// Everybody sends to everybody, no two sizes equal, some later than others: each event is an instant of its own, and
// one component is all. Nothing is held, so that filling starts at the level of each change and not at 0.
Draft unequal_all_to_all(std::uint64_t seed) {
    Dice dice(seed);
    const std::uint32_t ranks = 3 + dice.below(5);
    Draft draft;
    for (std::uint32_t i = 0; i < 2 * ranks; ++i)
        draft.capacity.push_back(dice.chance(50) ? 1e9 : dice.between(1e9, 3e9));
    for (std::uint32_t from = 0; from < ranks; ++from)
        for (std::uint32_t to = 0; to < ranks; ++to) {
            if (from == to) continue;
            DraftActivity send{.work = dice.between(1e5, 1e6), .uses = {{{from}, 1}, {{ranks + to}, 1}}};
            if (dice.chance(40)) send.delay = from_seconds(dice.between(0, 3e-3));
            if (dice.chance(20)) send.rate_limit = dice.between(0.05e9, 0.5e9);
            if (dice.chance(20)) send.share = dice.between(0.5, 3);
            draft.activities.push_back(send);
        }
    return draft;
}

TEST_CASE("filling from the level of a change gives what filling anew gives") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const System system = build(unequal_all_to_all(seed));
        const Timeline fast = run(system);
        const PlainTimeline plain = run_plainly(system);
        for (std::uint32_t i = 0; i < system.activities(); ++i) {
            CAPTURE(seed, i, plain.ended[i]);
            CHECK(agree(fast.ended[ActivityId{i}], plain.ended[i], plain.instants));
        }
    }
}

TEST_CASE("the fast engine and the plain one give the same timeline") {
    std::size_t finished = 0;
    std::size_t stuck = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        const System system = build(random_draft(seed));
        const Timeline fast = run(system);
        const PlainTimeline plain = run_plainly(system);
        for (std::uint32_t i = 0; i < system.activities(); ++i) {
            CAPTURE(seed, i, plain.started[i], plain.flowing[i], plain.ended[i]);
            const ActivityId activity{i};
            const bool stands = std::isinf(plain.ended[i]);
            REQUIRE(unfinished(fast, i) == stands);
            ++(stands ? stuck : finished);
            if (stands) continue;
            CHECK(agree(fast.started[activity], plain.started[i], plain.instants));
            CHECK(agree(fast.flowing[activity], plain.flowing[i], plain.instants));
            CHECK(agree(fast.ended[activity], plain.ended[i], plain.instants));
        }
    }
    // The systems are not all trivial, nor all stuck.
    CHECK(finished > 10'000);
    CHECK(stuck > 100);
}

// Coalescing by its definition, for what flows from the start: when one ends, so do all with `part` of their work left.
std::vector<long double> ends_coalesced_plainly(const System& system, long double part) {
    const std::size_t n = system.activities();
    std::vector<long double> left(system.work.rows.begin(), system.work.rows.end()), ended(n);
    const std::vector<long double> available(system.capacity.rows.begin(), system.capacity.rows.end());
    std::vector<bool> flowing(n, true);
    for (long double now = 0; std::find(flowing.begin(), flowing.end(), true) != flowing.end();) {
        const auto rates = plain_rates(system, flowing, available);
        long double step = std::numeric_limits<long double>::infinity();
        for (std::size_t i = 0; i < n; ++i)
            if (flowing[i]) step = std::min(step, left[i] / rates[i]);
        now += step;
        for (std::size_t i = 0; i < n; ++i) {
            if (!flowing[i]) continue;
            left[i] -= rates[i] * step;
            if (left[i] > std::max(part, 1e-12L) * system.work.rows[i]) continue;
            flowing[i] = false;
            ended[i] = now;
        }
    }
    return ended;
}

TEST_CASE("coalescing ends together what has nearly ended, and says what it left out") {
    std::uint64_t early = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Draft draft = unequal_all_to_all(seed);
        for (DraftActivity& activity : draft.activities) activity.delay = {};
        const System system = build(draft);
        for (const double part : {0.003, 0.1}) {
            const Timeline fast = run(system, Record::ends, part);
            const std::vector<long double> plain = ends_coalesced_plainly(system, part);
            for (std::uint32_t i = 0; i < system.activities(); ++i) {
                CAPTURE(seed, part, i, plain[i]);
                CHECK(agree(fast.ended[ActivityId{i}], plain[i], system.activities()));
            }
            CHECK((fast.early > 0) == (fast.left_out > 0));
            double most = 0;  // of a link, if every activity left out all that it may
            for (const double capacity : system.capacity.rows) most = std::max(most, part * 1e6 * 7 / capacity);
            CHECK(fast.left_out <= most);
            early += fast.early;
        }
        CHECK(run(system, Record::ends, 0).ended.rows == run(system).ended.rows);
    }
    CHECK(early > 100);
    CHECK_THROWS_AS(run(System{}, Record::ends, 1), std::invalid_argument);
    CHECK_THROWS_AS(run(System{}, Record::ends, -0.1), std::invalid_argument);
}

TEST_CASE("coalescing takes the end of one that its own limit holds off the calendar") {
    // 100 and 101 units at a limit of 1 GB/s each: both end with the first, and nothing happens at the second's time
    const System system = build({.activities = {{.work = 100, .rate_limit = 1e9}, {.work = 101, .rate_limit = 1e9}}});
    const Timeline timeline = run(system, Record::ends, 0.05);
    CHECK(timeline.ended.rows == std::vector<SimTime>{ns(100), ns(100)});
    CHECK(timeline.end == ns(100));
    CHECK(timeline.early == 1);
}

}  // namespace
}  // namespace fmsim::test
