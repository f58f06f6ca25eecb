// What the builder keeps out, and in which order it lays things out.
#include <cmath>

#include <catch2/catch.hpp>

#include "engine/draft.hpp"

namespace fmsim::test {
namespace {

constexpr ResourceId link{0};

TEST_CASE("an activity that could give no meaningful run is refused") {
    const double nan = std::nan("");
    const auto [why, activity] = GENERATE_COPY(table<std::string, DraftActivity>({
        {"negative delay", {.delay = {-1}, .work = 1, .uses = {{link, 1}}}},
        {"negative work", {.work = -1, .uses = {{link, 1}}}},
        {"work is no number", {.work = nan, .uses = {{link, 1}}}},
        {"endless work", {.work = kUnlimited, .uses = {{link, 1}}}},
        {"no share", {.work = 1, .share = 0, .uses = {{link, 1}}}},
        {"endless share", {.work = 1, .share = kUnlimited, .uses = {{link, 1}}}},
        {"negative limit", {.work = 1, .rate_limit = -1, .uses = {{link, 1}}}},
        {"limit is no number", {.work = 1, .rate_limit = nan, .uses = {{link, 1}}}},
        {"nothing holds it", {.work = 1}},
        {"unknown resource", {.work = 1, .uses = {{{1}, 1}}}},
        {"no weight", {.work = 1, .uses = {{link, 0}}}},
        {"negative weight", {.work = 1, .uses = {{link, -1}}}},
        {"resource used twice", {.work = 1, .uses = {{link, 1}, {link, 1}}}},
        {"hold of an unknown resource", {.holds = {{{1}, 1}}}},
        {"negative hold", {.holds = {{link, -1}}}},
        {"endless hold", {.holds = {{link, kUnlimited}}}},
    }));
    CAPTURE(why);
    CHECK_THROWS_AS(build({.capacity = {1}, .activities = {activity}}), std::invalid_argument);
}

TEST_CASE("a capacity is finite and not negative") {
    const double capacity = GENERATE(-1.0, kUnlimited, std::nan(""));
    CHECK_THROWS_AS(build({.capacity = {capacity}}), std::invalid_argument);
    CHECK_NOTHROW(build({.capacity = {0}}));
}

TEST_CASE("an order joins known activities and does not go back in time") {
    const DraftOrder order = GENERATE(DraftOrder{0, 2}, DraftOrder{2, 0}, DraftOrder{0, 1, {-1}});
    CHECK_THROWS_AS(build({.activities = {{}, {}}, .orders = {order}}), std::invalid_argument);
}

TEST_CASE("successors lie by activity, in the order in which they were given") {
    // 2 before 0, 0 before 3, 2 before 1, 0 before 1
    const System system =
        build({.activities = {{}, {}, {}, {}}, .orders = {{2, 0, ns(1)}, {0, 3, ns(2)}, {2, 1, ns(3)}, {0, 1, ns(4)}}});
    CHECK(system.successors.first == std::vector<std::uint32_t>{0, 2, 2, 4, 4});
    std::vector<std::uint32_t> after;
    for (const ActivityId successor : system.successors.after) after.push_back(successor.value);
    CHECK(after == std::vector<std::uint32_t>{3, 1, 0, 1});
    CHECK(system.predecessors.rows == std::vector<std::uint32_t>{1, 2, 0, 1});
}

TEST_CASE("a refused activity leaves no trace") {
    SystemBuilder builder;
    builder.add_resource(1e9);
    const std::vector<Use> uses{{link, 1}};
    CHECK_THROWS_AS(builder.add({.delay = {-1}, .work = 1000, .uses = uses}), std::invalid_argument);
    CHECK_THROWS_AS(builder.add({.work = 1000, .uses = std::vector<Use>{{link, 1}, {link, 1}}}), std::invalid_argument);
    CHECK(builder.add({.work = 1000, .uses = uses}) == ActivityId{0});
    CHECK(run(std::move(builder).build()).end == ns(1000));
}

TEST_CASE("an activity may use very many resources") {
    // A ring over a whole cluster is one activity on all its links: checking it must not take the square of them.
    constexpr std::uint32_t kLinks = 200'000;
    Draft draft{.capacity = std::vector(kLinks, 1e9), .activities = {{.work = 1000}}};
    for (std::uint32_t i = 0; i < kLinks; ++i) draft.activities[0].uses.push_back({{i}, 1});
    CHECK(run(build(draft)).end == ns(1000));
}

}  // namespace
}  // namespace fmsim::test
