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

}  // namespace fmsim
