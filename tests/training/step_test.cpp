// A step's parts: that they add up, and bytes of exchanges by hand.
#include <catch2/catch.hpp>

#include "toy.hpp"

namespace fmsim {
namespace {

const ExchangeUse& use_of(const StepPrediction& step, const std::string& name) {
    for (const ExchangeUse& use : step.exchanges)
        if (use.name == name) return use;
    FAIL("no " + name);
    return step.exchanges.front();
}

}  // namespace

TEST_CASE("the parts of every stage add up to the step") {
    test::Machine machine("p5en.48xlarge:8");
    TrainingPlan plan = test::plan_of("llama3-70b", 64, 64);
    plan.tensor = 4;
    plan.pipeline = 4;
    plan.chunks = 5;
    const StepPrediction step = predict_step(plan, machine.trainer, machine.exchanges);
    for (const StagePrediction& stage : step.stages) CHECK(stage.parts.all() == Approx(step.seconds).epsilon(1e-9));
    CHECK(step.tokens_per_second_gpu == Approx(64.0 * 4096 / step.seconds / 64));
    CHECK(step.mfu > 0.2);
    CHECK(step.mfu < 0.7);
}

TEST_CASE("bytes of exchanges are those of the closed forms") {
    test::Machine machine("p5en.48xlarge:8");
    TrainingPlan plan = test::plan_of("llama3-8b", 64, 128);
    plan.tensor = 2;
    const StepPrediction step = predict_step(plan, machine.trainer, machine.exchanges);
    // A gather of activations: tokens x hidden x 2 bytes. Gradients: half of the parameters, 4 bytes; gathered in 2.
    CHECK(use_of(step, "tensor all_gather").bytes == 4096.0 * 4096 * 2);
    // All parameters but the last norm of 4096, which is too small to count.
    CHECK(use_of(step, "data reduce_scatter").bytes == Approx((8030261248 - 4096) / 2.0 * 4).epsilon(1e-3));
    CHECK(use_of(step, "data all_gather").bytes == Approx((8030261248 - 4096) / 2.0 * 2).epsilon(1e-3));
}

TEST_CASE("sharded parameters are gathered a layer at a time") {
    test::Machine machine("p5en.48xlarge:2");
    TrainingPlan plan = test::plan_of("llama3-8b", 16, 16);
    plan.sharding = Sharding::zero3;
    const StepPrediction step = predict_step(plan, machine.trainer, machine.exchanges);
    const double layer = 41947136.0 + 176164864;  // see model.cpp
    CHECK(use_of(step, "data all_gather").bytes == Approx(layer * 2).epsilon(1e-3));
    CHECK(use_of(step, "data reduce_scatter").bytes == Approx(layer * 4).epsilon(1e-3));
}

TEST_CASE("tokens of experts go out and come back") {
    test::Machine machine("p5en.48xlarge:2");
    TrainingPlan plan = test::plan_of("qwen3-30b-a3b", 16, 16);
    plan.experts = 8;
    const StepPrediction step = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    CHECK(use_of(step, "experts all_to_all").bytes == 4096.0 * 8 * 2048 * 2);
    CHECK(use_of(step, "expert data reduce_scatter").family == Family{2, 8});
}

TEST_CASE("405B on 16,384 GPUs") {
    test::Machine machine("p5en.48xlarge:2048");
    TrainingPlan plan = test::plan_of("llama3-405b", 16384, 16384);
    plan.sequence = 8192;
    plan.tensor = 8;
    plan.pipeline = 16;
    plan.chunks = 4;
    plan.ends_count = true;
    const StepPrediction step = predict_step(plan, machine.trainer, machine.exchanges);
    CHECK(plan.micro_batches() == 128);
    CHECK(step.mfu > 0.35);
    CHECK(step.mfu < 0.55);
}

TEST_CASE("longer overlap never makes a step longer than none") {
    test::Machine machine("p5.48xlarge:4");
    TrainingPlan plan = test::plan_of("llama3-8b", 32, 64);
    plan.tensor = 2;
    const double with = predict_step(plan, machine.trainer, machine.exchanges).seconds;
    plan.overlap.gradients = plan.overlap.parameters = false;
    CHECK(predict_step(plan, machine.trainer, machine.exchanges).seconds > with);
}

TEST_CASE("a slow GPU slows the step as much, equal ones not at all, and a seed gives the same again") {
    test::Machine machine("p5en.48xlarge:1");
    TrainingPlan plan = test::plan_of("llama3-8b", 8, 64);
    plan.recompute.all = true;
    const StepPrediction even = predict_step(plan, machine.trainer, machine.exchanges);
    plan.stragglers = {.jitter = 0, .slow_gpus = 1, .slow_by = 1.2};
    const StepPrediction slow = predict_step(plan, machine.trainer, machine.exchanges);
    const double passes = even.seconds - even.parts()[StepPart::optimizer] - even.parts()[StepPart::data];
    CHECK(slow.seconds - even.seconds == Approx(0.2 * passes).epsilon(0.05));
    CHECK(slow.parts().all() == Approx(slow.seconds).epsilon(1e-9));
    plan.stragglers = {.jitter = 0.02, .slow_gpus = 0, .slow_by = 1, .seed = 3};
    const double one = predict_step(plan, machine.trainer, machine.exchanges).seconds;
    CHECK(one > even.seconds);
    CHECK(one < even.seconds * 1.1);
    CHECK(predict_step(plan, machine.trainer, machine.exchanges).seconds == one);
    plan.stragglers.seed = 4;
    CHECK(predict_step(plan, machine.trainer, machine.exchanges).seconds != one);
}

TEST_CASE("a step's price and a checkpoint by hand: 4 instances at 36 USD an hour, 14 bytes a parameter") {
    TrainingPlan plan = test::plan_of("llama3-8b", 32, 32);
    InstanceType type{
        .name = "toy", .gpus = 8, .host_memory = {std::int64_t{1} << 40}, .drives = 2, .drive = {1'000'000'000'000}};
    type.on_demand = Price{36, "2026"};
    const Outlay outlay = outlay_of(plan, type, 2.5);
    CHECK(outlay.instances == 4);
    CHECK(outlay.on_demand_usd.value() == Approx(0.1));
    CHECK_FALSE(outlay.capacity_block_usd);
    CHECK(outlay.checkpoint == Approx(8030261248.0 * 14 / 4));
    CHECK(outlay.of_host_memory == Approx(outlay.checkpoint / 1099511627776.0));
    CHECK(outlay.of_drives == Approx(outlay.checkpoint / 2e12));
}

}  // namespace fmsim
