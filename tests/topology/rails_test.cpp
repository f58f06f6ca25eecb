// Rail-optimised leaves: NIC group k of the instances of a pod on leaf k.
#include <catch2/catch.hpp>

#include "toy/toy.hpp"

namespace fmsim {
namespace {

// Four instances of four GPUs with a NIC of 1 GB/s each, in two pods; leaves at 2:1 below one spine.
Cluster pods(bool rails) {
    Cluster cluster = toy::cluster({.instances = 4, .gpus = 4});
    cluster.network.layers = {
        {.name = "leaf", .children = 2, .oversubscription = 2, .uplinks = 1, .rail_optimized = rails}};
    return cluster;
}

int climbs(const Topology& net, const Route& route) {
    int count = 0;
    for (const auto& [link, share] : route)
        count += net.devices[net.links[link].from].kind == DeviceKind::network_switch &&
                 net.devices[net.links[link].to].kind == DeviceKind::fabric;
    return count;
}

constexpr GpuPlace at(std::uint32_t domain, std::uint32_t gpu) { return {DomainId{domain}, gpu}; }

}  // namespace

TEST_CASE("a byte stays on the leaf of its rail in a pod, and climbs between rails and pods") {
    const Topology net = build_topology(pods(true));
    CHECK(devices_of(net, DeviceKind::network_switch, InstanceId{0}).size() == 2 * 4);
    for (std::uint32_t a = 0; a < 4; ++a)
        for (std::uint32_t b = 0; b < 4; ++b) {
            CHECK(climbs(net, net.network_route(at(0, a), a, b, at(1, b), 0)) == (a == b ? 0 : 1));
            CHECK(climbs(net, net.network_route(at(0, a), a, b, at(2, b), 0)) == 1);
        }
    const Topology plain = build_topology(pods(false));
    CHECK(devices_of(plain, DeviceKind::network_switch, InstanceId{0}).size() == 2);
    CHECK(climbs(plain, plain.network_route(at(0, 0), 0, 3, at(1, 3), 0)) == 0);
}

TEST_CASE("cuts of rail-optimised pods: whole inside, oversubscribed between, and so between rails") {
    const Topology net = build_topology(pods(true));
    const auto gpus = [&](std::uint32_t instance) { return devices_of(net, DeviceKind::gpu, InstanceId{instance}); };
    CHECK(cut(net, gpus(0), gpus(1)).value == Approx(4e9));
    // A pod of 8 NICs has 4 leaves with 1 GB/s up each.
    auto first = gpus(0), second = gpus(2);
    const auto more = gpus(1), others = gpus(3);
    first.insert(first.end(), more.begin(), more.end());
    second.insert(second.end(), others.begin(), others.end());
    CHECK(cut(net, first, second).value == Approx(4e9));
    // From a leaf to another of the pod only over the spine: 1 GB/s.
    const auto leaves = devices_of(net, DeviceKind::network_switch, InstanceId{0});
    CHECK(net.name(leaves[5]) == "leaf5");
    CHECK(net.leaf_of(InstanceId{1}) == 0);
    CHECK(net.leaf_of(InstanceId{2}) == 1);  // leaves of a pod count as one place
}

TEST_CASE("the NICs that help out a slow one hang on leaves of their own") {
    Cluster cluster = pods(true);
    cluster.rail_policy = RailPolicy::neighbour;
    cluster.faults = {{.kind = DeviceKind::nic, .instance = 0, .index = 3, .fraction = 0.5}};
    const Topology net = build_topology(cluster);
    CHECK(climbs(net, net.network_route(at(0, 3), 3, 3, at(1, 3), 0)) == 1);  // NIC 0 of leaf 0 has taken over
    CHECK(climbs(net, net.network_route(at(0, 3), 3, 0, at(1, 0), 0)) == 0);
}

TEST_CASE("layers above count leaves as they are, and only the first may be rail-optimised") {
    Cluster cluster = pods(true);
    cluster.network.layers.push_back({.name = "spine", .children = 8});
    const Topology net = build_topology(cluster);
    CHECK(devices_of(net, DeviceKind::network_switch, InstanceId{1}).size() == 1);
    cluster.network.layers[1].rail_optimized = true;
    CHECK_THROWS_WITH(build_topology(cluster), Catch::Contains("only the first network layer can be rail-optimised"));
}

TEST_CASE("groups of ranks that cross domains, and leaves") {
    const Topology net = build_topology(pods(false));
    const Placement all = linear_placement(net, 0, 0);
    CHECK(groups_across(net, all, 4) == GroupsAcross{4, 0, 0});
    CHECK(groups_across(net, all, 8) == GroupsAcross{2, 2, 0});
    CHECK(groups_across(net, all, 16) == GroupsAcross{1, 1, 1});
    CHECK(groups_across(net, all, 6) == GroupsAcross{3, 2, 1});  // 0-5, 6-11 crosses the pods, 12-15
}

}  // namespace fmsim
