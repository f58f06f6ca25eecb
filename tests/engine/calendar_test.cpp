// The calendar against an ordered set of (time, activity), which is obviously right.
#include "calendar.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "engine/draft.hpp"

namespace fmsim::test {
namespace {

TEST_CASE("the calendar gives the earliest first, and at one time the lowest id") {
    // at 5: activities 2 and 0; at 3: activity 1
    Calendar calendar(3);
    calendar.put({2}, {5});
    calendar.put({0}, {5});
    calendar.put({1}, {3});

    CHECK(calendar.next() == SimTime{3});
    CHECK(calendar.take() == EventId{1});
    CHECK(calendar.take() == EventId{0});
    CHECK(calendar.take() == EventId{2});
    CHECK(calendar.empty());
}

TEST_CASE("an activity has one event: a second put moves it, earlier or later") {
    Calendar calendar(2);
    calendar.put({0}, {5});
    calendar.put({1}, {6});

    calendar.put({0}, {7});
    CHECK(calendar.next() == SimTime{6});
    calendar.put({0}, {1});
    CHECK(calendar.take() == EventId{0});
    CHECK(calendar.take() == EventId{1});
    CHECK(calendar.empty());
}

TEST_CASE("withdrawing an event that is not there changes nothing") {
    Calendar calendar(2);
    calendar.withdraw({0});
    calendar.put({1}, {6});
    calendar.withdraw({0});
    CHECK(calendar.take() == EventId{1});
    calendar.withdraw({1});
    CHECK(calendar.empty());
}

TEST_CASE("the calendar does what an ordered set does, over random puts, moves, withdrawals and takes") {
    constexpr std::uint32_t kActivities = 200;
    const std::uint64_t seed = GENERATE(range(1u, 21u));
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
            when[activity.value] = {dice.below(50)};  // few times, so many ties
            plain.insert({when[activity.value], activity});
            calendar.put(activity, when[activity.value]);
        } else if (what < 8) {
            plain.erase({when[activity.value], activity});
            calendar.withdraw(activity);
        } else if (!plain.empty()) {
            same = calendar.next() == plain.begin()->first && calendar.take() == plain.begin()->second;
            plain.erase(plain.begin());
        }
        same = same && calendar.empty() == plain.empty();
    }
    CHECK(same);
}

}  // namespace
}  // namespace fmsim::test
