#include "ring_costs.hpp"

#include <algorithm>
#include <limits>

namespace fmsim {
namespace {

// `flow` tells the transfers of a hashing network apart.
HopOnLinks on_links(const Topology& topology, const Group& group, const Schedule& schedule, const Hop& hop,
                    std::uint64_t flow) {
    const GpuPlace from = group.places[hop.from];
    const GpuPlace to = group.places[hop.to];
    const InstanceType& sender = topology.type_of(from.domain).instance;
    const InstanceType& receiver = topology.type_of(to.domain).instance;
    HopOnLinks placed;
    placed.leaves_domain = hop.leaves_domain;
    if (hop.leaves_domain) {
        placed.route = topology.network_route(from, hop.leave_group, hop.enter_group, to, flow);
        placed.latency =
            std::max(sender.nic->hop_latency[schedule.protocol], receiver.nic->hop_latency[schedule.protocol]);
        placed.credit_latency = std::max(sender.nic->wire_latency, receiver.nic->wire_latency);
    } else {
        placed.route = topology.nvlink_route(from, to);
        placed.latency = sender.nvlink->hop_latency[schedule.protocol];
        placed.credit_latency = sender.nvlink->wire_latency;
    }
    placed.copy_limit = sender.gpu.channel_rate[schedule.protocol].value * schedule.wire_per_data;
    return placed;
}

}  // namespace

std::vector<ChannelOnLinks> place(const Topology& topology, const Group& group, const Schedule& schedule) {
    std::vector<ChannelOnLinks> channels(schedule.channels.size());
    Column<LinkId, double> demand;
    demand.rows.resize(topology.links.size());
    for (std::size_t c = 0; c < channels.size(); ++c)
        for (const Hop& hop : schedule.channels[c].hops) {
            const std::uint64_t flow = c * group.places.size() + hop.from;
            channels[c].hops.push_back(on_links(topology, group, schedule, hop, flow));
            for (const auto& [link, share] : channels[c].hops.back().route) demand[link] += share;
        }
    for (ChannelOnLinks& channel : channels)
        for (HopOnLinks& hop : channel.hops) {
            hop.links_share = std::numeric_limits<double>::infinity();
            for (const auto& [link, share] : hop.route) {
                if (topology.links[link].rate.value <= 0)
                    throw Infeasible(topology.name(link) + " is down, and the schedule needs it");
                hop.links_share = std::min(hop.links_share, topology.links[link].rate.value / demand[link]);
            }
        }
    return channels;
}

bool cost_alike(const HopOnLinks& a, const HopOnLinks& b) {
    return a.leaves_domain == b.leaves_domain && a.latency == b.latency && a.credit_latency == b.credit_latency &&
           a.copy_limit == b.copy_limit && a.links_share == b.links_share;
}

bool on_route(const HopOnLinks& hop, Stage stage) { return hop.leaves_domain == (stage == Stage::flight); }

double own_limit(const HopOnLinks& hop, Stage stage) {
    return stage == Stage::copy ? hop.copy_limit : std::numeric_limits<double>::infinity();
}

double solo_rate(const HopOnLinks& hop, Stage stage) {
    return on_route(hop, stage) ? std::min(own_limit(hop, stage), hop.links_share) : own_limit(hop, stage);
}

}  // namespace fmsim
