// A kernel's time from its parts, and that of kernels in a stream whose host may be the slower one.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "machine.hpp"

namespace fmsim {
namespace {

double compute_seconds(const Gemm& gemm, const Machine& machine) {
    return compute_seconds(GroupedGemm{{gemm}}, machine);
}

// Kernels that only stream keep pace with HBM.
template <class Streams>
double compute_seconds(const Streams&, const Machine&) {
    return 0;
}

}  // namespace

double Machine::sm_peak(std::string_view peak) const {
    const auto found = gpu.peak.find(std::string(peak));
    if (found == gpu.peak.end()) throw Infeasible(fmt::format("{} has no units for {}", gpu.name, peak));
    return found->second.value / gpu.sms;
}

double waves(double blocks, std::uint32_t sms) { return std::ceil(blocks / sms); }

std::string_view name(Bound bound) {
    static constexpr std::array<std::string_view, 3> kNames{"compute", "memory", "launch"};
    return kNames[static_cast<std::size_t>(bound)];
}

Bound bound_by(const KernelTime& time) {
    const SimTime work = std::max(time.compute, time.memory);
    if (work <= time.launch) return Bound::launch;
    return time.compute < time.memory ? Bound::memory : Bound::compute;
}

KernelTime time_of(const Kernel& kernel, const Gpu& gpu, const KernelFacts& facts, const Setting& setting) {
    if (gpu.sms <= setting.sms_taken)
        throw Infeasible(fmt::format("{} has {} SMs, of which {} are taken", gpu.name, gpu.sms, setting.sms_taken));
    const Machine machine{.gpu = gpu, .facts = facts, .sms = gpu.sms - setting.sms_taken};
    return {.compute = from_seconds(std::visit([&](const auto& one) { return compute_seconds(one, machine); }, kernel)),
            .memory = from_seconds(memory_seconds(bytes_of(kernel), machine)),
            .launch = (setting.in_graph ? facts.graph : facts.launch).gap};
}

SimTime span_of(std::span<const KernelTime> kernels, const KernelFacts& facts, const Setting& setting) {
    const SimTime host = (setting.in_graph ? facts.graph : facts.launch).host;
    SimTime issued, done;
    for (const KernelTime& kernel : kernels) {
        issued = later(issued, host);
        done = later(std::max(issued, done), kernel.total());
    }
    return done;
}

}  // namespace fmsim
