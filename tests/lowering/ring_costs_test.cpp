// How bytes become work, weights and limits.
#include "ring_costs.hpp"

#include <catch2/catch.hpp>

#include "toy/toy.hpp"
#include "fmsim/formats.hpp"
#include "solo_makespan.hpp"

namespace fmsim {

TEST_CASE("on two p5 each NIC group carries two channels, and each GPU's NVLink fourteen") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge:2"));
    const Nccl nccl = catalogue.nccl();
    const Group group = toy::everyone(net);
    const Schedule schedule = plan_ring_all_reduce(net, group,
                                                   {.size = {1 << 30},
                                                    .protocol = Protocol::simple,
                                                    .channels = 16,
                                                    .shape = &nccl.shape,
                                                    .simple_buffer = net.cluster.blocks[0].type.instance.simple_buffer});
    for (const ChannelOnLinks& channel : place(net, group, schedule)) {
        CHECK(period_of(channel) == 8);
        for (const HopOnLinks& hop : channel.hops)
            CHECK(hop.links_share == Approx(hop.leaves_domain ? 4 * 12.22e9 / 2 : 0.82 * 450e9 / 14));
    }
}

}  // namespace fmsim
