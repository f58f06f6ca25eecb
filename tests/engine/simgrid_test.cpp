// The engine against SimGrid: 200 random sets of flows with integer capacities and sizes, started at random times.
#include <algorithm>

#include <catch2/catch.hpp>

#include "engine/draft.hpp"
#include "engine/simgrid_oracle.hpp"

namespace fmsim::test {
namespace {

// 3 to 60 links of 1 to 50 GB/s in steps, 3 to 300 flows of 1 to 6 links and 1 kB to 100 MB, half of them later.
Draft random_flows(std::uint64_t seed) {
    Dice dice(seed);
    const std::uint32_t links = 3 + dice.below(58);
    const std::uint32_t flows = 3 + dice.below(298);
    Draft draft;
    for (std::uint32_t i = 0; i < links; ++i) draft.capacity.push_back(1e9 * (1 + dice.below(50)));
    std::vector<std::uint32_t> order(links);
    for (std::uint32_t i = 0; i < links; ++i) order[i] = i;
    for (std::uint32_t i = 0; i < flows; ++i) {
        DraftActivity flow{.work = 1000.0 * (1 + dice.below(100'000))};
        if (dice.chance(50)) flow.delay = ns(dice.below(20'000'000));
        dice.shuffle(order);
        const std::uint32_t hops = std::min(links, 1 + dice.below(6));
        for (std::uint32_t hop = 0; hop < hops; ++hop) flow.uses.push_back({{order[hop]}, 1});
        draft.activities.push_back(flow);
    }
    return draft;
}

TEST_CASE("two flows on a link end in SimGrid as they do by hand") {
    // 100 B/s: both at 50 until 10 s, then the first alone for its last 500 B
    const Draft draft{.capacity = {100},
                      .activities = {{.work = 1000, .uses = {{{0}, 1}}}, {.work = 500, .uses = {{{0}, 1}}}}};
    const std::vector<double> ends = simgrid_ends(draft);
    CHECK(ends[0] == Approx(15).epsilon(1e-12));
    CHECK(ends[1] == Approx(10).epsilon(1e-12));
}

TEST_CASE("200 random sets of flows end when they end in SimGrid") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Draft draft = random_flows(seed);
        const Timeline timeline = run(build(draft));
        const std::vector<double> ends = simgrid_ends(draft);
        for (std::size_t i = 0; i < ends.size(); ++i) {
            CAPTURE(seed, i, seconds(timeline.ended.rows[i]), ends[i]);
            CHECK(close(timeline.ended.rows[i], from_seconds(ends[i]), 2 * ends.size()));
        }
    }
}

}  // namespace
}  // namespace fmsim::test
