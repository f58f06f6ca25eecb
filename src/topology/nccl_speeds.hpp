// What NCCL's search for rings counts with: speeds that it tries, what it believes a link carries, its limits.
//
//   for (const double gbps : speeds(gpu, Reach::domain)) ..      // 60 50 40 .. for Hopper, from high to low
//
// Source: NCCL 2.30.7 (commit 5067397c, 2026-06-11): graph/search.cc (speedArrayIntra, speedArrayInter, channel limits,
// ncclTopoDupChannels), graph/topo.h (SM80_NVLINK_BW and its like). GB/s of one direction, as NCCL has them; they are
// the knobs of its search and no physics: lowering never sees them.
#pragma once

#include <cstdint>
#include <span>

#include "fmsim/topology.hpp"

namespace fmsim {

enum class Reach : std::uint8_t { domain, network };

std::span<const double> speeds(const Gpu& gpu, Reach reach);

// What NCCL believes the NVLinks of a published rate carry: 20 GB/s where an A100 has 25.
double nvlink_gbps(const Gpu& gpu, BytesPerSecond published);

// And a PCIe slot: 48 GB/s where Gen5 x16 has 63.
double pcie_gbps(BytesPerSecond published);

inline constexpr std::uint32_t kMostRingPaths = 32;
// A speed below this share of the best so far is not tried.
inline constexpr double kSlowestTried = 0.49;
// Of the steps of one search at one speed.
inline constexpr std::uint32_t kMostSearchSteps = 1u << 14;

// Whether so many paths of such a speed become twice as many of half of it.
bool doubles(const Gpu& gpu, std::size_t paths, double gbps);

}  // namespace fmsim
