// Max-flow between two sets of devices: what no schedule can exceed.
#include <algorithm>
#include <map>
#include <set>

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

// The sender's own machines and NICs, and everything beyond these as one.
BytesPerSecond out_of_graph(const Topology& net, DomainId domain) {
    std::vector<std::uint8_t> own(net.devices.size());
    std::set<InstanceId> machines;
    for (std::uint32_t g = 0; g < net.type_of(domain).gpus(); ++g) machines.insert(net.instance_of({domain, g}));
    for (std::uint32_t d = 0; d < net.devices.size(); ++d) {
        const Device& device = net.devices[DeviceId{d}];
        own[d] = device.kind == DeviceKind::nvswitch ||
                 (device.kind != DeviceKind::network_switch && machines.contains(device.instance));
    }
    std::map<std::uint32_t, std::size_t> vertex;
    const auto at = [&](DeviceId device) {
        return own[device.value] ? vertex.emplace(device.value, vertex.size() + 2).first->second : std::size_t{1};
    };
    FlowGraph graph(2);
    Capacity all = 0;
    for (std::uint32_t l = 0; l < net.links.size(); ++l) {
        const Link link = net.links[LinkId{l}];
        if (!own[link.from.value] || (!own[link.to.value] && link.kind != LinkKind::network)) continue;
        join(graph, at(link.from), at(link.to), static_cast<Capacity>(link.rate.value));
        all += static_cast<Capacity>(link.rate.value);
    }
    for (std::uint32_t g = 0; g < net.type_of(domain).gpus(); ++g)
        join(graph, 0, at(net.device(GpuPlace{domain, g})), all);
    return {static_cast<double>(boost::push_relabel_max_flow(graph, 0, 1))};
}

}  // namespace

BytesPerSecond Topology::rate_out_of(DomainId domain) const {
    if (graph_) return out_of_graph(*this, domain);
    const DomainType& type = type_of(domain);
    const Topology one = build_topology({.name = type.name, .blocks = {{type, 1}}});
    std::vector<DeviceId> all;
    for (std::uint32_t g = 0; g < type.gpus(); ++g) all.push_back(one.device(GpuPlace{DomainId{0}, g}));
    return cut(one, all, devices_of(one, DeviceKind::fabric, InstanceId{0}));
}

BytesPerSecond cut(const Topology& topology, const std::vector<DeviceId>& from, const std::vector<DeviceId>& to) {
    const std::size_t source = topology.devices.size();
    const std::size_t sink = source + 1;
    FlowGraph graph(sink + 1);
    Capacity all = 0;
    for (std::uint32_t l = 0; l < topology.links.size(); ++l) {
        const Link link = topology.links[LinkId{l}];
        const auto capacity = static_cast<Capacity>(link.rate.value);
        join(graph, link.from.value, link.to.value, capacity);
        all += capacity;
    }
    for (const DeviceId device : from) join(graph, source, device.value, all);
    for (const DeviceId device : to) join(graph, device.value, sink, all);
    return {static_cast<double>(boost::push_relabel_max_flow(graph, source, sink))};
}

bool network_counts(const Topology& topology) {
    for (const Fault& fault : topology.cluster.faults)
        if (fault.kind == DeviceKind::network_switch || fault.kind == DeviceKind::fabric) return true;
    const auto& blocks = topology.cluster.blocks;
    const bool hashes = std::any_of(blocks.begin(), blocks.end(), [](const DomainBlock& block) {
        return block.type.instance.nic && block.type.instance.nic->spreading == Spreading::hash;
    });
    const auto& layers = topology.cluster.network.layers;
    return std::any_of(layers.begin(), layers.end(),
                       [&](const NetworkLayer& layer) { return layer.oversubscription > 1 || hashes; });
}

}  // namespace fmsim
