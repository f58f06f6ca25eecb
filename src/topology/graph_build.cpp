#include "graph_build.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace fmsim {
namespace {

bool may_join(LinkKind kind, DeviceKind end) {
    switch (kind) {
        case LinkKind::nvlink:
            return end == DeviceKind::gpu || end == DeviceKind::nvswitch;
        case LinkKind::pcie:
        case LinkKind::numa:
            return end == DeviceKind::gpu || end == DeviceKind::nic || end == DeviceKind::pcie_switch ||
                   end == DeviceKind::numa;
        case LinkKind::network:
            return end == DeviceKind::nic || end == DeviceKind::network_switch;
    }
    return false;
}

// What the reader of a file has refused with its line; here for graphs from elsewhere.
void check_graph(const Cluster& cluster) {
    const FreeGraph& graph = *cluster.graph;
    std::vector<Problem> problems;
    const auto refuse = [&](std::string expected) {
        problems.push_back(
            {.file = cluster.name, .line = 0, .pointer = "", .expected = std::move(expected), .found = ""});
    };
    for (const FreeGraph::Device& device : graph.devices) {
        const std::size_t parts = device.kind == DeviceKind::gpu        ? graph.gpus.size()
                                  : device.kind == DeviceKind::nic      ? graph.nics.size()
                                  : device.kind == DeviceKind::nvswitch ? graph.nvlinks.size()
                                                                        : 1;
        const bool free = device.kind == DeviceKind::nvswitch || device.kind == DeviceKind::network_switch;
        if (device.part >= parts || (device.machine >= graph.machines.size() && !free))
            refuse(fmt::format("device \"{}\" needs a kind and a machine", printable(device.name)));
    }
    for (const FreeGraph::Link& link : graph.links) {
        const std::size_t count = graph.devices.size();
        if (link.from >= count || link.to >= count || link.from == link.to || link.count == 0 ||
            !(link.rate.value > 0) || !may_join(link.kind, graph.devices[link.from].kind) ||
            !may_join(link.kind, graph.devices[link.to].kind) ||
            (link.kind == LinkKind::nvlink && graph.nvlinks.empty()) ||
            (link.kind == LinkKind::network && graph.nics.empty()))
            refuse("a link needs two devices that its kind joins, and a rate above 0");
    }
    for (const Fault& fault : cluster.faults)
        if (!(fault.fraction >= 0 && fault.fraction <= 1))
            refuse(fmt::format("a fault leaves a fraction of 0 to 1, not {}", fault.fraction));
    if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace

class GraphTopologyBuilder {
public:
    explicit GraphTopologyBuilder(const Cluster& cluster) : graph_(*cluster.graph) {
        net_.cluster = cluster;
        net_.cluster.blocks.clear();
    }
    Topology build() &&;

private:
    void add_devices();
    void add_links();
    BytesPerSecond carried(const FreeGraph::Link& link) const;
    void add_domains(const GraphRoutes& routes);
    void find_leaves(const GraphRoutes& routes);
    void break_what_is_broken(const GraphRoutes& routes);

    const FreeGraph& graph_;
    Topology net_;
};

void GraphTopologyBuilder::add_devices() {
    std::map<std::pair<DeviceKind, std::uint32_t>, std::uint32_t> count;
    for (const FreeGraph::Device& device : graph_.devices) {
        const bool free = device.kind == DeviceKind::nvswitch || device.kind == DeviceKind::network_switch;
        const std::uint32_t machine = free ? 0 : device.machine;
        net_.devices.add({device.kind, InstanceId{machine}, count[{device.kind, machine}]++});
    }
}

// What ring kernels reach of an NVLink, and payloads of a network's line.
BytesPerSecond GraphTopologyBuilder::carried(const FreeGraph::Link& link) const {
    const FreeGraph::Device& from = graph_.devices[link.from];
    const FreeGraph::Device& to = graph_.devices[link.to];
    if (link.kind == LinkKind::nvlink) {
        const std::uint32_t kind = from.kind == DeviceKind::nvswitch ? from.part
                                   : to.kind == DeviceKind::nvswitch ? to.part
                                                                     : 0;
        return {link.rate.value * graph_.nvlinks[kind].efficiency};
    }
    if (link.kind != LinkKind::network) return link.rate;
    const Nic& nic = graph_.nics[from.kind == DeviceKind::nic ? from.part : to.kind == DeviceKind::nic ? to.part : 0];
    return {link.rate.value * (nic.carries.value / nic.rate.value)};
}

void GraphTopologyBuilder::add_links() {
    for (const FreeGraph::Link& link : graph_.links) {
        BytesPerSecond rate = carried(link);
        const std::uint32_t apart = link.kind == LinkKind::network ? link.count : 1;
        if (apart == 1) rate.value *= link.count;
        for (std::uint32_t i = 0; i < apart; ++i) {
            net_.links.add({DeviceId{link.from}, DeviceId{link.to}, link.kind, rate});
            net_.links.add({DeviceId{link.to}, DeviceId{link.from}, link.kind, rate});
        }
    }
}

// Alike domains are searched for rings once, and in a row they are one block.
void GraphTopologyBuilder::add_domains(const GraphRoutes& routes) {
    auto& blocks = net_.cluster.blocks;
    std::map<std::string, DomainType> known;
    std::string before;
    for (const GraphRoutes::Domain& domain : routes.domains()) {
        const std::string signature = signature_of(net_, routes, domain);
        if (!known.contains(signature)) known.emplace(signature, domain_type(net_, routes, domain));
        if (routes.domains().size() > 1 && domain.nics.empty())
            throw InputError({{.file = net_.cluster.name,
                               .line = 0,
                               .pointer = "",
                               .expected = "several NVLink domains need NICs, each one that its GPUs reach over PCIe",
                               .found = fmt::format("none of {}", graph_.devices[domain.gpus[0].value].name)}});
        if (blocks.empty() || before != signature) blocks.push_back({known.at(signature), 0});
        before = signature;
        ++blocks.back().count;
        net_.block_of_.rows.push_back(static_cast<std::uint32_t>(blocks.size() - 1));
        net_.first_instance.rows.push_back(net_.devices[domain.gpus[0]].instance);
    }
    for (std::uint32_t m = 0; m < graph_.machines.size(); ++m) {
        const auto gpus = routes.gpus_of(InstanceId{m});
        const DomainId domain = gpus.empty() ? DomainId{0} : gpus.front().domain;
        net_.instances.rows.push_back({.block = net_.block_of_[domain], .domain = domain});
    }
}

// The leaf of a machine is the switch of its first NIC; leaves are counted by their ids.
void GraphTopologyBuilder::find_leaves(const GraphRoutes& routes) {
    std::vector<std::uint32_t> first(graph_.machines.size(), 0);
    for (std::uint32_t d = static_cast<std::uint32_t>(graph_.devices.size()); d-- > 0;)
        if (graph_.devices[d].kind == DeviceKind::nic && !routes.network_of({d}).empty())
            first[graph_.devices[d].machine] = routes.network_of({d}).front().to.value;
    const std::set<std::uint32_t> leaves(first.begin(), first.end());
    net_.parent_.emplace_back();
    for (const std::uint32_t leaf : first)
        net_.parent_[0].push_back(static_cast<std::uint32_t>(std::distance(leaves.begin(), leaves.find(leaf))));
}

void GraphTopologyBuilder::break_what_is_broken(const GraphRoutes& routes) {
    for (const Fault& fault : net_.cluster.faults) {
        const auto broken = routes.device(fault.kind, InstanceId{fault.instance}, fault.index);
        if (!broken)
            throw InputError({{.file = net_.cluster.name,
                               .line = 0,
                               .pointer = "",
                               .expected = "a fault must name a device that the cluster has",
                               .found = fmt::format("{} {} of {}", name(fault.kind), fault.index, fault.instance)}});
        for (std::uint32_t l = 0; l < net_.links.size(); ++l)
            if (const Link link = net_.links[LinkId{l}]; link.from == *broken || link.to == *broken)
                net_.links.scale(LinkId{l}, fault.fraction);
    }
}

// Domains and their rings are those of the sound cluster, as NCCL sees it; ways are as wide as the faults leave them.
Topology GraphTopologyBuilder::build() && {
    add_devices();
    add_links();
    const GraphRoutes sound(net_);
    add_domains(sound);
    find_leaves(sound);
    break_what_is_broken(sound);
    net_.graph_ = net_.cluster.faults.empty() ? std::make_shared<const GraphRoutes>(sound)
                                              : std::make_shared<const GraphRoutes>(net_);
    return std::move(net_);
}

Topology build_graph_topology(const Cluster& cluster) {
    check_graph(cluster);
    if (std::none_of(cluster.graph->devices.begin(), cluster.graph->devices.end(),
                     [](const FreeGraph::Device& device) { return device.kind == DeviceKind::gpu; }))
        throw InputError(
            {{.file = cluster.name, .line = 0, .pointer = "", .expected = "a cluster needs a GPU", .found = ""}});
    return GraphTopologyBuilder(cluster).build();
}

}  // namespace fmsim
