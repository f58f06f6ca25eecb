// How bytes become work, weights and limits.
#include "hop_costs.hpp"

#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "solo_makespan.hpp"
#include "toy/toy.hpp"

namespace fmsim {

TEST_CASE("on two p5 each NIC group carries two channels, and each GPU's NVLink fourteen") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge:2"));
    const Nccl nccl = catalogue.nccl();
    const Group group = toy::everyone(net);
    const Schedule schedule = toy::plan("Ring", Collective::all_reduce, net, group,
                                        {.size = {1 << 30},
                                         .protocol = Protocol::simple,
                                         .channels = 16,
                                         .shape = &nccl.shape,
                                         .simple_buffer = net.cluster.blocks[0].type.instance.simple_buffer});
    const InstanceType& type = net.cluster.blocks[0].type.instance;
    const auto placed = place(net, group, schedule);
    for (std::size_t c = 0; c < placed.size(); ++c) {
        CHECK(period_of(schedule.channels[c], placed[c]) == 8);
        for (const HopOnLinks& hop : placed[c].hops)
            CHECK(hop.links_share ==
                  Approx(hop.leaves_domain ? 4 * type.nic->carries.value / 2 : type.nvlink->carries().value / 14));
    }
}

TEST_CASE("a message leaves as stripes of 128 KiB, to a divisor of its NICs, or whole") {
    InstanceType instance = Catalogue::shipped().cluster("p5.48xlarge:2").blocks[0].type.instance;  // groups of four
    const auto writes = [&](double kib) { return writes_of(instance, kib * 1024); };
    CHECK(writes(0.0625) == 1);
    CHECK(writes(128) == 1);
    CHECK(writes(129) == 2);
    CHECK(writes(256) == 2);
    CHECK(writes(300) == 2);  // three do not divide four
    CHECK(writes(385) == 4);
    CHECK(writes(4096) == 4);
    instance.rails = 1;
    CHECK(writes(4096) == 1);
    instance.rails = 4;
    instance.nic->stripe = {};
    CHECK(writes(4096) == 1);
}

}  // namespace fmsim
