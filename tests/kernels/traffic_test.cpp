// Bytes through HBM, counted by hand, and their time on the toy GPU: a byte read is 1 ps, a byte written 2 ps.
#include <catch2/catch.hpp>

#include "kernels/toy_gpu.hpp"

namespace fmsim {
namespace {

using test::toy_time;

TEST_CASE("a precision stores its elements and their scales") {
    const auto [precision, elements, bytes] = GENERATE(table<Precision, std::int64_t, std::int64_t>({
        {Precision::bf16, 1000, 2000},
        {Precision::fp16, 1000, 2000},
        {Precision::tf32, 1000, 4000},
        {Precision::fp8, 1024, 1024},            // one scale, not counted
        {Precision::fp8_blockwise, 1024, 1056},  // 8 of 4 B
        {Precision::mxfp8, 1024, 1056},          // 32 of 1 B
        {Precision::mxfp8, 33, 35},              // two blocks
        {Precision::nvfp4, 1024, 576},           // 512 and 64 of 1 B
        {Precision::nvfp4, 3, 3},                // 12 bits and one block
        {Precision::bf16, 0, 0},
    }));
    CHECK(stored(elements, precision).count == bytes);
}

TEST_CASE("each precision and streaming kernel has one row, under its own name") {
    for (const PrecisionKind& row : kPrecisions) CHECK(name(row.precision) == row.name);
    for (const StreamingKind& row : kStreaming) CHECK(kind(row.kernel).name == row.name);
}

TEST_CASE("a product moves each operand once") {
    Gemm gemm{.m = 10, .n = 20, .k = 30, .batch = 2};
    CHECK(bytes_of(gemm) == Traffic{{2 * 2 * (300 + 600)}, {2 * 2 * 200}});
    gemm.accumulates = true;
    gemm.output_bits = 32;
    CHECK(bytes_of(gemm) == Traffic{{2 * 2 * 900 + 2 * 4 * 200}, {2 * 4 * 200}});
    CHECK(flops_of(gemm) == 2 * 10 * 20 * 30 * 2);
    CHECK(bytes_of(GroupedGemm{{gemm, gemm}}) == Traffic{{2 * 5200}, {2 * 1600}});
    CHECK(flops_of(GroupedGemm{{gemm, gemm}}) == 2 * flops_of(gemm));
}

TEST_CASE("streaming kernels move their tensors") {
    const auto [kernel, reads, writes] = GENERATE(table<Streaming, std::int64_t, std::int64_t>({
        {Streaming::copy, 1, 1},
        {Streaming::add, 2, 1},
        {Streaming::norm, 1, 1},
        {Streaming::norm_backward, 2, 1},              // x, dy -> dx
        {Streaming::gated_activation, 2, 1},           // gate, up -> y
        {Streaming::gated_activation_backward, 3, 2},  // gate, up, dy -> dgate, dup
        {Streaming::loss, 1, 0},
        {Streaming::loss_backward, 1, 1},
        {Streaming::embedding_backward, 2, 1},
    }));
    CHECK(bytes_of(Stream{.kernel = kernel, .elements = 1000}) == Traffic{{2000 * reads}, {2000 * writes}});
    CHECK(flops_of(Stream{.kernel = kernel, .elements = 1000}) == 0);
}

TEST_CASE("a cast writes elements and scales, once or for both directions") {
    CHECK(bytes_of(Quantise{.elements = 1024, .to = Precision::mxfp8}) == Traffic{{2048}, {1056}});
    CHECK(bytes_of(Quantise{.elements = 1024, .from_bits = 32, .to = Precision::nvfp4, .transposed_too = true}) ==
          Traffic{{4096}, {2 * 576}});
}

TEST_CASE("an optimizer step moves gradient, master copy and moments") {
    // FP32 throughout, BF16 parameters: 4 + 4 + 8 B read, 4 + 8 + 2 written.
    CHECK(bytes_of(OptimizerStep{.parameters = 100}) == Traffic{{1600}, {1400}});
    // BF16 gradients and moments: 2 + 4 + 4, 4 + 4 + 2.
    CHECK(bytes_of(OptimizerStep{.parameters = 100, .gradient_bits = 16, .moment_bits = 16}) ==
          Traffic{{1000}, {1000}});
    // No master copy: 2 + 2 + 8 read, 2 + 8 written.
    CHECK(bytes_of(OptimizerStep{.parameters = 100, .gradient_bits = 16, .master_bits = 0}) == Traffic{{1200}, {1000}});
}

TEST_CASE("reads and writes each have their rate, and a ramp that small kernels feel") {
    // 1 MB read and 1 MB written: 1 + 2 us, and the ramp of 1 us: half of the rate of a long one and less.
    CHECK(microseconds(toy_time(Traffic{{1'000'000}, {1'000'000}}).memory) == Approx(4));
    CHECK(microseconds(toy_time(Traffic{{1'000'000'000}, {}}).memory) == Approx(1001));
    CHECK(toy_time(Traffic{}) == KernelTime{});
}

TEST_CASE("a product that HBM bounds says so") {
    // 640 x 2 B and 512 x 128 x 4 B read, 1.28 ns and 0.262 us; as much of C written, 0.524 us; the ramp.
    const KernelTime time = toy_time(Gemm{.m = 512, .n = 128, .k = 1, .output_bits = 32, .accumulates = true});
    CHECK(microseconds(time.memory) == Approx(0.00128 + 0.262144 + 0.524288 + 1));
    CHECK(microseconds(time.compute) == Approx(0.032768 + 1));
    CHECK(bound_by(time) == Bound::memory);
    CHECK(bound_by(toy_time(Gemm{.m = 4096, .n = 4096, .k = 4096})) == Bound::compute);
    CHECK(bound_by(toy_time(Stream{.kernel = Streaming::add, .elements = 1000})) == Bound::memory);
}

}  // namespace
}  // namespace fmsim
