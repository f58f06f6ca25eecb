// Routes: which links a transfer takes, each with its share of the bytes.
#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "check.hpp"
#include "fmsim/topology.hpp"
#include "graph_routes.hpp"
#include "mixed.hpp"

namespace fmsim {
namespace {

// Adds a share on a link, once a link.
void add(Route& route, LinkId link, double share) {
    const auto same =
        std::find_if(route.begin(), route.end(), [&](const RouteLink& part) { return part.link == link; });
    if (same == route.end())
        route.push_back({link, share});
    else
        same->share += share;
}

std::uint32_t switch_of(const InstanceType& type, std::vector<std::uint32_t> PcieSwitch::*member, std::uint32_t index) {
    for (std::uint32_t s = 0; s < type.switches.size(); ++s) {
        const auto& on = type.switches[s].*member;
        if (std::find(on.begin(), on.end(), index) != on.end()) return s;
    }
    return 0;
}

// The first link of a PCIe switch in an instance, or what follows those of the last: see add_links in build.cpp.
std::uint32_t first_link(const InstanceType& type, std::uint32_t pcie_switch) {
    std::uint32_t first = type.nvlink ? 2 * type.gpus : 0;
    for (std::uint32_t s = 0; s < pcie_switch; ++s)
        first += 2 * static_cast<std::uint32_t>(type.switches[s].gpus.size() + type.switches[s].nics.size() + 1);
    return first;
}

// What a transfer through host memory takes of that which both directions share: it passes the root ports of the GPU
// and of the NIC, and is written to memory and read from it, beside the NIC.
void add_host(const InstanceType& type, std::uint32_t gpu_switch, std::uint32_t nic_switch,
              std::vector<std::uint32_t>& way) {
    const auto switches = static_cast<std::uint32_t>(type.switches.size());
    std::uint32_t next = first_link(type, switches) + 2 * (numa_nodes(type) - 1);
    if (type.pcie_root.value > 0) {
        way.insert(way.end(), {next + gpu_switch, next + nic_switch});
        next += switches;
    }
    if (type.numa_memory.value > 0) way.insert(way.end(), 2, next + type.switches[nic_switch].numa);
}

// The GPU of a switch whose share of its NICs has this one.
std::uint32_t gpu_of(const PcieSwitch& pcie, std::uint32_t nic) {
    const auto at = std::find(pcie.nics.begin(), pcie.nics.end(), nic) - pcie.nics.begin();
    return pcie.gpus[static_cast<std::size_t>(at) * pcie.gpus.size() / pcie.nics.size()];
}

}  // namespace

std::uint32_t Topology::gpus() const {
    std::uint32_t sum = 0;
    for (const DomainBlock& block : cluster.blocks) sum += block.count * block.type.gpus();
    return sum;
}

InstanceId Topology::instance_of(GpuPlace place) const {
    if (graph_) return devices[graph_->gpu(place)].instance;
    return {first_instance[place.domain].value + place.gpu / type_of(place.domain).instance.gpus};
}

std::vector<GpuPlace> Topology::gpus_of(InstanceId instance) const {
    if (graph_) return graph_->gpus_of(instance);
    const InstanceBlock& block = instances[instance];
    const std::uint32_t each = type_of(instance).instance.gpus;
    std::vector<GpuPlace> gpus;
    for (std::uint32_t g = 0; g < each; ++g) gpus.push_back({block.domain, block.in_domain * each + g});
    return gpus;
}

DeviceId Topology::device(GpuPlace place) const {
    if (graph_) return graph_->gpu(place);
    return {instances[instance_of(place)].device + place.gpu % type_of(place.domain).instance.gpus};
}

// Devices lie by kind: see add_devices in build.cpp. One beyond the last where there is no such device.
DeviceId Topology::device(DeviceKind kind, InstanceId instance, std::uint32_t index) const {
    const DeviceId none{static_cast<std::uint32_t>(devices.size())};
    if (graph_) return graph_->device(kind, instance, index).value_or(none);
    if (kind == DeviceKind::fabric) return {none.value - 1};
    if (kind == DeviceKind::network_switch) {
        const bool known = instance.value < switch_device_.size() && index < switch_device_[instance.value].size();
        return known ? DeviceId{switch_device_[instance.value][index]} : none;
    }
    if (instance.value >= instances.size()) return none;
    const InstanceBlock& block = instances[instance];
    const InstanceType& type = type_of(instance).instance;
    if (kind == DeviceKind::nvswitch) return index == 0 ? DeviceId{first_nvswitch_ + block.domain.value} : none;
    const std::array counts{std::pair{DeviceKind::gpu, type.gpus}, std::pair{DeviceKind::nic, type.nics},
                            std::pair{DeviceKind::pcie_switch, static_cast<std::uint32_t>(type.switches.size())},
                            std::pair{DeviceKind::numa, numa_nodes(type)}};
    std::uint32_t first = block.device;
    for (const auto& [which, count] : counts) {
        if (which == kind) return index < count ? DeviceId{first + index} : none;
        first += count;
    }
    return none;
}

Route Topology::nvlink_route(GpuPlace from, GpuPlace to) const {
    assert(from.domain == to.domain);
    if (graph_) return graph_->nvlink_route(device(from), device(to));
    const std::uint32_t each = type_of(from.domain).instance.gpus;
    // The links of GPU g to and from its NVSwitch are the first of an instance: 2g and 2g + 1.
    return {{LinkId{instances[instance_of(from)].link + 2 * (from.gpu % each)}, 1},
            {LinkId{instances[instance_of(to)].link + 2 * (to.gpu % each) + 1}, 1}};
}

// The NICs' links to the network end an instance's block: two each.
LinkId Topology::network_link(InstanceId instance, std::uint32_t nic, bool sends) const {
    const auto& layers = cluster.network.layers;
    const std::uint32_t next = instance.value + 1;
    const std::uint32_t end = next < instances.size() ? instances[InstanceId{next}].link
                              : layers.empty()        ? static_cast<std::uint32_t>(links.size())
                                                      : uplink_[0][0];
    return {end - 2 * (type_of(instance).instance.nics - nic) + (sends ? 0u : 1u)};
}

std::vector<Topology::NicShare> Topology::nics_for(InstanceId instance, std::uint32_t group) const {
    const InstanceType& type = type_of(instance).instance;
    const RailPolicy policy = has_nic_fault_[instance] ? cluster.rail_policy : RailPolicy::keep;
    if (policy == RailPolicy::even) return rebalanced(instance, group);
    std::vector<NicShare> nics;
    for (std::uint32_t rail = 0; rail < type.rails; ++rail) {
        std::uint32_t nic = group * type.rails + rail;
        if (policy == RailPolicy::neighbour && at_fault_.contains(network_link(instance, nic, true)))
            nic = (nic + 1) % type.nics;
        nics.push_back({nic, 1.0 / type.rails});
    }
    return nics;
}

// So that each NIC of the instance carries in proportion to its rate when all groups have the same to send, and no byte
// moves without need: a group keeps what its own NICs can carry of their part, and gives the rest to those with room.
//
// By hand: 4 groups of one NIC, rates 1 1 1 1/2. The fair part of the last is 0.5/3.5 of all, of its own 1/4 that is
// 4/7; each of the others takes 1/7 of it.
std::vector<Topology::NicShare> Topology::rebalanced(InstanceId instance, std::uint32_t group) const {
    const InstanceType& type = type_of(instance).instance;
    std::vector<double> rate(type.nics), of_group(type.groups());
    double sum = 0;
    for (std::uint32_t n = 0; n < type.nics; ++n) {
        rate[n] = links[network_link(instance, n, true)].rate.value;
        of_group[n / type.rails] += rate[n];
        sum += rate[n];
    }
    const double fair = sum / type.groups();  // what a group would need for all to be even
    double room = 0;
    for (const double own : of_group) room += std::max(0.0, own - fair);
    const double kept = fair > 0 ? std::min(1.0, of_group[group] / fair) : 1;
    std::vector<NicShare> nics;
    for (std::uint32_t n = 0; n < type.nics; ++n) {
        const std::uint32_t its_group = n / type.rails;
        if (rate[n] <= 0) continue;
        const double in_group = rate[n] / of_group[its_group];
        if (its_group == group)
            nics.push_back({n, kept * in_group});
        else if (kept < 1 && of_group[its_group] > fair)
            nics.push_back({n, (1 - kept) * (of_group[its_group] - fair) / room * in_group});
    }
    return nics;
}

// Beside the GPU straight over the PCIe switch. Elsewhere by NVLink to a GPU that is beside the NIC, as NCCL's PXN
// does, or over the hosts where there is none. Without GPUDirect always through host memory.
std::vector<LinkId> Topology::to_nic(InstanceId instance, std::uint32_t gpu, std::uint32_t nic, bool sends) const {
    const InstanceType& type = type_of(instance).instance;
    const InstanceBlock& block = instances[instance];
    const std::uint32_t nic_switch = switch_of(type, &PcieSwitch::nics, nic);
    const std::uint32_t gpu_switch = switch_of(type, &PcieSwitch::gpus, gpu);
    std::vector<std::uint32_t> way;  // from the first of the instance
    std::uint32_t source = gpu;
    const bool by_nvlink = gpu_switch != nic_switch && type.nvlink && !type.switches[nic_switch].gpus.empty();
    if (by_nvlink) {
        source = gpu_of(type.switches[nic_switch], nic);
        way = {2 * gpu, 2 * source + 1};
    }
    const auto& path = paths_[block.block][source][nic];
    way.insert(way.end(), path.begin(), path.end());
    const bool over_host = gpu_switch != nic_switch && !by_nvlink;
    if (!type.gpudirect && !over_host && !path.empty()) {
        // Up to the NUMA node and down again, in front of the last link.
        const std::uint32_t up = first_link(type, nic_switch + 1) - 2;
        way.insert(way.end() - 1, {up, up + 1});
    }
    // The way back takes each link's opposite, which is its neighbour.
    if (!sends)
        for (std::uint32_t& link : way) link ^= 1u;
    if (!type.gpudirect && !path.empty()) add_host(type, over_host ? gpu_switch : nic_switch, nic_switch, way);
    std::vector<LinkId> ids;
    for (const std::uint32_t link : way) ids.push_back({block.link + link});
    return ids;
}

// The switch of the first layer that a NIC group of an instance hangs on.
std::uint32_t Topology::leaf_switch(InstanceId instance, std::uint32_t group) const {
    const std::uint32_t set = leaf_of(instance);
    return first_rail_leaf_.empty() ? set : first_rail_leaf_[set] + group;
}

// The leaves that the traffic of a group takes: its own, and those of the NICs that help out one with a fault.
std::vector<Topology::Leaf> Topology::leaves_for(InstanceId instance, std::uint32_t group) const {
    if (first_rail_leaf_.empty()) return {{leaf_of(instance), 1}};
    std::vector<Leaf> leaves;
    for (const auto& [nic, share] : nics_for(instance, group)) {
        const std::uint32_t leaf = leaf_switch(instance, nic / type_of(instance).instance.rails);
        const auto same = std::find_if(leaves.begin(), leaves.end(), [&](const Leaf& l) { return l.leaf == leaf; });
        if (same == leaves.end())
            leaves.push_back({leaf, share});
        else
            same->share += share;
    }
    return leaves;
}

void Topology::add_climb(Route& route, const Nic& nic, std::uint32_t up, std::uint32_t down, double share,
                         std::uint64_t flow) const {
    for (std::size_t l = 0; l < cluster.network.layers.size(); ++l) {
        const NetworkLayer& layer = cluster.network.layers[l];
        if (l > 0) {
            up = parent_[l][up];
            down = parent_[l][down];
        }
        if (up == down) return;
        const std::uint32_t choices = nic.spreading == Spreading::hash ? 1 : layer.uplinks;
        const std::uint64_t hash = mixed(cluster.network.seed ^ mixed(flow * 64 + l));
        for (std::uint32_t u = 0; u < choices; ++u) {
            const auto uplink = choices == layer.uplinks ? u : static_cast<std::uint32_t>(hash % layer.uplinks);
            add(route, LinkId{uplink_[l][up] + 2 * uplink}, share / choices);
            add(route, LinkId{uplink_[l][down] + 2 * uplink + 1}, share / choices);
        }
    }
}

// Between a GPU and the network by the NICs of a group of its domain; the instance that has them.
InstanceId Topology::add_end(Route& route, GpuPlace gpu, std::uint32_t group, bool sends) const {
    const InstanceType& type = type_of(gpu.domain).instance;
    assert(type.groups() > 0);  // check() sees to it wherever there are several domains
    const std::uint32_t host = group / type.groups();
    const InstanceId instance{first_instance[gpu.domain].value + host};
    const GpuPlace there{gpu.domain, host * type.gpus + gpu.gpu % type.gpus};
    if (there != gpu)  // another host of the domain has the NICs: NVLink to its GPU of the same number first
        for (const auto& [link, share] : sends ? nvlink_route(gpu, there) : nvlink_route(there, gpu))
            add(route, link, share);
    for (const auto& [nic, share] : nics_for(instance, group % type.groups())) {
        for (const LinkId link : to_nic(instance, there.gpu % type.gpus, nic, sends)) add(route, link, share);
        add(route, network_link(instance, nic, sends), share);
    }
    return instance;
}

Route Topology::network_route(GpuPlace from, std::uint32_t leave, std::uint32_t enter, GpuPlace to,
                              std::uint64_t flow) const {
    assert(from.domain != to.domain);
    if (graph_) return graph_->network_route(*this, from, leave, enter, to, flow);
    Route route;
    const InstanceId out = add_end(route, from, leave, true);
    const InstanceId in = add_end(route, to, enter, false);
    if (cluster.network.layers.empty()) return route;
    const InstanceType& type = type_of(out).instance;
    const auto ups = leaves_for(out, leave % type.groups());
    const auto downs = leaves_for(in, enter % type_of(in).instance.groups());
    // Each NIC of the sender is a flow of its own to a network that hashes.
    for (std::uint32_t rail = 0; rail < type.rails; ++rail)
        for (const Leaf& up : ups)
            for (const Leaf& down : downs)
                add_climb(route, *type.nic, up.leaf, down.leaf, up.share * down.share / type.rails,
                          flow * type.rails + rail);
    return route;
}

}  // namespace fmsim
