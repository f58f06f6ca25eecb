// The algorithms there are.
#include "fmsim/collective.hpp"

namespace fmsim {

const std::vector<Algorithm>& algorithms() {
    static const std::vector<Algorithm> rows{
        {.name = "Ring",
         .does = Collective::all_reduce,
         .plan = plan_ring_all_reduce,
         .edge_bytes = [](std::uint32_t ranks) { return 2.0 * (ranks - 1) / ranks; }},
    };
    return rows;
}

Group whole(const Topology& topology) {
    Group group{.ranks = {}, .domains = topology.cluster.count, .per_domain = topology.cluster.instance.gpus};
    for (std::uint32_t rank = 0; rank < topology.ranks(); ++rank) group.ranks.push_back({rank});
    return group;
}

}  // namespace fmsim
