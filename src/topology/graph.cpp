#include "graph.hpp"

#include <algorithm>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>

namespace fmsim {
namespace {

struct EdgeLink {
    std::uint32_t link;  // from the instance's first
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, EdgeLink>;

constexpr std::uint32_t kNone = 0xffffffff;

// The PCIe and NUMA links of an instance; vertices count from its first device.
Graph instance_graph(const Topology& net, InstanceId instance) {
    const InstanceBlock& block = net.instances[instance];
    Graph graph;
    for (std::uint32_t l = block.link; l < net.links.size(); ++l) {
        const Link& link = net.links[LinkId{l}];
        if (link.kind == LinkKind::network) break;  // the NICs' links end the block
        if (link.kind == LinkKind::nvlink) continue;
        boost::add_edge(link.from.value - block.device, link.to.value - block.device, EdgeLink{l - block.link}, graph);
    }
    return graph;
}

struct RecordArrival : boost::default_bfs_visitor {
    std::vector<std::uint32_t>* arrived_by;  // the link by which a device was first reached
    template <class Edge, class AnyGraph>
    void tree_edge(Edge edge, const AnyGraph& graph) const {
        (*arrived_by)[boost::target(edge, graph)] = graph[edge].link;
    }
};

// Paths end at GPUs and NICs: none leads through one.
struct NotThroughEnds {
    const Graph* graph{};
    std::size_t ends{};  // GPUs and NICs come first
    std::size_t source{};
    bool operator()(const Graph::edge_descriptor& edge) const {
        const std::size_t from = boost::source(edge, *graph);
        return from >= ends || from == source;
    }
};

}  // namespace

std::vector<std::vector<std::vector<std::uint32_t>>> pcie_paths(const Topology& net, InstanceId instance) {
    const InstanceType& type = net.type_of(instance).instance;
    const InstanceBlock& block = net.instances[instance];
    const Graph graph = instance_graph(net, instance);
    std::vector<std::vector<std::vector<std::uint32_t>>> paths(type.gpus);
    for (std::uint32_t gpu = 0; gpu < type.gpus; ++gpu) {
        paths[gpu].resize(type.nics);
        if (boost::num_vertices(graph) == 0) continue;
        const boost::filtered_graph inside(graph, NotThroughEnds{&graph, type.gpus + type.nics, gpu});
        std::vector<std::uint32_t> arrived_by(boost::num_vertices(graph), kNone);
        RecordArrival record;
        record.arrived_by = &arrived_by;
        boost::breadth_first_search(inside, gpu, boost::visitor(record));
        for (std::uint32_t nic = 0; nic < type.nics; ++nic) {
            auto& path = paths[gpu][nic];
            for (std::uint32_t at = type.gpus + nic; arrived_by[at] != kNone;) {
                path.push_back(arrived_by[at]);
                at = net.links[LinkId{block.link + arrived_by[at]}].from.value - block.device;
            }
            std::reverse(path.begin(), path.end());
        }
    }
    return paths;
}

}  // namespace fmsim
