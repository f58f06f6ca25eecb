// One slow GPU or NIC in a plan: who waits for it, and by how much.
#include <catch2/catch.hpp>

#include "toy.hpp"

namespace fmsim {
namespace {

StepPrediction step_with(const std::vector<Fault>& faults, std::uint32_t pipeline) {
    const Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = catalogue.cluster("p5en.48xlarge:8");
    cluster.faults = faults;
    TrainingPlan plan = test::plan_of("llama3-8b", 64, 512);
    plan.pipeline = pipeline;
    const Gpu gpu = cluster.blocks.front().type.instance.gpu;
    Exchanges exchanges(cluster, 0, catalogue.nccl());
    return predict_step(plan, {gpu, catalogue.kernels(gpu), catalogue.training()}, exchanges, {.must_fit = false});
}

}  // namespace

TEST_CASE("a GPU at 0.8 of its speed takes 1/0.8 for its kernels, and all wait for it") {
    const StepPrediction sound = step_with({}, 1);
    const StepPrediction slow = step_with({{DeviceKind::gpu, 5, 3, 0.8}}, 1);
    CHECK(slow.parts()[StepPart::products] == Approx(sound.parts()[StepPart::products] / 0.8));
    CHECK(slow.parts()[StepPart::attention] == Approx(sound.parts()[StepPart::attention] / 0.8));
    CHECK(slow.parts()[StepPart::host] == Approx(sound.parts()[StepPart::host]));
    CHECK(slow.seconds > sound.seconds * 1.15);
    CHECK(slow.seconds < sound.seconds * 1.25 + 1e-9);
}

TEST_CASE("with stages only the one that has it computes longer; the others wait") {
    const StepPrediction sound = step_with({}, 4);
    const StepPrediction slow = step_with({{DeviceKind::gpu, 5, 3, 0.8}}, 4);  // rank 43 of 64: stage 2
    for (std::size_t stage = 0; stage < 4; ++stage) {
        CAPTURE(stage);
        const double longer =
            slow.stages[stage].parts[StepPart::products] / sound.stages[stage].parts[StepPart::products];
        CHECK(longer == Approx(stage == 2 ? 1.25 : 1));
        CHECK(slow.stages[stage].parts.all() == Approx(slow.seconds).epsilon(1e-9));
    }
    CHECK(slow.stages[0].parts[StepPart::bubble] > sound.stages[0].parts[StepPart::bubble]);
}

TEST_CASE("a NIC anywhere at half its rate slows the exchanges, and one that is down is refused or rebalanced") {
    const double sound = step_with({}, 1).parts()[StepPart::data];
    CHECK(step_with({{DeviceKind::nic, 7, 2, 0.5}}, 1).parts()[StepPart::data] >= sound);
    CHECK(step_with({{DeviceKind::nic, 7, 2, 0.5}}, 1).seconds == step_with({{DeviceKind::nic, 0, 2, 0.5}}, 1).seconds);
    CHECK_THROWS_AS(step_with({{DeviceKind::gpu, 0, 0, 0}}, 1), Infeasible);
}

}  // namespace fmsim
