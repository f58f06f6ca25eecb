// The rules of a run, each in a case small enough for the head. Links carry 1 GB/s, which is one byte a nanosecond.
#include <catch2/catch.hpp>

#include "engine/draft.hpp"

namespace fmsim::test {
namespace {

constexpr ResourceId link{0}, other{1};
constexpr double kGB = 1e9;

Timeline run(const Draft& draft) { return fmsim::run(build(draft)); }

std::vector<SimTime> ends(const Draft& draft) { return run(draft).ended.rows; }

TEST_CASE("a system of nothing ends at once") {
    const Timeline timeline = run(Draft{});
    CHECK(timeline.end == SimTime{});
    CHECK(timeline.unfinished.empty());
}

TEST_CASE("two share a link until one ends, then the other has it alone") {
    // 0 [ f0: 500 B, f1: 500 B ] 1000 ns [ f0: 500 B ] 1500 ns
    const Draft draft{.capacity = {kGB},
                      .activities = {{.work = 1000, .uses = {{link, 1}}}, {.work = 500, .uses = {{link, 1}}}}};
    CHECK(ends(draft) == std::vector{ns(1500), ns(1000)});
    CHECK(run(draft).end == ns(1500));
}

TEST_CASE("rates are equal whatever the weights") {
    // x + 3x = 1 B/ns: each 250 B take 1000 ns
    const Draft draft{.capacity = {kGB},
                      .activities = {{.work = 250, .uses = {{link, 1}}}, {.work = 250, .uses = {{link, 3}}}}};
    CHECK(ends(draft) == std::vector{ns(1000), ns(1000)});
}

TEST_CASE("rates stand as the shares") {
    // 1/4 and 3/4 B/ns: 250 B and 750 B take 1000 ns
    const Draft draft{
        .capacity = {kGB},
        .activities = {{.work = 250, .uses = {{link, 1}}}, {.work = 750, .share = 3, .uses = {{link, 1}}}}};
    CHECK(ends(draft) == std::vector{ns(1000), ns(1000)});
}

TEST_CASE("a rate limit holds where the link would give more, and says so") {
    // f0 at its 1/4 B/ns: 1000 ns. f1 at 3/4 until then has 750 B, the last 250 B alone: 1250 ns.
    const Draft draft{
        .capacity = {kGB},
        .activities = {{.work = 250, .rate_limit = kGB / 4, .uses = {{link, 1}}}, {.work = 1000, .uses = {{link, 1}}}}};
    const Timeline timeline = run(draft);
    CHECK(timeline.ended.rows == std::vector{ns(1000), ns(1250)});
    CHECK(timeline.held_by.rows == std::vector{kOwnLimit, link});
}

TEST_CASE("an activity that uses nothing runs at its own limit") {
    const Draft draft{.activities = {{.work = 250, .rate_limit = kGB / 4}}};
    CHECK(ends(draft) == std::vector{ns(1000)});
}

TEST_CASE("held_by is what held it at the last rate it had") {
    // f0 uses both links. At first link (half for f0) is tighter than other (3/4); f1 ends at 1000 ns, then it is
    // other.
    const Draft draft{
        .capacity = {kGB, 0.75 * kGB},
        .activities = {{.work = 1250, .uses = {{link, 1}, {other, 1}}}, {.work = 500, .uses = {{link, 1}}}}};
    const Timeline timeline = run(draft);
    CHECK(timeline.ended.rows == std::vector{ns(2000), ns(1000)});
    CHECK(timeline.held_by.rows == std::vector{other, link});
}

TEST_CASE("what never flowed is held by nothing") {
    CHECK(run(Draft{.activities = {{.delay = ns(5)}}}).held_by.rows == std::vector{kOwnLimit});
}

TEST_CASE("a hold takes capacity while its activity waits out its delay") {
    // h holds half for 1000 ns without sending anything; f has 500 B by then, the rest alone: 1500 ns
    const Draft draft{
        .capacity = {kGB},
        .activities = {{.work = 1000, .uses = {{link, 1}}}, {.delay = ns(1000), .holds = {{link, kGB / 2}}}}};
    CHECK(ends(draft) == std::vector{ns(1500), ns(1000)});
}

TEST_CASE("a hold lasts through the delay and the work, and not before the start") {
    // h: waits for w (100 ns), delay 100 ns, works 200 ns on other: holds half the link from 100 to 400 ns.
    // f: 100 B, then 150 B in 300 ns, then 50 B: 450 ns
    const Draft draft{.capacity = {kGB, kGB},
                      .activities = {{.work = 300, .uses = {{link, 1}}},
                                     {.delay = ns(100)},
                                     {.delay = ns(100), .work = 200, .uses = {{other, 1}}, .holds = {{link, kGB / 2}}}},
                      .orders = {{1, 2}}};
    CHECK(ends(draft) == std::vector{ns(450), ns(100), ns(400)});
}

TEST_CASE("an activity can use what it holds a part of") {
    // 1/2 is held, 1/2 is left for its own 500 B
    const Draft draft{.capacity = {kGB},
                      .activities = {{.work = 500, .uses = {{link, 1}}, .holds = {{link, kGB / 2}}}}};
    CHECK(ends(draft) == std::vector{ns(1000)});
}

TEST_CASE("where more is held than there is, nothing flows until it is given back") {
    // two holds of 3/4 each, until 300 and 500 ns: 0 until 300, 1/4 until 500 (50 B), then 50 B alone
    const Draft draft{.capacity = {kGB},
                      .activities = {{.work = 100, .uses = {{link, 1}}},
                                     {.delay = ns(300), .holds = {{link, 0.75 * kGB}}},
                                     {.delay = ns(500), .holds = {{link, 0.75 * kGB}}}}};
    CHECK(ends(draft) == std::vector{ns(550), ns(300), ns(500)});
}

TEST_CASE("a delay comes before the work and loads nothing") {
    // f0 alone for 100 ns, then both at half: f0's other 50 B until 200 ns, f1 50 B by then and 50 B alone: 250 ns
    const Draft draft{
        .capacity = {kGB},
        .activities = {{.work = 150, .uses = {{link, 1}}}, {.delay = ns(100), .work = 100, .uses = {{link, 1}}}}};
    const Timeline timeline = run(draft);
    CHECK(timeline.started.rows == std::vector{ns(0), ns(0)});
    CHECK(timeline.flowing.rows == std::vector{ns(0), ns(100)});
    CHECK(timeline.ended.rows == std::vector{ns(200), ns(250)});
}

TEST_CASE("a lag passes after an end and keeps nobody busy") {
    // f0 100 ns -> lag 50 ns -> f1 150..250 ns; f2 follows f0 without a lag and has the link alone for 50 ns
    const Draft draft{.capacity = {kGB},
                      .activities = {{.work = 100, .uses = {{link, 1}}},
                                     {.work = 100, .uses = {{link, 1}}},
                                     {.work = 50, .uses = {{link, 1}}}},
                      .orders = {{0, 1, ns(50)}, {0, 2}}};
    const Timeline timeline = run(draft);
    CHECK(timeline.started.rows == std::vector{ns(0), ns(150), ns(100)});
    CHECK(timeline.ended.rows == std::vector{ns(100), ns(250), ns(150)});
}

TEST_CASE("an activity starts at the latest arrival, not at that of the last end") {
    // a ends at 10 and arrives at 110; b ends at 50 and arrives at 60; a delay follows
    const Draft draft{.activities = {{.delay = ns(10)}, {.delay = ns(50)}, {.delay = ns(5)}},
                      .orders = {{0, 2, ns(100)}, {1, 2, ns(10)}}};
    const Timeline timeline = run(draft);
    CHECK(timeline.started.rows.back() == ns(110));
    CHECK(timeline.ended.rows.back() == ns(115));
}

TEST_CASE("two orders between the same two are two arrivals") {
    const Draft draft{.activities = {{.delay = ns(10)}, {}}, .orders = {{0, 1, ns(7)}, {0, 1, ns(3)}}};
    CHECK(ends(draft) == std::vector{ns(10), ns(17)});
}

TEST_CASE("zero work without a delay ends where it starts, through a whole chain of such") {
    // 100 ns, then a barrier of three activities without work, then 100 ns
    const Draft draft{.activities = {{.delay = ns(100)}, {}, {}, {}, {.delay = ns(100)}},
                      .orders = {{0, 1}, {1, 2}, {2, 3}, {3, 4}}};
    CHECK(ends(draft) == std::vector{ns(100), ns(100), ns(100), ns(100), ns(200)});
}

TEST_CASE("components that share nothing are filled apart") {
    // link: ends at 1 and 2 (two fillings), other: ends at 3 (one); a filling needs somebody who flows
    const Draft draft{
        .capacity = {kGB, kGB},
        .activities = {
            {.work = 1, .uses = {{link, 1}}}, {.work = 3, .uses = {{link, 1}}}, {.work = 9, .uses = {{other, 1}}}}};
    CHECK(run(draft).solves == 3);
}

}  // namespace
}  // namespace fmsim::test
