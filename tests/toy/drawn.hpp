// Random workloads on random clusters, placements and faults: what tests of whole runs draw from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fmsim/topology.hpp"
#include "fmsim/workload.hpp"

namespace fmsim::toy {

struct Drawn {
    Cluster cluster;
    Workload workload;
    bool symmetric{};  // no fault, linear, nothing that tells machines apart
};
Drawn drawn(std::uint32_t seed);
std::vector<Placement> places_of(const Topology& net, const Drawn& made, std::uint32_t seed);

}  // namespace fmsim::toy
