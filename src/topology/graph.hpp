// The devices and links of a topology as a Boost.Graph; an edge knows its link.
#pragma once

#include <boost/graph/adjacency_list.hpp>

#include "fmsim/topology.hpp"

namespace fmsim {

struct EdgeLink {
    LinkId link;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, EdgeLink>;

Graph graph_of(const Column<DeviceId, Device>& devices, const Column<LinkId, Link>& links);

// For each device of domain 0, the shortest path to every device that it can reach without crossing the fabric.
std::vector<std::vector<std::vector<LinkId>>> paths_of(const Graph& graph, const Column<DeviceId, Device>& devices,
                                                       const Column<LinkId, Link>& links);

}  // namespace fmsim
