// The devices and links of an instance as a Boost.Graph, and the shortest ways over PCIe.
#pragma once

#include <vector>

#include "fmsim/topology.hpp"

namespace fmsim {

// For each GPU and each NIC of an instance the links from one to the other over PCIe switches and NUMA nodes, never
// through another GPU or NIC. Links count from the instance's first.
std::vector<std::vector<std::vector<std::uint32_t>>> pcie_paths(const Topology& topology, InstanceId instance);

}  // namespace fmsim
