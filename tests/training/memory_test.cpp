// Memory against what was published, and its closed forms.
#include <catch2/catch.hpp>

#include "toy.hpp"

namespace fmsim {
namespace {

double gib(const MemoryParts& memory) { return memory.all() / 1073741824.0; }

}  // namespace

TEST_CASE("parameters, gradients and state of ZeRO by hand") {
    // 8 ranks, tied to nothing: 2 bytes a parameter, 4 of gradients, 12 of state.
    TrainingPlan plan = test::plan_of("llama3-8b", 8, 8);
    const TrainingConstants constants = Catalogue::shipped().training();
    const double p = 8030261248.0 - 4096;
    plan.sharding = Sharding::none;
    CHECK(memory_of(plan, constants)[0].state == Approx(12 * p).epsilon(1e-3));
    plan.sharding = Sharding::zero1;
    CHECK(memory_of(plan, constants)[0].state == Approx(12 * p / 8).epsilon(1e-3));
    CHECK(memory_of(plan, constants)[0].gradients == Approx(4 * p).epsilon(1e-3));
    CHECK(memory_of(plan, constants)[0].parameters == Approx(2 * p).epsilon(1e-3));
    plan.sharding = Sharding::zero3;
    CHECK(memory_of(plan, constants)[0].gradients == Approx(4 * p / 8).epsilon(1e-3));
    CHECK(memory_of(plan, constants)[0].parameters == 0);
}

TEST_CASE("full recomputation keeps a layer's input") {
    TrainingPlan plan = test::plan_of("llama3-8b", 8, 8);
    const TrainingConstants constants = Catalogue::shipped().training();
    const double none = memory_of(plan, constants)[0].activations;
    plan.recompute.all = true;
    CHECK(memory_of(plan, constants)[0].activations < none / 5);
    CHECK(memory_of(plan, constants)[0].activations > 32.0 * 4096 * 4096 * 2);
}

TEST_CASE("peaks that torchtitan published, within a quarter") {
    // 8B on 8 GPUs, 2 sequences of 8192, every second product kept: 77.0 GiB, compiled.
    TrainingPlan plan = test::plan_of("llama3-8b", 8, 16);
    plan.sequence = 8192;
    plan.micro_batch = 2;
    plan.sharding = Sharding::zero3;
    plan.recompute.half_products = true;
    CHECK(gib(memory_of(plan, Catalogue::shipped().training())[0]) == Approx(77.0).epsilon(0.25));
    // 70B on 256, 16 sequences, tensor 8, all recomputed: 71.9 GiB.
    plan = test::plan_of("llama3-70b", 256, 512);
    plan.sequence = 8192;
    plan.micro_batch = 16;
    plan.tensor = 8;
    plan.sharding = Sharding::zero3;
    plan.recompute = {.all = true};
    CHECK(gib(memory_of(plan, Catalogue::shipped().training())[0]) == Approx(71.9).epsilon(0.35));
}

}  // namespace fmsim
