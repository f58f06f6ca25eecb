// Bytes that a step moves, over all its layers and micro-batches, against closed forms.
#include <catch2/catch.hpp>

#include "toy.hpp"

namespace fmsim {
namespace {

// Bytes of calls by name, of all sizes, a step on the stage with most.
double moved(const StepPrediction& step, const std::string& name) {
    double bytes = 0;
    for (const ExchangeUse& use : step.exchanges)
        if (use.name == name) bytes += use.bytes * use.calls;
    return bytes;
}

StepPrediction step_of(const TrainingPlan& plan, const std::string& cluster) {
    test::Machine machine(cluster);
    return predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
}

constexpr double kExact = 1e-3;

}  // namespace

TEST_CASE("tensor parallel with the sequence split: a layer gathers 6 and scatters 4 times 2 T h bytes") {
    // 32 layers; 4 micro-batches of 4096 tokens of 4096 values. Forward 2 and 2, backward 4 and 2.
    TrainingPlan plan = test::plan_of("llama3-8b", 8, 16);
    plan.tensor = 2;
    const double one = 2.0 * 4096 * 4096 * 32 * 4;
    CHECK(moved(step_of(plan, "p5en.48xlarge:1"), "tensor all_gather") == Approx(6 * one).epsilon(kExact));
    CHECK(moved(step_of(plan, "p5en.48xlarge:1"), "tensor reduce_scatter") == Approx(4 * one).epsilon(kExact));
    plan.recompute.all = true;  // the forward pass's once more
    CHECK(moved(step_of(plan, "p5en.48xlarge:1"), "tensor all_gather") == Approx(8 * one).epsilon(kExact));
    CHECK(moved(step_of(plan, "p5en.48xlarge:1"), "tensor reduce_scatter") == Approx(6 * one).epsilon(kExact));
    plan.recompute.all = false;
    plan.sequence_parallel = false;
    CHECK(moved(step_of(plan, "p5en.48xlarge:1"), "tensor all_reduce") == Approx(4 * one).epsilon(kExact));
    plan.sequence_parallel = true;
    plan.pipeline = 2;  // a stage has 16 of the layers, and each replica twice the micro-batches
    CHECK(moved(step_of(plan, "p5en.48xlarge:1"), "tensor all_gather") == Approx(6 * one).epsilon(kExact));
}

TEST_CASE("FSDP gathers all layers twice a micro-batch and scatters their gradients once; ZeRO-2 only scatters") {
    // Without tables and the last norm; 3 micro-batches, 2 bytes gathered, 4 summed.
    const double layers = 8030261248.0 - 2.0 * 128256 * 4096 - 4096;
    TrainingPlan plan = test::plan_of("llama3-8b", 16, 48);
    plan.sharding = Sharding::zero3;
    const StepPrediction whole = step_of(plan, "p5en.48xlarge:2");
    CHECK(moved(whole, "data all_gather") == Approx(2 * 2 * layers * 3).epsilon(kExact));
    CHECK(moved(whole, "data reduce_scatter") == Approx(4 * layers * 3).epsilon(kExact));
    plan.sharding = Sharding::zero2;
    const StepPrediction some = step_of(plan, "p5en.48xlarge:2");
    CHECK(moved(some, "data all_gather") == 0);
    CHECK(moved(some, "data reduce_scatter") == Approx(4 * layers * 3).epsilon(kExact));
}

TEST_CASE("experts: each token goes to its 8 and comes back, forward and backward") {
    // 48 layers; 2 micro-batches of 4096 tokens of 2048 values in 16 bits; there and back twice.
    TrainingPlan plan = test::plan_of("qwen3-30b-a3b", 16, 32);
    plan.experts = 8;
    const double way = 4096.0 * 8 * 2048 * 2 * 48 * 2;
    CHECK(moved(step_of(plan, "p5en.48xlarge:2"), "experts all_to_all") == Approx(4 * way).epsilon(kExact));
    plan.recompute.all = true;
    CHECK(moved(step_of(plan, "p5en.48xlarge:2"), "experts all_to_all") == Approx(6 * way).epsilon(kExact));
}

TEST_CASE("a context ring passes keys and values on C - 1 times forward, twice as often backward") {
    // 8 heads of keys and values of 128 in 16 bits, 2048 tokens a rank, 32 layers, 1 micro-batch.
    TrainingPlan plan = test::plan_of("llama3-8b", 8, 4);
    plan.context = 2;
    const double part = 2048.0 * 2 * 8 * 128 * 2;
    CHECK(moved(step_of(plan, "p5en.48xlarge:1"), "context send_recv") == Approx(3 * part * 32).epsilon(kExact));
}

}  // namespace fmsim
