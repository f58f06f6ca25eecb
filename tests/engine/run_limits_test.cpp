// Runs that cannot come to an end: what stands still is named, what lasts too long is refused.
#include <catch2/catch.hpp>

#include "engine/draft.hpp"

namespace fmsim::test {
namespace {

constexpr ResourceId link{0}, other{1};
constexpr double kGB = 1e9;

Timeline run(const Draft& draft) { return fmsim::run(build(draft)); }

TEST_CASE("on a link without capacity nothing ends, nor what waits for it; the rest does") {
    const Draft draft{.capacity = {0, kGB},
                      .activities = {{.work = 1, .uses = {{link, 1}}}, {}, {.work = 1000, .uses = {{other, 1}}}},
                      .orders = {{0, 1}}};
    const Timeline timeline = run(draft);
    CHECK(timeline.unfinished == std::vector{ActivityId{0}, ActivityId{1}});
    CHECK(timeline.held_by[ActivityId{0}] == link);
    CHECK(timeline.end == ns(1000));
}

TEST_CASE("a rate limit of zero stands still for ever") {
    CHECK(run({.activities = {{.work = 1, .rate_limit = 0}}}).unfinished == std::vector{ActivityId{0}});
}

TEST_CASE("a cycle and what waits behind it are unfinished") {
    // 0 -> 1 <-> 2 -> 3 and 4 waits for itself
    const Draft draft{.activities = {{.delay = ns(7)}, {}, {}, {}, {}},
                      .orders = {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {4, 4}}};
    const Timeline timeline = run(draft);
    CHECK(timeline.unfinished == std::vector{ActivityId{1}, ActivityId{2}, ActivityId{3}, ActivityId{4}});
    CHECK(timeline.end == ns(7));
}

TEST_CASE("a time beyond 2.56 hours is refused, wherever it comes from") {
    // 9224 s is beyond 2^63 fs = 9223.37 s
    const auto [why, draft] = GENERATE(table<std::string, Draft>({
        {"work", {.capacity = {kGB}, .activities = {{.work = 9224e9, .uses = {{link, 1}}}}}},
        {"work at its own limit", {.activities = {{.work = 9224e9, .rate_limit = kGB}}}},
        {"delays in a row", {.activities = {{.delay = ns(5e12)}, {.delay = ns(5e12)}}, .orders = {{0, 1}}}},
        {"a lag", {.activities = {{.delay = ns(5e12)}, {}}, .orders = {{0, 1, ns(5e12)}}}},
        {"a hardly moving rate", {.capacity = {1e-300}, .activities = {{.work = 1e300, .uses = {{link, 1}}}}}},
    }));
    CAPTURE(why);
    CHECK_THROWS_AS(run(draft), LimitReached);
}

TEST_CASE("the last second before the limit can be used") {
    const Draft draft{.capacity = {kGB}, .activities = {{.work = 9223e9, .uses = {{link, 1}}}}};
    CHECK(run(draft).end == from_seconds(9223));
}

TEST_CASE("an end beyond the limit is no failure when a higher rate brings it nearer") {
    // h holds all but 1 B/s of the link for 1 us: at that rate 1000 B would take 1000 s, 1e7 B 115 days
    const Draft draft{
        .capacity = {kGB},
        .activities = {{.work = 1e7, .uses = {{link, 1}}}, {.delay = ns(1000), .holds = {{link, kGB - 1}}}}};
    const Timeline timeline = run(draft);
    CHECK(timeline.unfinished.empty());
    CHECK(close(timeline.end, ns(1000) + from_seconds(0.01), 2));
}

TEST_CASE("work that is done to the last bit ends even where its link is taken away at that moment") {
    // After 1000 s a double cannot tell the last femtoseconds apart: at 1 fs before the end nothing is left to do, and
    // then h takes the whole link for good, waiting for an end that never comes.
    const Draft draft{.capacity = {kGB, 0},
                      .activities = {{.work = 1e12, .uses = {{link, 1}}},
                                     {.delay = from_seconds(1000) - SimTime{1}},
                                     {.work = 1, .uses = {{other, 1}}, .holds = {{link, kGB}}}},
                      .orders = {{1, 2}}};
    const Timeline timeline = run(draft);
    CHECK(timeline.unfinished == std::vector{ActivityId{2}});
    CHECK(close(timeline.ended[ActivityId{0}], from_seconds(1000), 1));
}

}  // namespace
}  // namespace fmsim::test
