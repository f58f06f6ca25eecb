// Lays out the devices and links of a cluster: a block for each instance, then the NVSwitches of the domains, then the
// network's switches, then the fabric above all.
//
//   gpu0 == nvswitch == gpu1     NUMA 0 -- NUMA 1
//    |                            |
//   pcie0 ---------------------- /       (an instance; == NVLink, -- PCIe and host)
//    |  \.
//   nic0 nic1 .. -- leaf -- .. -- fabric
//
// Links of an instance come in one order (GPUs to NVSwitch, PCIe, NUMA, NICs to network), each followed by the way
// back, so that a route of one instance is a route of all of its type, shifted. Without GPUDirect there are in front of
// those to the network the root port above each PCIe switch and the memory of each NUMA node: what both directions
// share, so each is one link, from its device to itself.
#include <algorithm>

#include <fmt/format.h>

#include "check.hpp"
#include "fmsim/topology.hpp"
#include "graph.hpp"
#include "graph_build.hpp"

namespace fmsim {
namespace {

// The switch of a layer above each of `count` children, which fill the switches in order.
std::vector<std::uint32_t> parents(const NetworkLayer& layer, std::uint32_t count) {
    std::vector<std::uint32_t> parent;
    if (layer.sizes.empty()) {
        for (std::uint32_t child = 0; child < count; ++child) parent.push_back(child / layer.children);
        return parent;
    }
    for (std::uint32_t s = 0; s < layer.sizes.size(); ++s) parent.insert(parent.end(), layer.sizes[s], s);
    if (parent.size() != count)
        throw InputError({{.file = layer.name,
                           .line = 0,
                           .pointer = "",
                           .expected = fmt::format("the switches of a layer must have {} children in all", count),
                           .found = fmt::format("{}", parent.size())}});
    return parent;
}

}  // namespace

class TopologyBuilder {
public:
    explicit TopologyBuilder(const Cluster& cluster) { net_.cluster = cluster; }
    Topology build() &&;

private:
    DeviceId add(DeviceKind kind, InstanceId instance, std::uint32_t index);
    std::vector<DeviceId> add_all(DeviceKind kind, InstanceId instance, std::uint32_t count);
    void join(DeviceId a, DeviceId b, LinkKind kind, BytesPerSecond rate);
    void share(DeviceId device, LinkKind kind, BytesPerSecond rate);
    void count_devices();
    void add_devices(InstanceId instance);
    void add_devices_of_all();
    void add_links(InstanceId instance);
    void add_links_of_all();
    void add_network();
    std::uint32_t add_rail_leaves();
    std::vector<double> rates_into(std::uint32_t layer) const;
    void break_what_is_broken();
    void find_paths();

    const InstanceType& type_of(InstanceId instance) const { return net_.type_of(instance).instance; }

    Topology net_;
};

DeviceId TopologyBuilder::add(DeviceKind kind, InstanceId instance, std::uint32_t index) {
    net_.devices.add({kind, instance, index});
    return {static_cast<std::uint32_t>(net_.devices.size() - 1)};
}

std::vector<DeviceId> TopologyBuilder::add_all(DeviceKind kind, InstanceId instance, std::uint32_t count) {
    std::vector<DeviceId> ids;
    for (std::uint32_t i = 0; i < count; ++i) ids.push_back(add(kind, instance, i));
    return ids;
}

void TopologyBuilder::join(DeviceId a, DeviceId b, LinkKind kind, BytesPerSecond rate) {
    net_.links.add({a, b, kind, rate});
    net_.links.add({b, a, kind, rate});
}

void TopologyBuilder::share(DeviceId device, LinkKind kind, BytesPerSecond rate) {
    if (rate.value > 0) net_.links.add({device, device, kind, rate});
}

// Which instances and domains there are.
void TopologyBuilder::count_devices() {
    for (std::uint32_t b = 0; b < net_.cluster.blocks.size(); ++b)
        for (std::uint32_t d = 0; d < net_.cluster.blocks[b].count; ++d) {
            const DomainId domain{net_.domains()};
            net_.block_of_.rows.push_back(b);
            net_.first_instance.rows.push_back({static_cast<std::uint32_t>(net_.instances.size())});
            for (std::uint32_t i = 0; i < net_.cluster.blocks[b].type.instances; ++i)
                net_.instances.rows.push_back({.block = b, .domain = domain, .in_domain = i});
        }
}

void TopologyBuilder::add_devices(InstanceId instance) {
    const InstanceType& type = type_of(instance);
    net_.instances[instance].device = static_cast<std::uint32_t>(net_.devices.size());
    add_all(DeviceKind::gpu, instance, type.gpus);
    add_all(DeviceKind::nic, instance, type.nics);
    add_all(DeviceKind::pcie_switch, instance, static_cast<std::uint32_t>(type.switches.size()));
    add_all(DeviceKind::numa, instance, numa_nodes(type));
}

// Of each block's first instance; the others are like it.
void TopologyBuilder::add_devices_of_all() {
    for (std::uint32_t i = 0; i < net_.instances.size();) {
        const std::uint32_t first = i, block = net_.instances[InstanceId{first}].block;
        add_devices(InstanceId{first});
        const std::uint32_t device = net_.instances[InstanceId{first}].device;
        const auto each = static_cast<std::uint32_t>(net_.devices.size()) - device;
        for (++i; i < net_.instances.size() && net_.instances[InstanceId{i}].block == block; ++i)
            net_.instances[InstanceId{i}].device = device + (i - first) * each;
        net_.devices.repeat(each, i - first - 1, 1);
    }
    net_.first_nvswitch_ = static_cast<std::uint32_t>(net_.devices.size());
    std::uint32_t domain = 0;
    for (const DomainBlock& block : net_.cluster.blocks) {
        if (block.count == 0) continue;
        add(DeviceKind::nvswitch, net_.first_instance[DomainId{domain}], 0);
        net_.devices.repeat(1, block.count - 1, block.type.instances);
        domain += block.count;
    }
}

void TopologyBuilder::add_links(InstanceId instance) {
    const InstanceType& type = type_of(instance);
    InstanceBlock& block = net_.instances[instance];
    block.link = static_cast<std::uint32_t>(net_.links.size());
    const auto at = [&](DeviceKind kind, std::uint32_t index) { return net_.device(kind, instance, index); };
    const DeviceId nvswitch = at(DeviceKind::nvswitch, 0);
    if (type.nvlink)
        for (std::uint32_t g = 0; g < type.gpus; ++g)
            join(at(DeviceKind::gpu, g), nvswitch, LinkKind::nvlink, type.nvlink->carries());
    for (std::uint32_t s = 0; s < type.switches.size(); ++s) {
        const DeviceId pcie = at(DeviceKind::pcie_switch, s);
        for (const std::uint32_t gpu : type.switches[s].gpus)
            join(at(DeviceKind::gpu, gpu), pcie, LinkKind::pcie, type.pcie_gpu);
        for (const std::uint32_t nic : type.switches[s].nics)
            join(at(DeviceKind::nic, nic), pcie, LinkKind::pcie, type.pcie_nic);
        join(pcie, at(DeviceKind::numa, type.switches[s].numa), LinkKind::pcie, type.pcie_host);
    }
    for (std::uint32_t n = 1; n < numa_nodes(type); ++n)
        join(at(DeviceKind::numa, n - 1), at(DeviceKind::numa, n), LinkKind::numa, type.numa);
    for (std::uint32_t s = 0; s < type.switches.size() && !type.gpudirect; ++s)
        share(at(DeviceKind::pcie_switch, s), LinkKind::pcie, type.pcie_root);
    for (std::uint32_t n = 0; n < numa_nodes(type) && !type.gpudirect; ++n)
        share(at(DeviceKind::numa, n), LinkKind::numa, type.numa_memory);
    for (std::uint32_t n = 0; n < type.nics; ++n) {
        const auto& layers = net_.cluster.network.layers;
        const DeviceId above = layers.empty()
                                   ? DeviceId{static_cast<std::uint32_t>(net_.devices.size() - 1)}
                                   : DeviceId{net_.switch_device_[0][net_.leaf_switch(instance, n / type.rails)]};
        join(at(DeviceKind::nic, n), above, LinkKind::network, type.nic->carries);
    }
}

// Where instances hang on switches each has links of its own; else they are like those of their block's first.
void TopologyBuilder::add_links_of_all() {
    const bool own = !net_.cluster.network.layers.empty();
    for (std::uint32_t i = 0; i < net_.instances.size();) {
        const std::uint32_t first = i, block = net_.instances[InstanceId{first}].block;
        add_links(InstanceId{first});
        const std::uint32_t link = net_.instances[InstanceId{first}].link;
        const auto each = static_cast<std::uint32_t>(net_.links.size()) - link;
        for (++i; i < net_.instances.size() && net_.instances[InstanceId{i}].block == block && !own; ++i)
            net_.instances[InstanceId{i}].link = link + (i - first) * each;
        if (own) continue;
        const std::uint32_t next = std::min(first + 1, i - 1);
        net_.links.repeat({.each = each,
                           .count = i - first - 1,
                           .apart = net_.instances[InstanceId{next}].device - net_.instances[InstanceId{first}].device,
                           .first_nvswitch = net_.first_nvswitch_,
                           .nvswitches = net_.domains(),
                           .together = net_.cluster.blocks[block].type.instances});
    }
}

// The switches of each layer and the fabric; their links follow those of the instances.
void TopologyBuilder::add_network() {
    auto below = static_cast<std::uint32_t>(net_.instances.size());
    for (std::uint32_t l = 0; l < net_.cluster.network.layers.size(); ++l) {
        net_.parent_.push_back(parents(net_.cluster.network.layers[l], below));
        below = net_.parent_.back().back() + 1;
        if (net_.cluster.network.layers[l].rail_optimized) below = add_rail_leaves();
        net_.switch_device_.emplace_back();
        for (std::uint32_t s = 0; s < below; ++s)
            net_.switch_device_.back().push_back(add(DeviceKind::network_switch, InstanceId{l}, s).value);
    }
    const DeviceId fabric = add(DeviceKind::fabric, InstanceId{0}, 0);
    add_links_of_all();

    for (std::uint32_t l = 0; l < net_.cluster.network.layers.size(); ++l) {
        const NetworkLayer& layer = net_.cluster.network.layers[l];
        const bool top = l + 1 == net_.cluster.network.layers.size();
        net_.uplink_.emplace_back();
        const std::vector<double> rates = rates_into(l);
        for (std::uint32_t s = 0; s < net_.switch_device_[l].size(); ++s) {
            const DeviceId above = top ? fabric : DeviceId{net_.switch_device_[l + 1][net_.parent_[l + 1][s]]};
            net_.uplink_[l].push_back(static_cast<std::uint32_t>(net_.links.size()));
            const double each = rates[s] / layer.oversubscription / layer.uplinks;
            for (std::uint32_t u = 0; u < layer.uplinks; ++u)
                join(DeviceId{net_.switch_device_[l][s]}, above, LinkKind::network, {each});
        }
    }
}

// A set has a leaf for each NIC group of that of its instances with the most; how many leaves there are in all.
std::uint32_t TopologyBuilder::add_rail_leaves() {
    std::vector<std::uint32_t> groups(net_.parent_[0].back() + 1, 1);
    for (std::uint32_t i = 0; i < net_.instances.size(); ++i) {
        std::uint32_t& most = groups[net_.parent_[0][i]];
        most = std::max(most, type_of(InstanceId{i}).groups());
    }
    std::uint32_t leaves = 0;
    for (const std::uint32_t count : groups) {
        net_.first_rail_leaf_.push_back(leaves);
        leaves += count;
    }
    return leaves;
}

// What the children of each switch can send it.
std::vector<double> TopologyBuilder::rates_into(std::uint32_t layer) const {
    std::vector<double> sums(net_.switch_device_[layer].size());
    if (layer == 0) {
        for (std::uint32_t i = 0; i < net_.instances.size(); ++i) {
            const InstanceType& type = type_of(InstanceId{i});
            for (std::uint32_t group = 0; group < type.groups(); ++group)
                sums[net_.leaf_switch(InstanceId{i}, group)] += type.rails * type.nic->carries.value;
        }
        return sums;
    }
    for (std::uint32_t child = 0; child < net_.parent_[layer].size(); ++child)
        sums[net_.parent_[layer][child]] += net_.links[LinkId{net_.uplink_[layer - 1][child]}].rate.value *
                                            net_.cluster.network.layers[layer - 1].uplinks;
    return sums;
}

void TopologyBuilder::break_what_is_broken() {
    net_.has_nic_fault_.rows.assign(net_.instances.size(), 0);
    for (const Fault& fault : net_.cluster.faults) {
        const DeviceId broken = net_.device(fault.kind, InstanceId{fault.instance}, fault.index);
        if (broken.value >= net_.devices.size())
            throw InputError({{.file = net_.cluster.name,
                               .line = 0,
                               .pointer = "",
                               .expected = "a fault must name a device that the cluster has",
                               .found = fmt::format("{} {} of {}", name(fault.kind), fault.index, fault.instance)}});
        for (std::uint32_t i = 0; i < net_.links.size(); ++i) {
            const Link link = net_.links[LinkId{i}];
            if (link.from != broken && link.to != broken) continue;
            net_.links.scale(LinkId{i}, fault.fraction);
            net_.at_fault_.insert(LinkId{i});
        }
        if (fault.kind == DeviceKind::nic) net_.has_nic_fault_[InstanceId{fault.instance}] = 1;
    }
}

// Once for each block: its instances are alike.
void TopologyBuilder::find_paths() {
    for (std::uint32_t i = 0; i < net_.instances.size(); ++i)
        if (net_.instances[InstanceId{i}].block == net_.paths_.size())
            net_.paths_.push_back(pcie_paths(net_, InstanceId{i}));
}

Topology TopologyBuilder::build() && {
    count_devices();
    add_devices_of_all();
    add_network();
    break_what_is_broken();
    find_paths();
    return std::move(net_);
}

Topology build_topology(const Cluster& cluster) {
    if (cluster.graph) return build_graph_topology(cluster);
    check(cluster);
    return TopologyBuilder(cluster).build();
}

}  // namespace fmsim
