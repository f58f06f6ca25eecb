// A GPU whose times can be worked out by hand: 4 SMs of 1 TFLOP/s, HBM of 1 TB/s (a byte a picosecond), no launch cost.
#pragma once

#include "fmsim/kernels.hpp"

namespace fmsim::test {

inline Gpu toy_gpu() {
    return {.name = "toy",
            .compute_capability = 1,
            .memory = {},
            .memory_rate = {1e12},
            .peak = {{"bf16", {4e12}}, {"fp8", {8e12}}},
            .channel_rate = {},
            .sms = 4};
}

inline KernelFacts toy_facts() {
    return {.name = "toy",
            .gemm = {.sustained = {{"bf16", 1}, {"fp8", 0.5}}, .tiles = {{128, 128}}, .feed = {1e15}},
            .ramp = from_seconds(1e-6),
            .read_share = 1,
            .write_share = 0.5,
            .attention = {{"plain", {.matmul = 0.5, .pairs_a_second = 1e9, .ramp = {}, .backward = 0.8, .tile = 128}}},
            .usual_attention = "plain",
            .launch = {.gap = {}, .host = {}},
            .graph = {.gap = {}, .host = {}}};
}

inline KernelTime toy_time(const Kernel& kernel) { return time_of(kernel, toy_gpu(), toy_facts()); }

}  // namespace fmsim::test
