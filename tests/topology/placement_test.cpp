// Placement, and domains of several instances.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "toy/toy.hpp"

namespace fmsim {
namespace {

// Two domains of three hosts with two GPUs each.
Cluster racks() {
    Cluster cluster = toy::cluster({.instances = 2, .gpus = 2});
    DomainType& type = cluster.blocks[0].type;
    type.instances = 3;
    type.alone = default_search(type.instance, 3, true);
    type.several = default_search(type.instance, 3, false);
    return cluster;
}

}  // namespace

TEST_CASE("a domain of several instances has one NVSwitch and all their GPUs and NICs") {
    const Topology net = build_topology(racks());
    CHECK(net.domains() == 2);
    CHECK(net.instances.size() == 6);
    CHECK(net.gpus() == 12);
    const Route hop = net.nvlink_route({DomainId{1}, 0}, {DomainId{1}, 5});
    CHECK(net.name(hop[0].link) == "toy[3]/gpu0 -> toy[3]/nvswitch0");
    CHECK(net.name(hop[1].link) == "toy[3]/nvswitch0 -> toy[5]/gpu1");
    // GPU 0 of the domain by the NICs of host 2: NVLink first.
    const Route out = net.network_route({DomainId{0}, 0}, 4, 0, {DomainId{1}, 0}, 0);
    CHECK(net.name(out[0].link) == "toy[0]/gpu0 -> toy[0]/nvswitch0");
}

TEST_CASE("ranks fill the domains in order, whole or in part") {
    const Topology net = build_topology(racks());
    CHECK(linear_placement(net, 0, 0).size() == 12);
    const Placement two_each = linear_placement(net, 0, 2);
    CHECK(two_each == Placement{{DomainId{0}, 0}, {DomainId{0}, 1}, {DomainId{1}, 0}, {DomainId{1}, 1}});
    CHECK(linear_placement(net, 7, 0).back() == GpuPlace{DomainId{1}, 0});
    CHECK_THROWS_WITH(linear_placement(net, 13, 0),
                      "--gpus: expected at most the 12 GPUs that the cluster offers; found 13");
    CHECK_THROWS_WITH(linear_placement(net, 0, 7), "--per-domain: expected at most the 6 GPUs of a domain; found 7");
}

TEST_CASE("a random placement has the same GPUs in another order of domains, the same for one seed") {
    const Topology net = build_topology(toy::cluster({.instances = 20, .gpus = 2}));
    const Placement linear = linear_placement(net, 0, 0);
    const Placement random = random_placement(net, 0, 0, 7);
    CHECK(random == random_placement(net, 0, 0, 7));
    CHECK(random != random_placement(net, 0, 0, 8));
    CHECK(random != linear);
    CHECK(std::set(random.begin(), random.end()) == std::set(linear.begin(), linear.end()));
}

TEST_CASE("packed takes the fewest leaves, spread one domain of each leaf in turn") {
    // Leaves of 3, 3, 3 and 1 instances with 2 GPUs each.
    Cluster cluster = toy::cluster({.instances = 10, .gpus = 2});
    cluster.network.layers = {{.name = "leaf", .children = 3}};
    const Topology net = build_topology(cluster);
    const auto domains = [](const Placement& placement) {
        std::vector<std::uint32_t> found;
        for (const GpuPlace& gpu : placement)
            if (gpu.gpu == 0) found.push_back(gpu.domain.value);
        return found;
    };
    CHECK(domains(packed_placement(net, 2, 0)) == std::vector<std::uint32_t>{9});
    CHECK(domains(packed_placement(net, 6, 0)) == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(domains(packed_placement(net, 8, 0)) == std::vector<std::uint32_t>{0, 1, 2, 9});
    CHECK(domains(spread_placement(net, 8, 0)) == std::vector<std::uint32_t>{0, 3, 6, 9});
    CHECK(spread_of(net, spread_placement(net, 8, 0)).leaves == 4);
    CHECK(spread_of(net, packed_placement(net, 6, 0)).leaves == 1);
    CHECK(domains(spread_placement(net, 0, 0)).size() == 10);
}

TEST_CASE("a placement on instances has their GPUs in the order given, each once") {
    const Topology net = build_topology(racks());
    const Placement placement = placement_on(net, {InstanceId{4}, InstanceId{0}});
    CHECK(placement == Placement{{DomainId{1}, 2}, {DomainId{1}, 3}, {DomainId{0}, 0}, {DomainId{0}, 1}});
    CHECK_THROWS_AS(placement_on(net, {InstanceId{1}, InstanceId{1}}), InputError);
    CHECK_THROWS_AS(placement_on(net, {InstanceId{6}}), InputError);
}

}  // namespace fmsim
