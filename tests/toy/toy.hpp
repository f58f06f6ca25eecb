// Toy machines and a toy NCCL for tests: whole numbers, no latency unless asked for.
#pragma once

#include <cstdint>
#include <string_view>

#include "fmsim/choice.hpp"
#include "fmsim/topology.hpp"

namespace fmsim::toy {

// One ring path over all GPUs in order, one NIC a GPU; the SMs are no limit unless asked for.
//
//   gpu0 -> gpu1 -> .. -> gpuN-1 -> nicN-1 -> fabric -> nic0 of the next
struct Machine {
    std::uint32_t instances = 1;
    std::uint32_t gpus = 8;
    BytesPerSecond nvlink{1e9};
    BytesPerSecond nic{1e9};
    BytesPerSecond sm{1e30};
    SimTime nvlink_latency{};
    SimTime nic_latency{};
    std::uint32_t paths = 1;
};
Cluster cluster(const Machine& machine);

// All GPUs, in order.
Group everyone(const Topology& topology);

// The schedule of a row of the catalogue of algorithms.
Schedule plan(std::string_view algorithm, Collective collective, const Topology& topology, const Group& group,
              const PlanRequest& request);

// Every protocol moves whole chunks as they are, without flags, in one loop and `slices` slices.
Nccl nccl(std::uint32_t slices = 1);

}  // namespace fmsim::toy
