// The parts of a kernel's time, kernels in a stream, and one hash of all times.
#include <catch2/catch.hpp>

#include "kernels/toy_gpu.hpp"

namespace fmsim {
namespace {

using test::toy_facts;
using test::toy_gpu;

KernelTime took(std::int64_t us) { return {.compute = from_seconds(static_cast<double>(us) * 1e-6)}; }

TEST_CASE("the longer of compute and memory counts, and the launch on top") {
    const KernelTime time{.compute = 5_us, .memory = 7_us, .launch = 2_us};
    CHECK(time.total() == 9_us);
    CHECK(bound_by(time) == Bound::memory);
    CHECK(bound_by({.compute = 8_us, .memory = 7_us, .launch = 2_us}) == Bound::compute);
    CHECK(bound_by({.compute = 1_us, .memory = 1_us, .launch = 2_us}) == Bound::launch);
    CHECK(name(Bound::compute) == "compute");
    CHECK(name(Bound::launch) == "launch");
}

TEST_CASE("a graph has its own launch") {
    KernelFacts facts = toy_facts();
    facts.launch.gap = 3_us;
    facts.graph.gap = 1_us;
    const Stream stream{.kernel = Streaming::copy, .elements = 10};
    CHECK(time_of(stream, toy_gpu(), facts).launch == 3_us);
    CHECK(time_of(stream, toy_gpu(), facts, {.in_graph = true}).launch == 1_us);
}

TEST_CASE("kernels wait for the host where it is slower") {
    // Issued at 5, 10, 15, 20 us; kernels of 2, 9, 1, 1 us.
    //   end at 7, 19, 20, 21: the second hides the issue of the third and fourth.
    KernelFacts facts = toy_facts();
    facts.launch.host = 5_us;
    const std::array kernels{took(2), took(9), took(1), took(1)};
    CHECK(span_of(kernels, facts) == 21_us);
    // A graph that costs the host nothing: their sum.
    CHECK(span_of(kernels, facts, {.in_graph = true}) == 13_us);
    CHECK(span_of({}, facts) == SimTime{});
}

TEST_CASE("a time beyond what a run can hold is refused") {
    CHECK_THROWS_AS(test::toy_time(Traffic{{std::int64_t{1} << 60}, {}}), LimitReached);
}

// FNV-1a over the femtoseconds of many kernels. The toy's constants make it a hash of the arithmetic alone.
class Hash {
public:
    void add(SimTime time) {
        auto bits = static_cast<std::uint64_t>(time.fs);
        for (int byte = 0; byte < 8; ++byte, bits >>= 8) value_ = (value_ ^ (bits & 0xff)) * 0x100000001b3;
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325;
};

TEST_CASE("all builds and compilers agree on every time") {
    KernelFacts facts = toy_facts();
    facts.gemm = {.sustained = {{"bf16", 0.819}, {"fp8", 0.723}},
                  .tiles = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 64}},
                  .feed = {37e9}};
    facts.attention.at("plain") = {
        .matmul = 0.77, .pairs_a_second = 26.4e9, .ramp = 3_us, .backward = 0.852, .tile = 128};
    Hash hash;
    const auto add = [&](const Kernel& kernel) {
        const KernelTime time = time_of(kernel, toy_gpu(), facts);
        hash.add(time.compute);
        hash.add(time.memory);
    };
    for (std::int64_t m = 1; m < 3000; m = m * 3 + 1)
        for (std::int64_t k = 7; k < 20000; k = k * 5 + 3) {
            add(Gemm{.m = m, .n = 777, .k = k});
            add(GroupedGemm{{{.m = m, .n = 100, .k = k, .precision = Precision::mxfp8}, {.m = k, .n = 90, .k = m}}});
            for (const Pass pass : {Pass::forward, Pass::backward})
                add(Attention{.heads = 7,
                              .kv_heads = 7,
                              .queries = m,
                              .keys = k,
                              .qk_dim = 192,
                              .v_dim = 128,
                              .causal = k >= m,
                              .pass = pass});
            add(OptimizerStep{.parameters = m * k});
        }
    CHECK(hash.value() == 0xe400a52d6fb7d956);
}

}  // namespace
}  // namespace fmsim
