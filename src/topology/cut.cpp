// Max-flow between two sets of devices: what no schedule can exceed.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

#include "fmsim/topology.hpp"

namespace fmsim {
namespace {

// Push-relabel wants whole capacities for an exact answer: bytes a second are whole enough.
using Capacity = std::int64_t;
using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Edge = Traits::edge_descriptor;
using FlowGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                        boost::property<boost::edge_capacity_t, Capacity,
                                                        boost::property<boost::edge_residual_capacity_t, Capacity,
                                                                        boost::property<boost::edge_reverse_t, Edge>>>>;

void join(FlowGraph& graph, std::size_t from, std::size_t to, Capacity capacity) {
    const Edge edge = boost::add_edge(from, to, graph).first;
    const Edge back = boost::add_edge(to, from, graph).first;
    boost::put(boost::edge_capacity, graph, edge, capacity);
    boost::put(boost::edge_capacity, graph, back, 0);
    boost::put(boost::edge_reverse, graph, edge, back);
    boost::put(boost::edge_reverse, graph, back, edge);
}

}  // namespace

BytesPerSecond cut(const Topology& topology, const std::vector<DeviceId>& from, const std::vector<DeviceId>& to) {
    const std::size_t source = topology.devices.size();
    const std::size_t sink = source + 1;
    FlowGraph graph(sink + 1);
    Capacity all = 0;
    for (const Link& link : topology.links.rows) {
        const auto capacity = static_cast<Capacity>(link.rate.value);
        join(graph, link.from.value, link.to.value, capacity);
        all += capacity;
    }
    for (const DeviceId device : from) join(graph, source, device.value, all);
    for (const DeviceId device : to) join(graph, device.value, sink, all);
    return {static_cast<double>(boost::push_relabel_max_flow(graph, source, sink))};
}

}  // namespace fmsim
