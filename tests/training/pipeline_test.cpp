// Schedules against their closed forms.
#include <catch2/catch.hpp>

#include "fmsim/training.hpp"

namespace fmsim {
namespace {

PipelineCosts even(std::uint32_t stages, std::int64_t micro_batches, std::uint32_t chunks = 1) {
    PipelineCosts costs{.stages = stages, .chunks = chunks, .micro_batches = micro_batches};
    costs.forward.assign(stages, std::vector<double>(chunks, 1.0 / chunks));
    costs.backward.assign(stages, std::vector<double>(chunks, 2.0 / chunks));
    return costs;
}

double idle(PipelineSchedule schedule, const PipelineCosts& costs) {
    const PipelineTimes times = play(schedule, costs);
    return 1 - times.busy[0] / times.seconds;
}

}  // namespace

TEST_CASE("the idle share of GPipe and 1F1B is (P - 1) / (M + P - 1)") {
    for (const auto& [stages, batches] :
         std::vector<std::pair<std::uint32_t, std::int64_t>>{{8, 8}, {8, 16}, {4, 8}, {16, 128}})
        for (const PipelineSchedule schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b})
            CHECK(idle(schedule, even(stages, batches)) ==
                  Approx((stages - 1.0) / (static_cast<double>(batches) + stages - 1)).epsilon(1e-3));
}

TEST_CASE("chunks divide the ramp: (P - 1) / (v M + P - 1)") {
    for (const std::uint32_t chunks : {2U, 4U})
        for (const std::int64_t batches : {8, 32})
            CHECK(idle(PipelineSchedule::one_f_one_b, even(8, batches, chunks)) ==
                  Approx(7.0 / (static_cast<double>(chunks * batches) + 7)).epsilon(1e-3));
}

TEST_CASE("1F1B keeps at most as many micro-batches as stages follow, GPipe all") {
    const PipelineTimes times = play(PipelineSchedule::one_f_one_b, even(4, 16));
    CHECK(times.alive == std::vector<std::int64_t>{4, 3, 2, 1});
    CHECK(play(PipelineSchedule::gpipe, even(4, 16)).alive == std::vector<std::int64_t>{16, 16, 16, 16});
}

TEST_CASE("a stage that is slower sets the pace") {
    PipelineCosts costs = even(4, 100);
    costs.forward[2][0] = 2;
    costs.backward[2][0] = 4;
    const PipelineTimes times = play(PipelineSchedule::one_f_one_b, costs);
    // 100 micro-batches of 6; before the first two passes of 1, after the last two of 2; at most the last stage's
    // besides.
    CHECK(times.seconds >= 606);
    CHECK(times.seconds <= 609);
}

TEST_CASE("gradients of weights fill the bubble, and two directions make it shorter") {
    PipelineCosts costs = even(8, 32);
    costs.weights.assign(8, {1.0});
    const double plain = play(PipelineSchedule::one_f_one_b, even(8, 32)).seconds;
    const double filled = play(PipelineSchedule::zero_bubble, costs).seconds;
    const double two_ways = play(PipelineSchedule::dual_pipe, costs).seconds;
    CHECK(filled < plain);
    CHECK(filled >= 32 * 3);
    CHECK(two_ways < plain);
    CHECK(two_ways >= 32 * 3);
    const PipelineTimes times = play(PipelineSchedule::dual_pipe, costs);
    for (const double busy : times.busy) CHECK(busy == Approx(96));  // all of it was done
}

TEST_CASE("messages that are not hidden cost each stage their time") {
    PipelineCosts costs = even(2, 4);
    costs.message = 0.5;
    costs.message_hidden = false;
    const PipelineTimes times = play(PipelineSchedule::one_f_one_b, costs);
    CHECK(times.messages == std::vector<std::int64_t>{4, 4});
    CHECK(times.busy[0] == Approx(4 * 3 + 4 * 0.5));
}

}  // namespace fmsim
