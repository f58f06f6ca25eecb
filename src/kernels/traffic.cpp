// What kernels move through HBM, each operand once, and what that takes.
//
// Reads and writes each have a share of the published rate: a stream that only reads comes nearest to it, turning the
// bus round for writes costs. By hand, 4 GB read and 2 GB written at 1 TB/s with shares 0.8 and 0.5:
// 4e9 / 0.8e12 + 2e9 / 0.5e12 = 9 ms.
//
// The fill and drain of a wave comes on top, so that small kernels reach a smaller part of the rate.
#include <cmath>

#include "machine.hpp"

namespace fmsim {
namespace {

constexpr std::int64_t kBitsOfByte = 8;

Bytes bits(std::int64_t elements, std::uint32_t each) { return {(elements * each + kBitsOfByte - 1) / kBitsOfByte}; }

Traffic operator+(const Traffic& a, const Traffic& b) {
    return {{a.reads.count + b.reads.count}, {a.writes.count + b.writes.count}};
}

Traffic moved(const Gemm& gemm) {
    if (gemm.m == 0 || gemm.n == 0 || gemm.batch == 0) return {};
    const Bytes output = bits(gemm.m * gemm.n * gemm.batch, gemm.output_bits);
    const Bytes a = stored(gemm.m * gemm.k * gemm.batch, gemm.precision);
    const Bytes b = stored(gemm.k * gemm.n * gemm.batch, gemm.precision);
    return {{a.count + b.count + (gemm.accumulates ? output.count : 0)}, output};
}

Traffic moved(const GroupedGemm& grouped) {
    Traffic all;
    for (const Gemm& gemm : grouped.groups) all = all + moved(gemm);
    return all;
}

// Forward: Q, K, V -> O and a logarithm a query. Backward: those and dO -> dQ, dK, dV.
Traffic moved(const Attention& attention) {
    constexpr std::uint32_t kElement = 16, kLogarithm = 32;
    const std::int64_t rows = attention.batch * attention.heads * attention.queries;
    const std::int64_t kv_rows = attention.batch * attention.kv_heads * attention.keys;
    const Bytes q = bits(rows * attention.qk_dim, kElement), o = bits(rows * attention.v_dim, kElement);
    const Bytes kv = bits(kv_rows * (attention.qk_dim + attention.v_dim), kElement);
    const Bytes logarithms = bits(rows, kLogarithm);
    const std::int64_t inputs = q.count + kv.count;
    if (attention.pass == Pass::forward) return {{inputs}, {o.count + logarithms.count}};
    return {{inputs + 2 * o.count + logarithms.count}, {inputs}};
}

Traffic moved(const Stream& stream) {
    const Bytes tensor = bits(stream.elements, stream.bits);
    const StreamingKind& row = kind(stream.kernel);
    return {{tensor.count * row.reads}, {tensor.count * row.writes}};
}

Traffic moved(const Quantise& quantise) {
    const Bytes result = stored(quantise.elements, quantise.to);
    return {bits(quantise.elements, quantise.from_bits), {result.count * (quantise.transposed_too ? 2 : 1)}};
}

Traffic moved(const OptimizerStep& step) {
    const bool in_place = step.master_bits == 0;
    const Bytes state =
        bits(step.parameters, (in_place ? step.parameter_bits : step.master_bits) + 2 * step.moment_bits);
    const Bytes gradient = bits(step.parameters, step.gradient_bits);
    const Bytes parameter = bits(step.parameters, in_place ? 0 : step.parameter_bits);
    return {{gradient.count + state.count}, {state.count + parameter.count}};
}

Traffic moved(const Traffic& traffic) { return traffic; }

}  // namespace

Bytes stored(std::int64_t elements, Precision precision) {
    const PrecisionKind& row = kind(precision);
    const std::int64_t scales = row.block == 0 ? 0 : (elements + row.block - 1) / row.block;
    return {bits(elements, row.bits).count + bits(scales, row.scale_bits).count};
}

Traffic bytes_of(const Kernel& kernel) {
    return std::visit([](const auto& one) { return moved(one); }, kernel);
}

double memory_seconds(const Traffic& traffic, const Machine& machine) {
    if (traffic == Traffic{}) return 0;
    const double rate = machine.gpu.memory_rate.value;
    return static_cast<double>(traffic.reads.count) / (rate * machine.facts.read_share) +
           static_cast<double>(traffic.writes.count) / (rate * machine.facts.write_share) + seconds(machine.facts.ramp);
}

}  // namespace fmsim
