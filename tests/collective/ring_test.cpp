// Ring schedules on machines of any shape.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

Schedule plan(const Topology& net, const Nccl& nccl, Bytes size, Protocol protocol, std::uint32_t channels) {
    return toy::plan("Ring", Collective::all_reduce, net, toy::everyone(net),
                     {.size = size,
                      .protocol = protocol,
                      .channels = channels,
                      .shape = &nccl.shape,
                      .simple_buffer = net.cluster.blocks[0].type.instance.simple_buffer});
}

}  // namespace

TEST_CASE("on p5 instances every channel is a ring that keeps to its rail between instances") {
    const Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = catalogue.cluster("p5.48xlarge");
    cluster.blocks[0].count = GENERATE(1u, 2u, 3u, 4u, 5u);
    const Topology net = build_topology(cluster);
    const Schedule ring = plan(net, catalogue.nccl(), Bytes{1 << 30}, Protocol::simple, 64);
    for (const Channel& channel : ring.channels) {
        for (const Hop& hop : channel.hops) {
            CHECK(hop.leaves_domain() == (hop.from / 8 != hop.to / 8));
            // With an odd number of instances the last hop, back to the first, has to change rails.
            const bool wraps = cluster.blocks[0].count % 2 == 1 && hop.to < 8;
            if (hop.leaves_domain() && !wraps) CHECK(hop.leave_group == hop.enter_group);
        }
    }
}

TEST_CASE("a channel's loops carry its bytes once, in chunks that fit the buffers") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge:2"));
    const auto size = GENERATE(Bytes{1}, Bytes{8}, Bytes{100'000}, Bytes{1 << 20}, Bytes{1 << 28}, Bytes{1LL << 34});
    const auto [protocol, most] = GENERATE(
        table<Protocol, double>({{Protocol::ll, 32'768}, {Protocol::ll128, 576'000}, {Protocol::simple, 4'194'304}}));
    for (const Channel& channel : plan(net, catalogue.nccl(), size, protocol, 16).channels) {
        double bytes = 0;
        for (const Loop& loop : channel.loops) {
            bytes += loop.chunk * 16;
            CHECK(loop.chunk <= most);
            double units = 0;
            bool sound = true;
            for (std::uint32_t unit = 0; unit < loop.units(); ++unit) {
                sound = sound && loop.unit_bytes(unit) > 0 && loop.unit_bytes(unit) <= loop.unit * (1 + 1e-9);
                units += loop.unit_bytes(unit);
            }
            CHECK(sound);
            CHECK(units == Approx(loop.chunk).epsilon(1e-12));
        }
        CHECK(bytes == Approx(static_cast<double>(channel.bytes.count)).epsilon(1e-12));
    }
}

TEST_CASE("an all-reduce of nothing has no channels") {
    const Topology net = build_topology(toy::cluster({.gpus = 4}));
    CHECK(plan(net, toy::nccl(), Bytes{0}, Protocol::simple, 1).channels.empty());
}

TEST_CASE("ranks of a domain that begin no published ring use the NICs beside them") {
    // NVL72's 16 rings begin at GPUs 0 to 15. One rank a domain on GPU 20 has its own NIC, so that 64 such groups side
    // by side share none.
    const Topology net = build_topology(Catalogue::shipped().cluster("gb200-nvl72:2"));
    for (const std::uint32_t gpu : {3u, 20u, 71u}) {
        const Group group = group_of({{DomainId{0}, gpu}, {DomainId{1}, gpu}});
        for (const RingSearch& search : rings_of(net, group).of_part)
            for (const RingPath& path : search.paths) CHECK(path.enter_group == gpu);
    }
}

}  // namespace fmsim
