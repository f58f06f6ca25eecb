// One component as large as they come: what walks it must not recurse, and what fills it must not scan it twice.
#include <algorithm>

#include <catch2/catch.hpp>

#include "engine/draft.hpp"

namespace fmsim::test {
namespace {

TEST_CASE("a single component of 200,000 links runs") {
    // l0 -- l1 -- l2 -- ... each flow over two neighbours: f0 on l0 l1, f1 on l1 l2, ...
    // All links but the first and the last carry two flows, so each gets half: 1000 B in 2000 ns, all at once.
    constexpr std::uint32_t kLinks = 200'000;
    SystemBuilder builder;
    for (std::uint32_t i = 0; i < kLinks; ++i) builder.add_resource(1e9);
    for (std::uint32_t i = 0; i + 1 < kLinks; ++i) {
        const std::vector<Use> uses{{{i}, 1}, {{i + 1}, 1}};
        builder.add({.work = 1000, .uses = uses});
    }
    const Timeline timeline = run(std::move(builder).build());

    CHECK(timeline.unfinished.empty());
    CHECK(timeline.end == ns(2000));
    CHECK(std::all_of(timeline.ended.rows.begin(), timeline.ended.rows.end(), [](SimTime t) { return t == ns(2000); }));
    CHECK(timeline.solves == 1);
}

TEST_CASE("a chain in which each link fills at a level of its own is filled in one go") {
    // Flow i is alone on link i + 1 after its neighbour: capacities 1, 3, 5, ... GB/s, where link i has flows i - 1
    // and i. f0 is held by l0 at 1, l1 leaves 3 - 1 = 2 to f1, l2 leaves 5 - 2 = 3 to f2: flow i gets i + 1 GB/s.
    constexpr std::uint32_t kFlows = 20'000;
    Draft draft;
    for (std::uint32_t i = 0; i <= kFlows; ++i) {
        draft.capacity.push_back(1e9 * (2 * i + 1));
        if (i == kFlows) break;
        draft.activities.push_back({.work = 1000.0 * (i + 1), .uses = {{{i}, 1}, {{i + 1}, 1}}});
    }
    const Timeline timeline = run(build(draft));
    CHECK(timeline.ended.rows == std::vector(kFlows, ns(1000)));
    CHECK(timeline.solves == 1);
}

}  // namespace
}  // namespace fmsim::test
