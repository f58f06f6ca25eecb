// Routes: which links, with which share.
#include <catch2/catch.hpp>
#include <map>

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

DeviceId gpu(const Topology& net, RankId rank) {
    return devices_of(net, DeviceKind::gpu, net.domain_of(rank))[net.gpu_of(rank)];
}

}  // namespace

TEST_CASE("inside an instance a route goes through the NVSwitch and nowhere else") {
    const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    for (const RankId from : {RankId{0}, RankId{11}})
        for (std::uint32_t i = 0; i < 8; ++i) {
            const RankId to{net.domain_of(from).value * 8 + i};
            if (to == from) continue;
            const Route route = net.nvlink_route(from, to);
            CHECK(route.size() == 2);
            for (const auto& [link, share] : route) CHECK(net.links[link].kind == LinkKind::nvlink);
            check_flow(net, route, gpu(net, from), gpu(net, to));
        }
}

TEST_CASE("between instances a route takes four rails with a quarter each, and the GPUs' PCIe links whole") {
    // GPU 1 of instance 0 by group 1 to GPU 1 of instance 1: gpu-pcie 1, 4 x pcie-nic 1/4, 4 x nic-fabric 1/4, mirrored
    const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    const Route route = net.network_route(RankId{1}, 1, 1, RankId{9});
    CHECK(route.size() == 2 * (1 + 4 + 4));
    check_flow(net, route, gpu(net, RankId{1}), gpu(net, RankId{9}));
    for (const auto& [link, share] : route) {
        const Link& taken = net.links[link];
        const bool at_gpu =
            net.devices[taken.from].kind == DeviceKind::gpu || net.devices[taken.to].kind == DeviceKind::gpu;
        CHECK(share == (at_gpu ? 1 : 0.25));
    }
}

TEST_CASE("a NIC beside another GPU is reached over the host") {
    // GPU 0 by the NICs of group 5: across its own switch's host link, the NUMA link, and the other switch's.
    const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    const Route route = net.network_route(RankId{0}, 5, 0, RankId{8});
    check_flow(net, route, gpu(net, RankId{0}), gpu(net, RankId{8}));
    bool over_numa = false;
    for (const auto& [link, share] : route) over_numa = over_numa || net.links[link].kind == LinkKind::numa;
    CHECK(over_numa);
}

}  // namespace fmsim
