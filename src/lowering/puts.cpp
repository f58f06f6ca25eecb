// A leg of puts: all its messages flow together, each link with its part of the bytes, as fast as the busiest of them
// lets them. Puts reach a share of a link's rate, so each byte takes 1 / share of a byte's place on it.
#include "puts.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "hop_costs.hpp"

namespace fmsim {

PutFlow put_flow(const Topology& topology, const Group& group, const PutLeg& leg) {
    std::map<ResourceId, double> bytes;
    for (const Message& message : leg.messages) {
        const GpuPlace from = group.places[message.from], to = group.places[message.to];
        const std::uint64_t flow = std::uint64_t{message.from} * group.places.size() + message.to;
        const Route route = leg.leaves_domain
                                ? topology.network_route(from, topology.type_of(from.domain).nic_group_of(from.gpu),
                                                         topology.type_of(to.domain).nic_group_of(to.gpu), to, flow)
                                : topology.nvlink_route(from, to);
        refuse_down(topology, route);
        for (const auto& [link, share] : route) bytes[ResourceId{link.value}] += share * message.bytes / leg.link_share;
    }
    PutFlow put{.rate_limit = std::numeric_limits<double>::infinity()};
    for (const auto& [link, there] : bytes) put.work = std::max(put.work, there);
    if (bytes.empty()) put.work = leg.rank_seconds;  // copies that stay where they are: seconds a second
    if (leg.rank_seconds > 0) put.rate_limit = put.work / leg.rank_seconds;
    for (const auto& [link, there] : bytes)
        if (there > 0) put.uses.push_back({link, there / put.work});
    return put;
}

}  // namespace fmsim
