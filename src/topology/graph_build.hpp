// Free graphs: laid out as they are, and their NVLink domains as types of the kind that trees have.
#pragma once

#include <string>

#include "fmsim/topology.hpp"
#include "graph_routes.hpp"

namespace fmsim {

// Throws InputError where devices and links do not fit together.
Topology build_graph_topology(const Cluster& cluster);

// What is known of a domain, with the rings that NCCL would find there.
DomainType domain_type(const Topology& topology, const GraphRoutes& routes, const GraphRoutes::Domain& domain);

// All that a domain's type comes from, in numbers of the domain's own: domains with the same are alike.
std::string signature_of(const Topology& topology, const GraphRoutes& routes, const GraphRoutes::Domain& domain);

// Rings of a domain whose GPUs have links between them: as many as its NVLinks carry. See mesh_rings.cpp.
RingSearch mesh_rings(const Topology& topology, const GraphRoutes& routes, const GraphRoutes::Domain& domain,
                      const Gpu& gpu, bool alone);

}  // namespace fmsim
