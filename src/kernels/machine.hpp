// A GPU as a kernel finds it, and the two costs that kernels share. All in seconds.
#pragma once

#include <cstdint>

#include "fmsim/kernels.hpp"

namespace fmsim {

struct Machine {
    const Gpu& gpu;
    const KernelFacts& facts;
    std::uint32_t sms{};  // that are free

    // FLOP/s of one SM at the published peak. Throws Infeasible for units that the GPU lacks.
    double sm_peak(std::string_view peak) const;
};

// Bytes through HBM, with the fill and drain that make small ones slow.
double memory_seconds(const Traffic& traffic, const Machine& machine);

// `work` blocks of equal length over the SMs: whole waves.
double waves(double blocks, std::uint32_t sms);

double compute_seconds(const GroupedGemm& grouped, const Machine& machine);
double compute_seconds(const Attention& attention, const Machine& machine);

// Pairs of query and key of one head that are not masked.
double pairs(const Attention& attention);
// FLOPs of one pair, in all products of the pass.
double flops_a_pair(const Attention& attention);

}  // namespace fmsim
