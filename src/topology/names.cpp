// What things are called in reports.
#include <array>

#include <fmt/format.h>

#include "fmsim/topology.hpp"

namespace fmsim {

std::string_view name(Protocol protocol) {
    static constexpr PerProtocol<std::string_view> kNames{{"LL", "LL128", "Simple"}};
    return kNames[protocol];
}

std::string_view name(PathType type) {
    static constexpr std::array<std::string_view, kPathTypes.size()> kNames{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                                            "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
    return kNames[static_cast<std::size_t>(type)];
}

std::string_view name(GraphPattern pattern) {
    static constexpr std::array<std::string_view, kGraphPatterns.size()> kNames{"balanced tree", "split tree", "tree",
                                                                                "ring", "nvls"};
    return kNames[static_cast<std::size_t>(pattern)];
}

std::string_view name(DeviceKind kind) {
    static constexpr std::array<std::string_view, 7> kNames{"gpu",  "nvswitch", "pcie",  "nic",
                                                            "numa", "switch",   "fabric"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(LinkKind kind) {
    static constexpr std::array<std::string_view, 4> kNames{"nvlink", "pcie", "numa", "network"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(RailPolicy policy) {
    static constexpr std::array<std::string_view, 3> kNames{"keep", "even", "neighbour"};
    return kNames[static_cast<std::size_t>(policy)];
}

std::string Topology::name(DeviceId id) const {
    if (cluster.graph) return cluster.graph->devices[id.value].name;
    const Device& device = devices[id];
    if (device.kind == DeviceKind::fabric) return "fabric";
    if (device.kind == DeviceKind::network_switch)
        return fmt::format("{}{}", cluster.network.layers[device.instance.value].name, device.index);
    return fmt::format("{}[{}]/{}{}", type_of(device.instance).instance.name, device.instance.value,
                       fmsim::name(device.kind), device.index);
}

std::string Topology::name(LinkId id) const {
    const Link& link = links[id];
    if (link.from == link.to)
        return fmt::format("{}, {}", name(link.from), link.kind == LinkKind::numa ? "memory" : "root port");
    return fmt::format("{} -> {}", name(link.from), name(link.to));
}

std::vector<DeviceId> devices_of(const Topology& topology, DeviceKind kind, InstanceId instance) {
    std::vector<DeviceId> found;
    for (std::uint32_t index = 0;; ++index) {
        const DeviceId device = topology.device(kind, instance, index);
        if (device.value >= topology.devices.size()) return found;
        found.push_back(device);
        if (kind == DeviceKind::fabric) return found;
    }
}

std::string_view kind_name(const Topology& topology, LinkKind kind) {
    switch (kind) {
        case LinkKind::nvlink:
            return "NVLink";
        case LinkKind::pcie:
            return "PCIe";
        case LinkKind::numa:
            return "NUMA";
        case LinkKind::network:
            break;
    }
    const auto& nic = topology.cluster.blocks.front().type.instance.nic;
    return nic ? std::string_view(nic->fabric) : "network";
}

}  // namespace fmsim
