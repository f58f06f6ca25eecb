// Routes: the paths of domain 0, found once on the graph, shifted to the domain at hand.
#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "fmsim/topology.hpp"

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

}  // namespace

Route Topology::nvlink_route(RankId from, RankId to) const {
    assert(domain_of(from) == domain_of(to));
    Route route;
    for (const LinkId link : paths_[gpu_of(from)][gpu_of(to)])
        add(route, LinkId{link.value + domain_of(from).value * links_each_}, 1);
    return route;
}

Route Topology::network_route(RankId from, std::uint32_t leave, std::uint32_t enter, RankId to) const {
    assert(domain_of(from) != domain_of(to));
    const InstanceType& type = cluster.instance;
    const double share = 1.0 / type.rails;
    const std::uint32_t fabric_links = links_each_ - 2 * type.nics;  // the NICs' links end a domain's block
    Route route;
    for (std::uint32_t rail = 0; rail < type.rails; ++rail) {
        const std::uint32_t out = leave * type.rails + rail;
        const std::uint32_t in = enter * type.rails + rail;
        const std::uint32_t source = domain_of(from).value * links_each_;
        const std::uint32_t target = domain_of(to).value * links_each_;
        for (const LinkId link : paths_[gpu_of(from)][type.gpus + out]) add(route, {source + link.value}, share);
        add(route, {source + fabric_links + 2 * out}, share);
        add(route, {target + fabric_links + 2 * in + 1}, share);
        for (const LinkId link : paths_[type.gpus + in][gpu_of(to)]) add(route, {target + link.value}, share);
    }
    return route;
}

std::string Topology::name(DeviceId id) const {
    static constexpr std::array<std::string_view, 6> kNames{"gpu", "nvswitch", "pcie", "nic", "numa", "fabric"};
    const Device& device = devices[id];
    const std::string_view kind = kNames[static_cast<std::size_t>(device.kind)];
    if (device.kind == DeviceKind::fabric) return std::string(kind);
    return fmt::format("{}[{}]/{}{}", cluster.instance.name, device.domain.value, kind, device.index);
}

std::string Topology::name(LinkId id) const {
    return fmt::format("{} -> {}", name(links[id].from), name(links[id].to));
}

std::vector<DeviceId> devices_of(const Topology& topology, DeviceKind kind, DomainId domain) {
    std::vector<DeviceId> found;
    for (std::uint32_t i = 0; i < topology.devices.size(); ++i) {
        const Device& device = topology.devices[DeviceId{i}];
        if (device.kind == kind && (kind == DeviceKind::fabric || device.domain == domain)) found.push_back({i});
    }
    return found;
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
    return topology.cluster.instance.nic.fabric;
}

std::string_view name(Protocol protocol) {
    static constexpr PerProtocol<std::string_view> kNames{{"LL", "LL128", "Simple"}};
    return kNames[protocol];
}

}  // namespace fmsim
