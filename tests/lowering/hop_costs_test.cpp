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

}  // namespace fmsim
