#include "graph.hpp"

#include <algorithm>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>

namespace fmsim {
namespace {

// Leaves out what no path inside a domain takes: the fabric, and the way through a GPU or a NIC, which end paths.
struct Inside {
    const Column<DeviceId, Device>* devices{};
    const Column<LinkId, Link>* links{};
    const Graph* graph{};
    DeviceId source;
    bool operator()(const Graph::edge_descriptor& edge) const {
        const Link& link = (*links)[(*graph)[edge].link];
        const DeviceKind from = (*devices)[link.from].kind;
        const bool through_end = from == DeviceKind::gpu || from == DeviceKind::nic;
        return link.kind != LinkKind::network && (!through_end || link.from == source);
    }
};

constexpr std::uint32_t kNone = 0xffffffff;

struct RecordArrival : boost::default_bfs_visitor {
    std::vector<std::uint32_t>* arrived_by;  // the link by which a device was first reached
    template <class Edge, class AnyGraph>
    void tree_edge(Edge edge, const AnyGraph& graph) const {
        (*arrived_by)[boost::target(edge, graph)] = graph[edge].link.value;
    }
};

}  // namespace

Graph graph_of(const Column<DeviceId, Device>& devices, const Column<LinkId, Link>& links) {
    Graph graph(devices.size());
    for (std::uint32_t i = 0; i < links.size(); ++i)
        boost::add_edge(links[LinkId{i}].from.value, links[LinkId{i}].to.value, EdgeLink{LinkId{i}}, graph);
    return graph;
}

std::vector<std::vector<std::vector<LinkId>>> paths_of(const Graph& graph, const Column<DeviceId, Device>& devices,
                                                       const Column<LinkId, Link>& links) {
    std::vector<std::vector<std::vector<LinkId>>> paths(devices.size());
    for (std::uint32_t source = 0; source < devices.size(); ++source) {
        const boost::filtered_graph inside(graph, Inside{&devices, &links, &graph, DeviceId{source}});
        std::vector<std::uint32_t> arrived_by(devices.size(), kNone);
        RecordArrival record;
        record.arrived_by = &arrived_by;
        boost::breadth_first_search(inside, source, boost::visitor(record));
        paths[source].resize(devices.size());
        for (std::uint32_t target = 0; target < devices.size(); ++target) {
            auto& path = paths[source][target];
            for (std::uint32_t at = target; arrived_by[at] != kNone; at = links[path.back()].from.value)
                path.push_back({arrived_by[at]});
            std::reverse(path.begin(), path.end());
        }
    }
    return paths;
}

}  // namespace fmsim
