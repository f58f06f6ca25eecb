// Routes: which links, with which share.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "fmsim/formats.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

// A route is a way: what goes into a device that is no end of it comes out again.
void check_flow(const Topology& net, const Route& route, DeviceId from, DeviceId to) {
    std::map<std::uint32_t, double> surplus;
    for (const auto& [link, share] : route) {
        surplus[net.links[link].from.value] -= share;
        surplus[net.links[link].to.value] += share;
    }
    for (const auto& [device, sum] : surplus) {
        const double expected = device == from.value ? -1 : device == to.value ? 1 : 0;
        CHECK(sum == Approx(expected).margin(1e-12));
    }
}

constexpr GpuPlace at(std::uint32_t domain, std::uint32_t gpu) { return {DomainId{domain}, gpu}; }

}  // namespace

TEST_CASE("inside a domain a route goes through the NVSwitch and nowhere else") {
    const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    for (const std::uint32_t domain : {0u, 1u})
        for (std::uint32_t i = 1; i < 8; ++i) {
            const Route route = net.nvlink_route(at(domain, 0), at(domain, i));
            CHECK(route.size() == 2);
            for (const auto& [link, share] : route) CHECK(net.links[link].kind == LinkKind::nvlink);
            check_flow(net, route, net.device(at(domain, 0)), net.device(at(domain, i)));
        }
}

TEST_CASE("between instances a route takes four rails with a quarter each, and the GPUs' PCIe links whole") {
    // GPU 1 of instance 0 by group 1 to GPU 1 of instance 1: gpu-pcie 1, 4 x pcie-nic 1/4, 4 x nic-fabric 1/4, mirrored
    const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    const Route route = net.network_route(at(0, 1), 1, 1, at(1, 1), 0);
    CHECK(route.size() == 2 * (1 + 4 + 4));
    check_flow(net, route, net.device(at(0, 1)), net.device(at(1, 1)));
    for (const auto& [link, share] : route) {
        const Link& taken = net.links[link];
        const bool at_gpu =
            net.devices[taken.from].kind == DeviceKind::gpu || net.devices[taken.to].kind == DeviceKind::gpu;
        CHECK(share == (at_gpu ? 1 : 0.25));
    }
}

TEST_CASE("a NIC beside another GPU is reached over NVLink, and over the hosts where there is none") {
    Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge:2");
    const auto kinds = [](const Topology& net, const Route& route) {
        std::map<LinkKind, int> count;
        for (const auto& [link, share] : route) ++count[net.links[link].kind];
        return count;
    };
    const Topology net = build_topology(cluster);
    const Route by_nvlink = net.network_route(at(0, 0), 5, 0, at(1, 0), 0);
    check_flow(net, by_nvlink, net.device(at(0, 0)), net.device(at(1, 0)));
    CHECK(kinds(net, by_nvlink)[LinkKind::nvlink] == 2);
    CHECK(kinds(net, by_nvlink)[LinkKind::numa] == 0);

    // Switch 5 without its GPU: across the own switch's host link, the NUMA link and the other's.
    std::swap(cluster.blocks[0].type.instance.switches[5].gpus, cluster.blocks[0].type.instance.switches[4].gpus);
    cluster.blocks[0].type.instance.switches[4].gpus.push_back(4);
    cluster.blocks[0].type.instance.switches[5].gpus.clear();
    const Topology other = build_topology(cluster);
    const Route by_host = other.network_route(at(0, 0), 5, 0, at(1, 0), 0);
    check_flow(other, by_host, other.device(at(0, 0)), other.device(at(1, 0)));
    CHECK(kinds(other, by_host)[LinkKind::numa] == 1);
}

TEST_CASE("without GPUDirect the bytes go up to the host and down again") {
    Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge:2");
    cluster.blocks[0].type.instance.gpudirect = false;
    const Topology net = build_topology(cluster);
    const Route route = net.network_route(at(0, 3), 3, 3, at(1, 3), 0);
    check_flow(net, route, net.device(at(0, 3)), net.device(at(1, 3)));
    std::set<DeviceId> hosts;
    for (const auto& [link, share] : route)
        if (const DeviceId to = net.links[link].to; net.devices[to].kind == DeviceKind::numa) hosts.insert(to);
    CHECK(hosts.size() == 2);  // one on each side
}

TEST_CASE("sprayed packets take all uplinks of a leaf alike, hashed flows one, the same from the same seed") {
    // Two leaves of one instance each, four uplinks.
    Cluster cluster = toy::cluster({.instances = 2, .gpus = 2});
    cluster.network.layers = {{.name = "leaf", .children = 1, .oversubscription = 1, .uplinks = 4}};
    const auto uplinks = [](const Cluster& on, std::uint64_t flow) {
        const Topology net = build_topology(on);
        const Route route = net.network_route(at(0, 1), 1, 0, at(1, 0), flow);
        check_flow(net, route, net.device(at(0, 1)), net.device(at(1, 0)));
        std::vector<double> shares;
        for (const auto& [link, share] : route)
            if (net.devices[net.links[link].from].kind == DeviceKind::network_switch &&
                net.devices[net.links[link].to].kind == DeviceKind::fabric)
                shares.push_back(share);
        return shares;
    };
    CHECK(uplinks(cluster, 0) == std::vector<double>(4, 0.25));
    cluster.blocks[0].type.instance.nic->spreading = Spreading::hash;
    for (std::uint64_t flow = 0; flow < 20; ++flow) CHECK(uplinks(cluster, flow) == std::vector<double>{1});
}

TEST_CASE("a NIC with a fault keeps its traffic, spreads it or hands it on, as the policy says") {
    // p5en-like: NIC 3 of instance 0 at half rate.
    Cluster cluster = toy::cluster({.instances = 2, .gpus = 4});
    cluster.faults = {{.kind = DeviceKind::nic, .instance = 0, .index = 3, .fraction = 0.5}};
    const auto nics = [](Cluster on, RailPolicy policy) {
        on.rail_policy = policy;
        const Topology net = build_topology(on);
        std::map<std::uint32_t, double> share_of_nic;
        for (const auto& [link, share] : net.network_route(at(0, 3), 3, 0, at(1, 0), 0))
            if (net.links[link].kind == LinkKind::network && net.devices[net.links[link].from].kind == DeviceKind::nic)
                share_of_nic[net.devices[net.links[link].from].index] = share;
        return share_of_nic;
    };
    CHECK(nics(cluster, RailPolicy::keep) == std::map<std::uint32_t, double>{{3, 1}});
    CHECK(nics(cluster, RailPolicy::neighbour) == std::map<std::uint32_t, double>{{0, 1}});
    const auto even = nics(cluster, RailPolicy::even);
    CHECK(even.size() == 4);
    CHECK(even.at(0) == Approx(1.0 / 7));
    CHECK(even.at(3) == Approx(4.0 / 7));
}

}  // namespace fmsim
