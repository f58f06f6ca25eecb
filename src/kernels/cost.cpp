// The catalogues of precisions and streaming kernels, and FLOPs by closed form.
#include <algorithm>

#include "machine.hpp"

namespace fmsim {
namespace {

double flops(const Gemm& gemm) {
    return 2 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k) *
           static_cast<double>(gemm.batch);
}

double flops(const GroupedGemm& grouped) {
    double sum = 0;
    for (const Gemm& gemm : grouped.groups) sum += flops(gemm);
    return sum;
}

double flops(const Attention& attention) {
    const double heads = static_cast<double>(attention.batch) * static_cast<double>(attention.heads);
    return heads * pairs(attention) * flops_a_pair(attention);
}

template <class Streams>
double flops(const Streams&) {
    return 0;
}

}  // namespace

const PrecisionKind& kind(Precision precision) {
    return *std::find_if(kPrecisions.begin(), kPrecisions.end(),
                         [&](const PrecisionKind& row) { return row.precision == precision; });
}

std::string_view name(Precision precision) { return kind(precision).name; }

const StreamingKind& kind(Streaming kernel) {
    return *std::find_if(kStreaming.begin(), kStreaming.end(),
                         [&](const StreamingKind& row) { return row.kernel == kernel; });
}

double flops_of(const Kernel& kernel) {
    return std::visit([](const auto& one) { return flops(one); }, kernel);
}

}  // namespace fmsim
