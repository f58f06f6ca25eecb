// The calendar against an ordered set of (time, event), which is obviously right.
#include "calendar.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "engine/draft.hpp"

namespace fmsim::test {
namespace {

using Events = std::vector<EventId>;

Events taken(Calendar& calendar) {
    Events events{{99}};  // what is in there goes
    calendar.take(events);
    return events;
}

TEST_CASE("the calendar gives the earliest first, and all of one time together by id") {
    // at 5: activities 2 and 0; at 3: activity 1
    Calendar calendar(3);
    calendar.put({2}, {5});
    calendar.put({0}, {5});
    calendar.put({1}, {3});

    CHECK(calendar.next() == SimTime{3});
    CHECK(taken(calendar) == Events{{1}});
    CHECK(calendar.next() == SimTime{5});
    CHECK(taken(calendar) == Events{{0}, {2}});
    CHECK(calendar.empty());
}

TEST_CASE("an activity has one event: a second put moves it, earlier or later") {
    Calendar calendar(2);
    calendar.put({0}, {5});
    calendar.put({1}, {6});

    calendar.put({0}, {7});
    CHECK(calendar.next() == SimTime{6});
    calendar.put({0}, {1});
    CHECK(taken(calendar) == Events{{0}});
    CHECK(taken(calendar) == Events{{1}});
    CHECK(calendar.empty());
}

TEST_CASE("withdrawing an event that is not there changes nothing") {
    Calendar calendar(2);
    calendar.withdraw({0});
    calendar.put({1}, {6});
    calendar.withdraw({0});
    CHECK(taken(calendar) == Events{{1}});
    calendar.withdraw({1});
    CHECK(calendar.empty());
}

TEST_CASE("events of one time come together however many times lie between their puts") {
    // More times than the calendar remembers, then the same ones again, in the other order of ids.
    constexpr std::uint32_t kTimes = 1000;
    Calendar calendar(2 * kTimes);
    for (std::uint32_t i = 0; i < kTimes; ++i) calendar.put({kTimes + i}, {i});
    for (std::uint32_t i = 0; i < kTimes; ++i) calendar.put({i}, {i});
    bool same = true;
    for (std::uint32_t i = 0; i < kTimes; ++i)
        same = same && calendar.next() == SimTime{i} && taken(calendar) == Events{{i}, {kTimes + i}};
    CHECK(same);
    CHECK(calendar.empty());
}

TEST_CASE("the calendar does what an ordered set does, over random puts, moves, withdrawals and takes") {
    constexpr std::uint32_t kActivities = 200;
    const std::uint64_t seed = GENERATE(range(1u, 21u));
    const std::uint32_t times = seed % 2 == 0 ? 50 : 5000;  // few times, so many ties; or hardly any
    CAPTURE(seed);
    Dice dice(seed);
    Calendar calendar(kActivities);
    std::set<std::pair<SimTime, EventId>> plain;
    std::vector<SimTime> when(kActivities);

    bool same = true;
    for (int step = 0; step < 5000 && same; ++step) {
        const EventId activity{dice.below(kActivities)};
        const std::uint32_t what = dice.below(10);
        if (what < 6) {
            plain.erase({when[activity.value], activity});
            when[activity.value] = {dice.below(times)};
            plain.insert({when[activity.value], activity});
            calendar.put(activity, when[activity.value]);
        } else if (what < 8) {
            plain.erase({when[activity.value], activity});
            calendar.withdraw(activity);
        } else if (!plain.empty()) {
            const SimTime first = plain.begin()->first;
            Events all;
            for (; !plain.empty() && plain.begin()->first == first; plain.erase(plain.begin()))
                all.push_back(plain.begin()->second);
            same = calendar.next() == first && taken(calendar) == all;
        }
        same = same && calendar.empty() == plain.empty();
    }
    CHECK(same);
}

}  // namespace
}  // namespace fmsim::test
