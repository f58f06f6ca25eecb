// Questions that planners asked in public, with the answers that came out.
#include <catch2/catch.hpp>
#include <cmath>

#include "toy.hpp"

namespace fmsim {

TEST_CASE("tensor parallel over a slow link moves 192 reductions, pipeline one message") {
    // Hidden 12288, 96 layers, 16 bits, a prefill of 2048 tokens: 192 x 2048 x 12288 x 2 = 9.66 GB, against 50 MB.
    test::Machine machine("p5.48xlarge:2");
    TrainingPlan plan = test::plan_of("gpt3-175b", 16, 1);
    plan.sequence = 2048;
    plan.tensor = 16;
    plan.sequence_parallel = false;
    const StepPrediction tensor = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    double bytes = 0;
    for (const ExchangeUse& use : tensor.exchanges)
        if (use.name == "tensor all_reduce") bytes = use.bytes;
    CHECK(2 * 96 * bytes == Approx(9.66e9).epsilon(1e-3));
    plan.tensor = 8;
    plan.pipeline = 2;
    plan.global_batch = 8;
    const StepPrediction inside = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    // The same work a GPU without a tensor group across the network is faster, the bubble of 1 / 9 included.
    CHECK(inside.tokens_per_second_gpu > tensor.tokens_per_second_gpu);
}

TEST_CASE("shards inside and copies outside are not slower where the network is, and need more memory") {
    test::Machine machine("hgx-h100-8x400:8");
    TrainingPlan plan = test::plan_of("qwen3-30b-a3b", 64, 1024);
    plan.pipeline = 4;
    plan.experts = 8;
    plan.sharding = Sharding::zero3;
    plan.recompute.all = true;
    const StepPrediction over_all = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    plan.shard_group = 8;
    const StepPrediction inside = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    CHECK(inside.seconds <= over_all.seconds * 1.001);  // gathers of both hide behind experts here
    CHECK(inside.stages[0].memory.all() > over_all.stages[0].memory.all());
}

TEST_CASE("experts inside an instance are faster than experts across two") {
    test::Machine machine("p5en.48xlarge:2");
    TrainingPlan plan = test::plan_of("mixtral-8x22b", 16, 64);
    plan.model.experts->experts = 16;
    plan.pipeline = 2;
    plan.experts = 8;
    const StepPrediction inside = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    plan.pipeline = 1;
    plan.experts = 16;
    const StepPrediction across = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    CHECK(inside.parts()[StepPart::expert_exchange] < across.parts()[StepPart::expert_exchange]);
    CHECK(inside.seconds < across.seconds);
}

TEST_CASE("at a fixed global batch larger micro-batches make a larger bubble") {
    test::Machine machine("p5en.48xlarge:8");
    TrainingPlan plan = test::plan_of("llama3-70b", 64, 64);
    plan.tensor = 8;
    plan.pipeline = 8;
    const double small = predict_step(plan, machine.trainer, machine.exchanges).bubble;
    plan.micro_batch = 4;
    const double large = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false}).bubble;
    CHECK(large > small);
}

TEST_CASE("how long 65B on 1.4 T tokens takes, and how many GPUs a deadline needs") {
    CHECK(days_to_train(1.4e12, 380, 2048) == Approx(20.8).epsilon(0.002));
    CHECK(gpus_to_train(65e9, 1.4e12, 21, 0.475 * 312e12, 1) == 2031);
    CHECK(gpus_to_train(65e9, 1.4e12, 21, 0.475 * 312e12, 8) == 2032);
    CHECK(days_to_train(2.8e12, 380, 2048) == Approx(2 * days_to_train(1.4e12, 380, 2048)));
}

}  // namespace fmsim
