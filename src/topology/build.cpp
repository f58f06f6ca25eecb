// Lays out the devices and links of a cluster: the same block for each instance, then the one fabric.
//
//   gpu0 == nvswitch == gpu1     NUMA 0 -- NUMA 1
//    |                            |
//   pcie0 ---------------------- /       (an instance; == NVLink, -- PCIe and host)
//    |  \.
//   nic0 nic1 .. -- fabric               (the fabric is one non-blocking switch)
//
// Regularity is kept: device d of instance i has the id i * devices_each + d, so that routes are found once, in
// instance 0, and shifted.
#include <algorithm>

#include <fmt/format.h>

#include "fmsim/topology.hpp"
#include "graph.hpp"

namespace fmsim {
namespace {

Problem misfit(const InstanceType& type, std::string what) {
    return {.file = type.name, .line = 0, .pointer = "", .expected = std::move(what), .found = ""};
}

// Each GPU and each NIC hangs on exactly one PCIe switch.
void check_tree(const InstanceType& type, std::vector<Problem>& problems) {
    const auto check = [&](const char* what, std::uint32_t count, std::vector<std::uint32_t> PcieSwitch::*member) {
        std::vector<int> seen(count);
        for (const PcieSwitch& pcie : type.switches)
            for (const std::uint32_t index : pcie.*member) {
                if (index >= count)
                    problems.push_back(
                        misfit(type, fmt::format("a PCIe switch names {} {}, but there are {}", what, index, count)));
                else
                    ++seen[index];
            }
        for (std::uint32_t index = 0; index < count; ++index)
            if (seen[index] != 1)
                problems.push_back(misfit(
                    type, fmt::format("{} {} must hang on one PCIe switch; it hangs on {}", what, index, seen[index])));
    };
    check("GPU", type.gpus, &PcieSwitch::gpus);
    check("NIC", type.nics, &PcieSwitch::nics);
}

void check_rings(const InstanceType& type, const RingSearch& search, std::vector<Problem>& problems) {
    const std::uint32_t groups = type.rails == 0 ? 0 : type.nics / type.rails;
    for (const RingPath& path : search.paths) {
        std::vector<int> seen(type.gpus);
        bool known = path.gpus.size() == type.gpus;
        for (const std::uint32_t gpu : path.gpus) known = known && gpu < type.gpus && ++seen[gpu] == 1;
        if (!known) problems.push_back(misfit(type, "a ring path must visit each GPU once"));
        if (groups != 0 && (path.enter_group >= groups || path.leave_group >= groups))
            problems.push_back(
                misfit(type, fmt::format("a ring path names a NIC group beyond the {} there are", groups)));
    }
    if (search.paths.empty()) problems.push_back(misfit(type, "at least one ring path is needed"));
    if (search.crosses_nics && search.paths.size() % 2 != 0)
        problems.push_back(misfit(type, "ring paths that cross NICs come in pairs"));
}

void check(const Cluster& cluster) {
    const InstanceType& type = cluster.instance;
    std::vector<Problem> problems;
    if (type.gpus == 0) problems.push_back(misfit(type, "an instance needs a GPU"));
    if (type.rails == 0 || type.nics % type.rails != 0)
        problems.push_back(misfit(type, "the NICs must form whole groups of rails"));
    check_tree(type, problems);
    check_rings(type, type.one_domain, problems);
    check_rings(type, type.several_domains, problems);
    if (!problems.empty()) throw InputError(std::move(problems));
}

struct Layout {
    Column<DeviceId, Device> devices;
    Column<LinkId, Link> links;

    DeviceId add(DeviceKind kind, DomainId domain, std::uint32_t index) {
        devices.rows.push_back({kind, domain, index});
        return {static_cast<std::uint32_t>(devices.size() - 1)};
    }
    void join(DeviceId a, DeviceId b, LinkKind kind, BytesPerSecond rate) {
        links.rows.push_back({a, b, kind, rate});
        links.rows.push_back({b, a, kind, rate});
    }
};

std::uint32_t numa_nodes(const InstanceType& type) {
    std::uint32_t count = 0;
    for (const PcieSwitch& pcie : type.switches) count = std::max(count, pcie.numa + 1);
    return count;
}

std::uint32_t devices_each(const InstanceType& type) {
    return type.gpus + type.nics + static_cast<std::uint32_t>(type.switches.size()) + numa_nodes(type) + 1;
}

// GPUs first: GPU g of a domain is device g of its block, and NICs follow.
void add_instance(Layout& layout, const InstanceType& type, DomainId domain, DeviceId fabric) {
    const auto add_all = [&](DeviceKind kind, std::uint32_t count) {
        std::vector<DeviceId> ids;
        for (std::uint32_t i = 0; i < count; ++i) ids.push_back(layout.add(kind, domain, i));
        return ids;
    };
    const auto gpus = add_all(DeviceKind::gpu, type.gpus);
    const auto nics = add_all(DeviceKind::nic, type.nics);
    const auto switches = add_all(DeviceKind::pcie_switch, static_cast<std::uint32_t>(type.switches.size()));
    const auto numa = add_all(DeviceKind::numa, numa_nodes(type));
    const DeviceId nvswitch = layout.add(DeviceKind::nvswitch, domain, 0);

    for (const DeviceId gpu : gpus) layout.join(gpu, nvswitch, LinkKind::nvlink, type.nvlink.carries());
    for (std::size_t s = 0; s < switches.size(); ++s) {
        for (const std::uint32_t gpu : type.switches[s].gpus)
            layout.join(gpus[gpu], switches[s], LinkKind::pcie, type.pcie_gpu);
        for (const std::uint32_t nic : type.switches[s].nics)
            layout.join(nics[nic], switches[s], LinkKind::pcie, type.pcie_nic);
        layout.join(switches[s], numa[type.switches[s].numa], LinkKind::pcie, type.pcie_host);
    }
    for (std::size_t n = 1; n < numa.size(); ++n) layout.join(numa[n - 1], numa[n], LinkKind::numa, type.numa);
    for (const DeviceId nic : nics) layout.join(nic, fabric, LinkKind::network, type.nic.carries);
}

// The fabric comes last.
Layout lay_out(const InstanceType& type, std::uint32_t count) {
    Layout layout;
    const DeviceId fabric{devices_each(type) * count};
    for (std::uint32_t i = 0; i < count; ++i) add_instance(layout, type, DomainId{i}, fabric);
    layout.add(DeviceKind::fabric, DomainId{0}, 0);
    return layout;
}

}  // namespace

Topology build_topology(const Cluster& cluster) {
    check(cluster);
    const Layout one = lay_out(cluster.instance, 1);
    Layout all = lay_out(cluster.instance, cluster.count);

    Topology topology;
    topology.cluster = cluster;
    topology.devices_each_ = devices_each(cluster.instance);
    topology.links_each_ = static_cast<std::uint32_t>(one.links.size());
    topology.paths_ = paths_of(graph_of(one.devices, one.links), one.devices, one.links);
    topology.devices = std::move(all.devices);
    topology.links = std::move(all.links);
    return topology;
}

}  // namespace fmsim
