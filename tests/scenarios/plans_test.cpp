// Questions about parallel plans that planners asked in public, with the answers that came out.
#include <catch2/catch.hpp>
#include <cmath>

#include "training/toy.hpp"

namespace fmsim {
namespace {

// Of an operation of two GPUs, one an instance, over a link of 109 Gbit/s with so much more latency.
double over_link(Collective collective, double bytes, SimTime latency) {
    const Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = catalogue.cluster("p5.4xlarge:2");
    cluster.blocks.front().type.instance.gpudirect = true;  // the link is what counts here
    Nic& nic = *cluster.blocks.front().type.instance.nic;
    nic.rate = nic.carries = BytesPerSecond{109e9 / 8};
    for (SimTime& hop : nic.hop_latency.values) hop = later(hop, latency);
    return Exchanges(cluster, 1, catalogue.nccl()).seconds({.size = 2, .stride = 1}, collective, bytes);
}

}  // namespace

TEST_CASE("tensor parallel over a slow link: 192 reductions a step against one message") {
    // LLMKube#1423. Hidden 12288, 96 layers, 16 bits; decode with batch 1 and 32, prefill of 2048 tokens.
    constexpr double kToken = 12288 * 2, kCalls = 2 * 96;
    CHECK(kCalls * kToken == Approx(4.7e6).epsilon(0.01));
    CHECK(kCalls * kToken * 32 == Approx(151e6).epsilon(0.01));
    CHECK(kCalls * kToken * 2048 == Approx(9.66e9).epsilon(0.01));
    // No faster than the wire: 709 ms of a prefill, and of large messages at most twice that.
    const double prefill = kCalls * over_link(Collective::all_reduce, kToken * 2048, {});
    CHECK(prefill > 709e-3 * 0.98);
    CHECK(prefill < 709e-3 * 2);
    const double reduce = over_link(Collective::all_reduce, kToken * 32, {});
    const double message = over_link(Collective::send_recv, kToken * 32, {});
    CHECK(kCalls * reduce > 11.1e-3 * 0.98);
    CHECK(message > 58e-6 * 0.98);
    CHECK(kCalls * reduce > 100 * message);
    const SimTime latency = from_seconds(20e-6);
    CHECK(over_link(Collective::all_reduce, kToken * 32, latency) - reduce >= 20e-6 * 0.999);
    CHECK(over_link(Collective::send_recv, kToken * 32, latency) - message >= 20e-6 * 0.999);
}

TEST_CASE("tensor parallel inside and stages across are faster than tensor parallel across") {
    test::Machine machine("p5.48xlarge:2");
    TrainingPlan plan = test::plan_of("gpt3-175b", 16, 1);
    plan.sequence = 2048;
    plan.tensor = 16;
    plan.sequence_parallel = false;
    const StepPrediction across = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    double bytes = 0;
    for (const ExchangeUse& use : across.exchanges)
        if (use.name == "tensor all_reduce") bytes = use.bytes;
    CHECK(2 * 96 * bytes == Approx(9.66e9).epsilon(1e-3));
    plan.tensor = 8;
    plan.pipeline = 2;
    plan.global_batch = 8;
    const StepPrediction inside = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    CHECK(inside.tokens_per_second_gpu > across.tokens_per_second_gpu);  // the bubble of 1 / 9 included
}

namespace {

TrainingPlan sharded_experts() {
    TrainingPlan plan = test::plan_of("qwen3-30b-a3b", 64, 1024);
    plan.pipeline = 4;
    plan.experts = 8;
    plan.sharding = Sharding::zero3;
    plan.recompute.all = true;
    return plan;
}

}  // namespace

TEST_CASE("shards inside and copies outside are faster where the network is slower, and need more memory") {
    // pith-train PR 40: 294 -> 392 thousand tokens/s, 1.34 times, 48.3 -> 53.9 GB.
    test::Machine machine("hgx-h100-8x400:8");
    TrainingPlan plan = sharded_experts();
    const StepPrediction over_all = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    plan.shard_group = 8;
    const StepPrediction inside = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    CHECK(inside.seconds <= over_all.seconds * 1.005);  // gathers of both hide behind experts
    plan.overlap.parameters = plan.overlap.gradients = false;
    const double inside_shown = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false}).seconds;
    plan.shard_group = 0;
    const double gain =
        predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false}).seconds / inside_shown;
    CHECK(gain < 1.6);
    CHECK(gain > 1.1);  // nothing is prefetched
    CHECK(inside.stages[0].memory.all() > over_all.stages[0].memory.all());
}

TEST_CASE("a shard group of one gathers nothing") {
    test::Machine machine("hgx-h100-8x400:2");
    TrainingPlan plan = test::plan_of("llama3-8b", 16, 16);
    plan.sharding = Sharding::zero3;
    plan.shard_group = 1;
    const StepPrediction step = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    for (const ExchangeUse& use : step.exchanges) CHECK(use.name.find("all_gather") == std::string::npos);
}

TEST_CASE("where shards lie makes no difference when links are infinitely fast") {
    Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = catalogue.cluster("hgx-h100-8x400:8");
    cluster.blocks.front().type.instance.nic->rate = BytesPerSecond{1e18};
    test::Machine machine("hgx-h100-8x400:8");
    TrainingPlan plan = sharded_experts();
    Exchanges exchanges(cluster, 0, catalogue.nccl());
    const double over_all = predict_step(plan, machine.trainer, exchanges, {.must_fit = false}).seconds;
    plan.shard_group = 8;
    const double inside = predict_step(plan, machine.trainer, exchanges, {.must_fit = false}).seconds;
    CHECK(inside == Approx(over_all).epsilon(0.05));
}

namespace {

// 360 B parameters: 348 B routed, 12 B other; 48 layers, hidden 6144, 128 experts, 4 a token (marin#7706).
TransformerModel mixture_of_360b() {
    TransformerModel model = model_preset("mixtral-8x22b");
    model.layers = 48;
    model.hidden = 6144;
    model.heads = 48;
    model.kv_heads = 8;
    model.head_dim = 128;
    model.vocabulary = 128256;
    model.experts = MixtureOfExperts{.experts = 128, .chosen = 4, .ffn = 3072, .shared_ffn = 6656};
    return model;
}

}  // namespace

TEST_CASE("which nodes hold 360 B parameters, and which groups of experts cross the network") {
    const ParameterCounts counts = parameters_of(mixture_of_360b());
    const double weights = static_cast<double>(counts.all()) * 2;
    CHECK(static_cast<double>(counts.routed) == Approx(348e9).epsilon(0.01));
    CHECK(weights == Approx(719e9).epsilon(0.01));
    const Catalogue catalogue = Catalogue::shipped();
    const auto room = [&](const char* cluster, double gpus) {
        return gpus * static_cast<double>(catalogue.cluster(cluster).blocks.front().type.instance.gpu.memory.count);
    };
    CHECK(weights > room("p5.48xlarge:1", 8));                   // one node of H100 does not hold them
    CHECK(weights < room("gb200-nvl72:1", 4));                   // one of GB200 does,
    CHECK(room("gb200-nvl72:1", 4) - weights < 0.15 * weights);  // with no room for much else

    test::Machine machine("p5.48xlarge:2");
    TrainingPlan plan = test::plan_of("mixtral-8x22b", 16, 64);
    plan.model = mixture_of_360b();
    plan.pipeline = 2;
    plan.experts = 8;
    const StepPrediction inside = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    CHECK(machine.exchanges.domains_of({.size = 8, .stride = 1}) == 1);
    plan.pipeline = 1;
    plan.experts = 16;
    const StepPrediction across = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    CHECK(machine.exchanges.domains_of({.size = 16, .stride = 1}) == 2);
    CHECK(inside.seconds < across.seconds);
    // Attention is not split: every rank holds all that is not routed, 12 B parameters of 2 bytes.
    const double others = 2 * static_cast<double>(counts.all() - counts.routed);
    CHECK(across.stages[0].memory.parameters ==
          Approx(others + 2 * static_cast<double>(counts.routed) / 16).epsilon(0.01));
    CHECK(others == Approx(24e9).epsilon(0.06));

    // Four hosts of GB200: one domain, or four of which each gives one.
    test::Machine one("gb200-nvl72:1");
    Exchanges spread(catalogue.cluster("gb200-nvl72:4"), 4, catalogue.nccl());
    const StepPrediction together = predict_step(plan, one.trainer, one.exchanges, {.must_fit = false});
    const StepPrediction apart = predict_step(plan, one.trainer, spread, {.must_fit = false});
    CHECK(together.seconds < apart.seconds);
}

TEST_CASE("groups that break over NVLink domains make the step longer") {
    // NeMo-RL PR 2612: tensor 8, pipeline 9 on two domains of 72; hosts listed in turn give four GPUs at a time.
    const Catalogue catalogue = Catalogue::shipped();
    test::Machine machine("u-p6e-gb200x72:2");
    TrainingPlan plan = test::plan_of("llama3-70b", 144, 144);
    plan.tensor = 8;
    plan.pipeline = 9;
    plan.model.layers = 81;
    const StepPrediction in_order = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false});
    Exchanges in_turn(catalogue.cluster("u-p6e-gb200x72:36"), 4, catalogue.nccl());
    const StepPrediction broken = predict_step(plan, machine.trainer, in_turn, {.must_fit = false});
    CHECK(machine.exchanges.domains_of({.size = 8, .stride = 1}) == 1);
    CHECK(in_turn.domains_of({.size = 8, .stride = 1}) == 2);
    CHECK(broken.seconds > in_order.seconds);
}

TEST_CASE("at a fixed global batch larger micro-batches make a larger bubble") {
    test::Machine machine("p5en.48xlarge:8");
    TrainingPlan plan = test::plan_of("llama3-70b", 64, 64);
    plan.tensor = 8;
    plan.pipeline = 8;
    const double small = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false}).bubble;
    plan.micro_batch = 4;
    const double large = predict_step(plan, machine.trainer, machine.exchanges, {.must_fit = false}).bubble;
    CHECK(large > small);
}

TEST_CASE("how long 65B on 1.4 T tokens takes, and how many GPUs a deadline needs") {
    CHECK(days_to_train(1.4e12, 380, 2048) == Approx(20.8).epsilon(0.002));
    CHECK(6 * 65e9 * 1.4e12 == Approx(5.46e23));
    CHECK(6 * 65e9 * 380 == Approx(148e12).epsilon(0.002));
    CHECK(gpus_to_train(65e9, 1.4e12, 21, 0.475 * 312e12, 1) == 2031);
    CHECK(gpus_to_train(65e9, 1.4e12, 21, 0.475 * 312e12, 8) == 2032);
    CHECK(days_to_train(2.8e12, 380, 2048) == Approx(2 * days_to_train(1.4e12, 380, 2048)));
    CHECK(days_to_train(1.4e12, 380, 4096) == Approx(days_to_train(1.4e12, 380, 2048) / 2));
}

TEST_CASE("twice the GPUs at the same batch give less than twice the speed") {
    TrainingPlan plan = test::plan_of("llama3-70b", 64, 128);
    plan.tensor = 8;
    plan.recompute.all = true;
    test::Machine few("p4de.24xlarge:8"), many("p4de.24xlarge:16");
    const double one = predict_step(plan, few.trainer, few.exchanges, {.must_fit = false}).seconds;
    plan.gpus = 128;
    const double two = predict_step(plan, many.trainer, many.exchanges, {.must_fit = false}).seconds;
    CHECK(two < one);
    CHECK(two > one / 2);
}

}  // namespace fmsim
