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

Topology machine(std::uint32_t instances, SimTime latency, SimTime message_cost) {
    Cluster cluster = toy::cluster({.instances = instances, .gpus = 1, .nic = 400_GBps, .nic_latency = latency});
    for (DomainBlock& block : cluster.blocks) block.type.instance.nic->message_cost = message_cost;
    return build_topology(cluster);
}

SimTime call_time(std::uint32_t instances, Collective collective, SimTime latency, SimTime message_cost,
                  Bytes size = kSize) {
    const Topology net = machine(instances, latency, message_cost);
    const Workload job = in_turn({{"call", collective, size}});
    PredictOptions options;
    if (collective == Collective::all_reduce) options.pins.algorithm = "Ring";
    return predict(net, toy::everyone(net), job, toy::nccl(), options).calls.front().time();
}

// Of one token.
double token_us(std::uint32_t instances, SimTime latency) {
    return kCalls * microseconds(call_time(instances, Collective::all_reduce, latency, {}));
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

// Bytes alone: 2 (N-1) / N of the buffer. 786,432 bytes at 400 GB/s are whole femtoseconds, so nothing is rounded.
TEST_CASE("as latency goes to nothing, so does what it adds: without it the bytes are left, exactly") {
    const std::uint32_t instances = GENERATE(2u, 4u, 8u);
    const std::int64_t steps = 2 * (instances - 1);
    const std::int64_t bytes_fs = kSize.count * 2500 / instances * steps;
    const auto time = [&](SimTime latency) { return call_time(instances, Collective::all_reduce, latency, {}); };
    CHECK(time({}).fs == bytes_fs);
    for (const std::int64_t latency_fs : {1, 1'000, 1'000'000})  // of a fs, a ps, a ns
        CHECK(time({latency_fs}).fs == bytes_fs + steps * latency_fs);
}

// NCCL sends to all peers at once, so of the flights only the last shows; what comes once a peer is the proxy's work.
TEST_CASE("all-to-all: a rank's proxy posts N-1 messages, so its part is 3 and 7 times that of two instances") {
    const auto part = [](std::uint32_t instances) {
        const auto time = [&](SimTime cost) {
            return call_time(instances, Collective::all_to_all, {}, cost, Bytes{instances});
        };
        return microseconds(time(2_us)) - microseconds(time({}));
    };
    CHECK(part(2) == Approx(4).epsilon(0.01));  // posted before the first byte leaves, and worked at as it goes
    CHECK(part(4) / part(2) == Approx(3).epsilon(0.01));
    CHECK(part(8) / part(2) == Approx(7).epsilon(0.01));
}

// In round k each rank sends to the k-th after it and receives from the k-th before it, both at once.
TEST_CASE("all-to-all in rounds, a peer each: N-1 flights in a row each way, and the bytes exactly without them") {
    const auto time = [](std::uint32_t instances, SimTime latency) {
        const Topology net = machine(instances, latency, {});
        Program program{.role = "peer", .ranks = {}, .operations = {}};
        for (std::uint32_t rank = 0; rank < instances; ++rank) program.ranks.push_back(rank);
        for (std::uint32_t k = 1; k < instances; ++k) {
            const Bytes part{kSize.count / instances};
            Transfers both{.sends = {{.to = {true, k}, .size = part}},
                           .receives = {{.from = {true, instances - k}, .size = part}}};
            program.operations.push_back({.name = "round " + std::to_string(k), .action = std::move(both)});
        }
        Job job{.name = "rounds"};
        job.programs.push_back(std::move(program));
        const Workload work{.name = "rounds", .jobs = {std::move(job)}};
        return predict(net, toy::everyone(net), work, toy::nccl(), {}).end;
    };
    const auto part = [&](std::uint32_t instances) { return time(instances, 1_us).fs - time(instances, {}).fs; };
    CHECK(part(4) == 3 * part(2));
    CHECK(part(8) == 7 * part(2));
    for (const std::uint32_t instances : {2u, 4u, 8u})
        CHECK(time(instances, {}).fs == kSize.count * 2500 / instances * (instances - 1));
}

}  // namespace fmsim
