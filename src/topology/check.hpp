// Whether the parts of a cluster fit together.
#pragma once

#include "fmsim/topology.hpp"

namespace fmsim {

// Throws InputError with all that does not.
void check(const Cluster& cluster);

std::uint32_t numa_nodes(const InstanceType& type);

}  // namespace fmsim
