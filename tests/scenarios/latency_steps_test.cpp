// Bandwidth is not what hurts decode (inference-sim/inference-sim#1661, #1694): 92 layers of hidden 6,144 in bf16,
// batch 64, tensor parallel over 16 GPUs on two instances: 186 all-reduces of 0.79 MB a token.
//
// The inner level takes no time here, so an instance is one rank, and a ring takes 2 (N-1) steps between instances.
//
// The case's two figures do not fully agree: 186 calls of 2 (N-1) = 2 steps are 744 us at 2 us a step, while its 370 us
// are 2 us a call. Here a step is 1 us, so that a call of two steps is the 2 us that give 370.
#include <catch2/catch.hpp>

#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

constexpr Bytes kSize{64 * 6144 * 2};
constexpr int kCalls = 186;

// Of one token.
double token_us(std::uint32_t instances, SimTime latency) {
    const Topology net =
        build_topology(toy::cluster({.instances = instances, .gpus = 1, .nic = 400_GBps, .nic_latency = latency}));
    const Workload job = in_turn({{"call", Collective::all_reduce, kSize}});
    PredictOptions options;
    options.pins.algorithm = "Ring";
    return kCalls * microseconds(predict(net, toy::everyone(net), job, toy::nccl(), options).calls.front().time());
}

}  // namespace

TEST_CASE("on two instances a micro-second a step is 370 us a token, several times what the bytes take") {
    const double bytes_only = token_us(2, {}), with_latency = token_us(2, 1_us);
    CHECK(with_latency - bytes_only == Approx(186 * 2).epsilon(0.01));
    CHECK(bytes_only == Approx(186 * 0.786432e6 / 400e9 * 1e6).epsilon(0.01));  // 2 (N-1) / N = 1 of the buffer
    CHECK(bytes_only * 1.01 < with_latency - bytes_only);
}

TEST_CASE("the part of the latency is three times as large on four instances, seven times on eight") {
    const double two = token_us(2, 1_us) - token_us(2, {});
    CHECK((token_us(4, 1_us) - token_us(4, {})) / two == Approx(3).epsilon(0.01));
    CHECK((token_us(8, 1_us) - token_us(8, {})) / two == Approx(7).epsilon(0.01));
}

TEST_CASE("as latency goes to nothing, so does what it adds") {
    const std::uint32_t instances = GENERATE(2u, 4u, 8u);
    const double bytes = 2.0 * (instances - 1) / instances * 0.786432e6 / 400e9 * 1e6 * kCalls;
    CHECK(token_us(instances, {}) == Approx(bytes).epsilon(1e-6));
}

}  // namespace fmsim
