// Devices, links and totals of a built cluster, and instance types that do not fit together.
#include <catch2/catch.hpp>
#include <map>

#include "fmsim/collective.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/topology.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

std::string refusal(const Cluster& cluster) {
    try {
        build_topology(cluster);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("two p5 instances have the published devices and rates") {
    const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    std::map<DeviceKind, int> devices;
    for (std::uint32_t d = 0; d < net.devices.size(); ++d) ++devices[net.devices[DeviceId{d}].kind];
    CHECK(devices == std::map<DeviceKind, int>{{DeviceKind::gpu, 16},
                                               {DeviceKind::nvswitch, 2},
                                               {DeviceKind::pcie_switch, 16},
                                               {DeviceKind::nic, 64},
                                               {DeviceKind::numa, 4},
                                               {DeviceKind::fabric, 1}});
    std::map<LinkKind, double> rate;  // both directions of both instances
    for (std::uint32_t l = 0; l < net.links.size(); ++l) {
        const Link link = net.links[LinkId{l}];
        rate[link.kind] += link.rate.value;
    }
    const InstanceType& type = net.cluster.blocks[0].type.instance;
    CHECK(type.nic->rate.value * type.nics * 8 == 3.2e12);  // 3.2 Tb/s of EFA
    CHECK(type.nvlink->rate == 450_GBps);
    CHECK(rate[LinkKind::network] == Approx(2 * 2 * 32 * type.nic->carries.value));
    CHECK(rate[LinkKind::nvlink] == Approx(2 * 2 * 8 * 450e9 * type.nvlink->efficiency));
    CHECK(rate[LinkKind::numa] == Approx(2 * 2 * 16e9));
    // Of each instance: 8 GPUs, 32 NICs and 8 switches, on 63, 15.75 and 15.75 GB/s.
    CHECK(rate[LinkKind::pcie] == Approx(2 * 2 * (8 * 63e9 + 32 * 15.75e9 + 8 * 15.75e9)));
}

TEST_CASE("what leaves a p5 instance is the sum of its NICs") {
    const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    const InstanceType& type = net.cluster.blocks[0].type.instance;
    const double nic = type.nic->carries.value;
    const auto gpus = devices_of(net, DeviceKind::gpu, InstanceId{0});
    CHECK(gpus.size() == 8);
    CHECK(cut(net, gpus, devices_of(net, DeviceKind::gpu, InstanceId{1})).value == Approx(32 * nic));
    // One GPU alone is held by its PCIe link and, for the other NICs, by the way through its NVSwitch neighbours.
    CHECK(cut(net, {gpus[0]}, devices_of(net, DeviceKind::fabric, InstanceId{0})).value == Approx(32 * nic));
    // From one GPU to another of the instance: NVLink, and what its PCIe link takes beside it.
    CHECK(cut(net, {gpus[0]}, {gpus[1]}).value == Approx(type.nvlink->carries().value + 4 * nic + 15.75e9));
}

TEST_CASE("parts that do not fit together are refused with what is wrong") {
    const Cluster good = toy::cluster({.gpus = 4});
    CHECK(refusal(good).empty());

    Cluster bad = good;
    bad.blocks[0].type.instance.switches[1].gpus = {0};
    CHECK_THAT(refusal(bad), Catch::Contains("GPU 0 must hang on one PCIe switch; it hangs on 2") &&
                                 Catch::Contains("GPU 1 must hang on one PCIe switch; it hangs on 0"));
    bad = good;
    bad.blocks[0].type.instance.switches[3].nics.clear();
    CHECK_THAT(refusal(bad), Catch::Contains("NIC 3 must hang on one PCIe switch; it hangs on 0"));
    bad = good;
    bad.blocks[0].type.instance.switches[3].nics = {9};
    CHECK_THAT(refusal(bad), Catch::Contains("a PCIe switch names NIC 9, but there are 4"));
    bad = good;
    bad.blocks[0].type.instance.rails = 3;
    CHECK_THAT(refusal(bad), Catch::Contains("whole groups of rails"));
    bad = good;
    bad.blocks[0].type.alone.paths[0].gpus = {0, 1, 1, 3};
    CHECK_THAT(refusal(bad), Catch::Contains("must visit each GPU once"));
    bad = good;
    bad.blocks[0].type.several.paths[0].leave_group = 4;
    CHECK_THAT(refusal(bad), Catch::Contains("names a NIC group beyond the 4"));
    bad = good;
    bad.blocks[0].type.several.paths.clear();
    CHECK_THAT(refusal(bad), Catch::Contains("at least one ring path"));
    bad = good;
    bad.blocks[0].type.several.crosses_nics = true;
    CHECK_THAT(refusal(bad), Catch::Contains("come in pairs"));
    bad = good;
    bad.blocks[0].type.instance.gpus = 0;
    CHECK_THAT(refusal(bad), Catch::Contains("needs a GPU"));
}

TEST_CASE("devices and links have names that say where they are") {
    const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    CHECK(net.name(devices_of(net, DeviceKind::nic, InstanceId{1})[7]) == "p5.48xlarge[1]/nic7");
    CHECK(net.name(devices_of(net, DeviceKind::fabric, InstanceId{0})[0]) == "fabric");
    CHECK(net.name(net.nvlink_route({DomainId{1}, 0}, {DomainId{1}, 1})[0].link) ==
          "p5.48xlarge[1]/gpu0 -> p5.48xlarge[1]/nvswitch0");
    CHECK(kind_name(net, LinkKind::network) == "EFA");
}

TEST_CASE("a cluster that is too large, empty or broken where nothing is, is refused") {
    Cluster cluster = toy::cluster({.instances = 2, .gpus = 4});
    cluster.blocks[0].count = 1'000'000;
    CHECK_THAT(refusal(cluster), Catch::Contains("expected at most 1000000 GPUs; this would have 4000000"));
    cluster.blocks[0].count = 2;
    cluster.faults = {{.kind = DeviceKind::nic, .instance = 2, .index = 0, .fraction = 0}};
    CHECK_THAT(refusal(cluster), Catch::Contains("a fault must name a device that the cluster has; found nic 0 of 2"));
    cluster.faults = {{.kind = DeviceKind::nic, .instance = 0, .index = 0, .fraction = 2}};
    CHECK_THAT(refusal(cluster), Catch::Contains("a fault leaves a fraction of 0 to 1, not 2"));
    cluster.faults.clear();
    cluster.network.layers = {{.name = "leaf"}};
    CHECK_THAT(refusal(cluster), Catch::Contains("network layer \"leaf\" needs children"));
    cluster.network.layers = {{.name = "leaf", .children = 0, .sizes = {1, 2}}};
    CHECK_THAT(refusal(cluster), Catch::Contains("must have 2 children in all; found 3"));
    cluster.network.layers.clear();
    cluster.blocks[0].type.instance.nic->carries = {0};
    CHECK_THAT(refusal(cluster), Catch::Contains("a NIC needs a rate above 0"));
    cluster.blocks[0].type.instance.nic.reset();
    CHECK_THAT(refusal(cluster), Catch::Contains("NICs need a kind"));
    cluster.blocks.clear();
    CHECK_THAT(refusal(cluster), Catch::Contains("a cluster needs an instance"));
}

TEST_CASE("instances of different kinds make one cluster, and a ring passes through all") {
    const Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = catalogue.cluster("p5.48xlarge:2");
    cluster.blocks.push_back({catalogue.domain("p5en.48xlarge"), 1});
    cluster.blocks.push_back({catalogue.domain("gb200-nvl72"), 1});
    const Topology net = build_topology(cluster);
    CHECK(net.gpus() == 16 + 8 + 72);
    CHECK(net.name(net.device(GpuPlace{DomainId{3}, 5})) == "gb200-host[4]/gpu1");
    const Group group = group_of(linear_placement(net, 0, 0));
    CHECK(group.parts.size() == 4);
    const GroupRings rings = rings_of(net, group);
    for (const RingSearch& search : rings.of_part) CHECK(search.paths.size() == 8);
}

// Below a switch each instance has links of its own, without one those of its kind: the same but for what is above.
TEST_CASE("links kept once for a kind are those of each instance") {
    const Catalogue catalogue = Catalogue::shipped();
    Cluster mixed = catalogue.cluster("p5.48xlarge:2");
    for (const char* more : {"u-p6e-gb200x36:2", "p5.48xlarge:3"})
        mixed.blocks.push_back(catalogue.cluster(more).blocks[0]);
    for (Cluster cluster : {catalogue.cluster("p5en.48xlarge:5"), catalogue.cluster("u-p6e-gb200x72:3"), mixed}) {
        const Topology once = build_topology(cluster);
        std::uint32_t instances = 0;
        for (const DomainBlock& block : cluster.blocks) instances += block.count * block.type.instances;
        cluster.network.layers.push_back({.name = "leaf", .children = instances});
        const Topology each = build_topology(cluster);
        INFO(cluster.name);
        REQUIRE(each.links.size() == once.links.size() + 2);
        REQUIRE(each.devices.size() == once.devices.size() + 1);
        bool same = true;
        for (std::uint32_t l = 0; l < once.links.size(); ++l) {
            const Link a = once.links[LinkId{l}], b = each.links[LinkId{l}];
            const auto alike = [&](DeviceId x, DeviceId y) {
                return x == y || (once.devices[x].kind == DeviceKind::fabric &&
                                  each.devices[y].kind == DeviceKind::network_switch);
            };
            same = same && alike(a.from, b.from) && alike(a.to, b.to) && a.kind == b.kind && a.rate == b.rate;
        }
        CHECK(same);
        for (std::uint32_t d = 0; d + 1 < once.devices.size(); ++d)
            same = same && once.name(DeviceId{d}) == each.name(DeviceId{d});
        CHECK(same);
    }
}

}  // namespace fmsim
