// Plans that are refused, and how layers are dealt out.
#include <catch2/catch.hpp>

#include "toy.hpp"

namespace fmsim {
namespace {

std::string refusal(const TrainingPlan& plan) {
    try {
        check(plan);
    } catch (const InputError& error) {
        return to_text(error.problems.front());
    }
    return "";
}

}  // namespace

TEST_CASE("a plan whose degrees do not divide is refused with the reason") {
    TrainingPlan plan = test::plan_of("llama3-8b", 16, 32);
    plan.tensor = 3;
    CHECK(refusal(plan).find("expected tensor x context x pipeline to divide the 16 GPUs; found 3 x 1 x 1") !=
          std::string::npos);
    plan.tensor = 1;
    plan.experts = 2;
    CHECK(refusal(plan).find("expected 1, since the model has no experts; found 2") != std::string::npos);
    plan.experts = 1;
    plan.global_batch = 33;
    CHECK(refusal(plan).find("expected a multiple of data x micro_batch, 16 x 1; found 33") != std::string::npos);
    plan.global_batch = 32;
    plan.chunks = 2;
    CHECK(refusal(plan).find("expected 1 where there is one stage") != std::string::npos);
    plan.pipeline = 4;
    plan.global_batch = 4 * 6;
    CHECK(refusal(plan).find("micro-batches in multiples of the 4 stages") != std::string::npos);
}

TEST_CASE("layers are dealt out evenly, what is over goes to the middle, ends may count") {
    TrainingPlan plan = test::plan_of("llama3-405b", 256, 16);
    plan.tensor = 8;
    plan.pipeline = 16;
    const auto layers = layers_of(plan);
    CHECK(layers.front()[0] == 7);
    CHECK(layers[7][0] == 8);
    CHECK(layers.back()[0] == 7);
    plan.ends_count = true;  // 128 places of 16 stages: 8, one less at both ends
    CHECK(layers_of(plan).front()[0] == 7);
    CHECK(layers_of(plan)[1][0] == 8);
    CHECK(layers_of(plan).back()[0] == 7);
    plan.chunks = 4;
    std::int64_t sum = 0;
    for (const auto& stage : layers_of(plan))
        for (const std::int64_t chunk : stage) sum += chunk;
    CHECK(sum == 126);
}

TEST_CASE("what does not fit is refused with what would") {
    test::Machine machine("p5.48xlarge:1");
    TrainingPlan plan = test::plan_of("llama3-70b", 8, 8);
    CHECK_THROWS_WITH(predict_step(plan, machine.trainer, machine.exchanges),
                      Catch::Contains("GiB a GPU") && Catch::Contains("it needs more GPUs"));
    plan = test::plan_of("llama3-8b", 8, 64);
    plan.micro_batch = 4;
    CHECK_THROWS_WITH(predict_step(plan, machine.trainer, machine.exchanges), Catch::Contains("would fit"));
}

}  // namespace fmsim
