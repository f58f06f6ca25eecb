// Matrix products on the toy GPU: a tile of 128 x 128 and k = 1000 is 2 x 128 x 128 x 1000 = 32.768 MFLOP, 32.768 us of
// an SM; each wave of the toy's only tile ends with a ramp of 1 us.
#include <catch2/catch.hpp>

#include "kernels/toy_gpu.hpp"

namespace fmsim {
namespace {

using test::toy_facts;
using test::toy_gpu;
using test::toy_time;

double compute_us(const Kernel& kernel) { return microseconds(toy_time(kernel).compute); }

TEST_CASE("tiles go over the SMs in whole waves") {
    const auto [m, n, batch, waves] = GENERATE(table<std::int64_t, std::int64_t, std::int64_t, double>({
        {512, 128, 1, 1},   // 4 tiles
        {513, 128, 1, 2},   // 5: a row more costs a wave
        {640, 128, 1, 2},   // 5
        {1024, 128, 1, 2},  // 8
        {512, 100, 1, 1},   // a tile that is not full counts whole
        {128, 128, 4, 1},   // a batch is more tiles
        {512, 512, 3, 12},
    }));
    CHECK(compute_us(Gemm{.m = m, .n = n, .k = 1000, .batch = batch}) == Approx(waves * (32.768 + 1)));
}

TEST_CASE("a product that leaves SMs idle splits k, and adds the parts through L2") {
    // One tile on 4 SMs: 4 parts of k = 250, 8.192 us, and 2 x 128 x 128 x 4 B at 1 PB/s, 0.000131 us.
    CHECK(compute_us(Gemm{.m = 128, .n = 128, .k = 1000}) == Approx(8.192 + 0.000131072 + 1));
    // Three tiles do not go into 4 SMs twice.
    CHECK(compute_us(Gemm{.m = 384, .n = 128, .k = 1000}) == Approx(32.768 + 1));
}

TEST_CASE("a narrow tile waits for its operands") {
    // (128 + 128) x 1000 x 2 B = 512 kB at 10 GB/s = 51.2 us, longer than its 32.768 us of products.
    KernelFacts facts = toy_facts();
    facts.gemm.feed = 10_GBps;
    const KernelTime time = time_of(Gemm{.m = 512, .n = 128, .k = 1000}, toy_gpu(), facts);
    CHECK(microseconds(time.compute) == Approx(51.2 + 1));
}

TEST_CASE("of the library's tiles the one that ends first runs, and small ones hide their ramps") {
    // 5 tiles of 128 x 128 take two waves. Of 64 x 128 there are 10: 3 waves of 16.384 us; two fit where one large one
    // does, so 3 waves cost 1.5 ramps.
    KernelFacts facts = toy_facts();
    facts.gemm.tiles.push_back({64, 128});
    const KernelTime time = time_of(Gemm{.m = 640, .n = 128, .k = 1000}, toy_gpu(), facts);
    CHECK(microseconds(time.compute) == Approx(3 * 16.384 + 1.5));
}

TEST_CASE("a precision has its peak, and the share of it that power leaves") {
    // FP8: 2 TFLOP/s an SM, half of it sustained.
    const Gemm gemm{.m = 512, .n = 128, .k = 1000};
    for (const Precision precision : {Precision::fp8, Precision::fp8_blockwise, Precision::mxfp8}) {
        Gemm narrow = gemm;
        narrow.precision = precision;
        CHECK(compute_us(narrow) == compute_us(gemm));
    }
}

TEST_CASE("a grouped product counts its waves over all groups") {
    // 3 + 1 tiles are one wave; by themselves two.
    const Gemm three{.m = 384, .n = 128, .k = 1000}, one{.m = 128, .n = 128, .k = 1000};
    CHECK(compute_us(GroupedGemm{{three, one}}) == Approx(32.768 + 1));
    // Of different k: 4 tiles of 32.768 and 4 of 65.536 us are two waves of their mean.
    CHECK(compute_us(GroupedGemm{{Gemm{.m = 512, .n = 128, .k = 1000}, Gemm{.m = 512, .n = 128, .k = 2000}}}) ==
          Approx(32.768 + 65.536 + 2));
    CHECK(toy_time(GroupedGemm{{three}}) == toy_time(three));
    CHECK(toy_time(GroupedGemm{std::vector<Gemm>(3, one)}).compute ==
          toy_time(Gemm{.m = 128, .n = 128, .k = 1000, .batch = 3}).compute);
}

TEST_CASE("experts without tokens cost their launch") {
    CHECK(toy_time(GroupedGemm{{Gemm{.m = 0, .n = 128, .k = 1000}}}) == KernelTime{});
    CHECK(toy_time(GroupedGemm{}) == KernelTime{});
    CHECK(flops_of(GroupedGemm{}) == 0);
}

TEST_CASE("SMs that communication takes are not there for tiles") {
    const Gemm gemm{.m = 512, .n = 128, .k = 1000};
    const KernelTime time = time_of(gemm, toy_gpu(), toy_facts(), {.sms_taken = 1});
    CHECK(microseconds(time.compute) == Approx(2 * 33.768));
    CHECK(time.memory == toy_time(gemm).memory);
    CHECK_THROWS_WITH(time_of(gemm, toy_gpu(), toy_facts(), {.sms_taken = 4}), "toy has 4 SMs, of which 4 are taken");
}

TEST_CASE("no product is faster than what power leaves of the peak, and none larger is shorter") {
    KernelFacts facts = toy_facts();
    facts.gemm.tiles = {{256, 128}, {128, 256}, {128, 128}, {64, 64}};
    facts.gemm.feed = 100_GBps;
    const auto compute = [&](const Gemm& gemm) { return seconds(time_of(gemm, toy_gpu(), facts).compute); };
    for (const std::int64_t m : {1, 64, 200, 1000, 4096})
        for (const std::int64_t n : {8, 128, 1000})
            for (const std::int64_t k : {16, 512, 5000}) {
                const Gemm gemm{.m = m, .n = n, .k = k};
                INFO(m << " x " << n << " x " << k);
                CHECK(compute(gemm) >= flops_of(gemm) / 4e12);
                CHECK(compute(gemm) <= compute({.m = m + 100, .n = n, .k = k}));
                CHECK(compute(gemm) <= compute({.m = m, .n = n + 100, .k = k}));
                CHECK(compute(gemm) <= compute({.m = m, .n = n, .k = k + 100}));
            }
}

TEST_CASE("units and rates that a GPU lacks are refused by name") {
    CHECK_THROWS_WITH(toy_time(Gemm{.m = 1, .n = 1, .k = 1, .precision = Precision::nvfp4}),
                      "toy has no units for fp4");
    Gpu gpu = toy_gpu();
    gpu.peak["tf32"] = {2e12};
    CHECK_THROWS_WITH(time_of(Gemm{.m = 1, .n = 1, .k = 1, .precision = Precision::tf32}, gpu, toy_facts()),
                      "no rate of tf32 products is known for toy GPUs");
}

}  // namespace
}  // namespace fmsim
