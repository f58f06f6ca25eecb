#include "hop_costs.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

namespace fmsim {
namespace {

// The links of a route that leave its first GPU, or that enter its last one: several where it has several NVSwitches.
void add_end(Route& route, const Topology& topology, const Route& way, DeviceId gpu, bool leaves, double share) {
    for (const auto& [link, part] : way)
        if ((leaves ? topology.links[link].from : topology.links[link].to) == gpu)
            route.push_back({link, part * share});
}

// In and out of the NVSwitch that reduces or multicasts: all ranks of the part on one side, the head on the other.
Route switch_route(const Topology& topology, const Group& group, const Hop& hop) {
    const auto& members = group.parts[hop.part].positions;
    const NvLink& nvlink = *topology.type_of(group.parts[hop.part].domain).instance.nvlink;
    const double share = nvlink.efficiency / nvlink.switch_efficiency;
    const std::uint32_t head = hop.way == Way::gather ? hop.to : hop.from;
    const std::uint32_t other = members[members[0] == head ? 1 : 0];
    Route route;
    const auto up = [&](std::uint32_t from, std::uint32_t to) {
        const Route way = topology.nvlink_route(group.places[from], group.places[to]);
        add_end(route, topology, way, topology.device(group.places[from]), true, share);
    };
    const auto down = [&](std::uint32_t from, std::uint32_t to) {
        const Route way = topology.nvlink_route(group.places[from], group.places[to]);
        add_end(route, topology, way, topology.device(group.places[to]), false, share);
    };
    const bool gathers = hop.way == Way::gather;
    for (const std::uint32_t member : members) {
        const std::uint32_t peer = member == head ? other : head;
        if (gathers)
            up(member, peer);
        else
            down(peer, member);
    }
    if (gathers)
        down(other, head);
    else
        up(head, other);
    return route;
}

// A ring's SM ends each loop with a receive that sends nothing on. Those of all loops but the last take it time that
// its sends cannot have; the last one comes after them, see drain_of.
double receives_a_send(const Schedule& schedule, const Channel& channel) {
    const auto* ring = std::get_if<RingSteps>(&channel.steps);
    const bool receives = schedule.collective == Collective::all_reduce ||
                          schedule.collective == Collective::all_gather ||
                          schedule.collective == Collective::reduce_scatter;
    if (ring == nullptr || !receives || channel.loops.empty()) return 0;
    const auto loops = static_cast<double>(channel.loops.size());
    return (loops - 1) / (loops * ring->steps);
}

// Wire bytes a second of the SM that serves a hop.
double copy_limit(const Gpu& gpu, const Schedule& schedule, const Channel& channel, const Hop& hop) {
    const std::size_t fan = std::min<std::size_t>(hop.fan, gpu.tree_fan_cost.size());
    return gpu.channel_rate[schedule.protocol].value * schedule.wire_per_data * hop.sm_share /
           gpu.tree_fan_cost[fan - 1] / (1 + gpu.receive_share * receives_a_send(schedule, channel));
}

// LL and LL128 copy lines out as they come; Simple waits for the slice, and a ring's rank has its own sends to end.
SimTime drain_of(const Gpu& gpu, const Schedule& schedule, const Channel& channel, const Hop& hop) {
    if (schedule.protocol != Protocol::simple || channel.loops.empty() || gpu.receive_share <= 0) return {};
    // A whole chunk, though the last loop's may be short: the one before has not been copied out by then.
    const Loop& whole = channel.loops.front();
    const double bytes = std::holds_alternative<RingSteps>(channel.steps) ? whole.chunk : whole.unit_bytes(0);
    return from_seconds(bytes * gpu.receive_share / (gpu.channel_rate[schedule.protocol].value * hop.sm_share));
}

// Messages of a step do not all take the same time, and what goes on waits for the slowest: of n with an exponential
// tail it is later by the logarithm of n. Beside each other fly those of all channels, to each domain but one.
SimTime spread_of(const Nic& nic, double messages) {
    return from_seconds(seconds(nic.hop_spread) * doublings(messages));
}

// `flow` tells the transfers of a hashing network apart; `messages` fly at once.
HopOnLinks on_links(const Topology& topology, const Group& group, const Schedule& schedule, const Channel& channel,
                    const Hop& hop, std::uint64_t flow, double messages) {
    const GpuPlace from = group.places[hop.from];
    const GpuPlace to = group.places[hop.to];
    const InstanceType& sender = topology.type_of(from.domain).instance;
    const InstanceType& receiver = topology.type_of(to.domain).instance;
    HopOnLinks placed;
    placed.leaves_domain = hop.leaves_domain();
    placed.is_local = hop.way == Way::local;
    placed.copy_limit = copy_limit(sender.gpu, schedule, channel, hop);
    placed.unit_cost = sender.gpu.unit_cost[schedule.protocol];
    switch (hop.way) {
        case Way::local:
            placed.unit_cost = sender.nvlink ? sender.nvlink->switch_block_cost : SimTime{};
            break;
        case Way::nvlink:
            placed.route = topology.nvlink_route(from, to);
            placed.latency = sender.nvlink->hop_latency[schedule.protocol];
            placed.credit_latency = sender.nvlink->wire_latency;
            placed.drain = drain_of(receiver.gpu, schedule, channel, hop);
            break;
        case Way::network:
            placed.route = topology.network_route(from, hop.leave_group, hop.enter_group, to, flow);
            placed.latency =
                later(network_latency(sender, receiver, schedule.protocol), spread_of(*sender.nic, messages));
            placed.credit_latency = network_credit(sender, receiver);
            placed.drain = drain_of(receiver.gpu, schedule, channel, hop);
            break;
        case Way::gather:
        case Way::multicast:
            placed.route = switch_route(topology, group, hop);
            placed.latency = sender.nvlink->switch_latency;
            placed.unit_cost = hop.way == Way::gather ? sender.nvlink->switch_chunk_cost : SimTime{};
            placed.credit_latency = sender.nvlink->wire_latency;
            break;
    }
    refuse_down(topology, placed.route);
    return placed;
}

// Of each channel, what its hops ask of each link in a loop. Hops of one lane never flow at the same time, so the one
// that asks most counts.
using Demand = std::unordered_map<std::uint32_t, double>;  // of a link; only looked up, never walked through

void add_demand(Demand& demand, const ChannelOnLinks& placed, const LoopCounts& counts, bool one_lane) {
    if (!one_lane) {
        for (std::uint32_t h = 0; h < placed.hops.size(); ++h)
            for (const auto& [link, share] : placed.hops[h].route)
                demand[link.value] += share * counts.chunks_a_loop(h);
        return;
    }
    std::map<LinkId, double> most;
    for (const HopOnLinks& hop : placed.hops)
        for (const auto& [link, share] : hop.route) most[link] = std::max(most[link], share);
    for (const auto& [link, share] : most) demand[link.value] += share;
}

}  // namespace

std::vector<ChannelOnLinks> place(const Topology& topology, const Group& group, const Schedule& schedule,
                                  double part_repeats) {
    const double domains = static_cast<double>(group.parts.size()) * part_repeats;
    const double messages = static_cast<double>(schedule.channels.size()) * (domains - 1);
    std::vector<ChannelOnLinks> channels(schedule.channels.size());
    Demand demand;
    std::vector<LoopCounts> counts;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const Channel& channel = schedule.channels[c];
        counts.emplace_back(channel.steps, static_cast<std::uint32_t>(channel.hops.size()));
        for (std::uint32_t h = 0; h < channel.hops.size(); ++h) {
            const Hop& hop = channel.hops[h];
            const std::uint64_t flow = c * group.places.size() + hop.from;
            channels[c].hops.push_back(on_links(topology, group, schedule, channel, hop, flow, messages));
            channels[c].hops.back().lane = schedule.one_lane_a_rank ? hop.from : h;
        }
        add_demand(demand, channels[c], counts[c], schedule.one_lane_a_rank);
    }
    for (std::size_t c = 0; c < channels.size(); ++c)
        for (std::uint32_t h = 0; h < channels[c].hops.size(); ++h) {
            HopOnLinks& hop = channels[c].hops[h];
            hop.links_share = std::numeric_limits<double>::infinity();
            const double chunks = schedule.one_lane_a_rank ? 1 : counts[c].chunks_a_loop(h);
            for (const auto& [link, share] : hop.route)
                hop.links_share =
                    std::min(hop.links_share, topology.links[link].rate.value * chunks / demand.at(link.value));
        }
    return channels;
}

SimTime network_latency(const InstanceType& sender, const InstanceType& receiver, Protocol protocol) {
    return std::max(sender.nic->hop_latency[protocol], receiver.nic->hop_latency[protocol]);
}

SimTime network_credit(const InstanceType& sender, const InstanceType& receiver) {
    return std::max(sender.nic->wire_latency, receiver.nic->wire_latency);
}

double writes_of(const InstanceType& sender, double bytes) {
    const auto stripe = static_cast<double>(sender.nic->stripe.count);
    if (stripe <= 0 || sender.rails == 0) return 1;
    std::uint32_t writes = sender.rails;
    while (writes > 1 && (sender.rails % writes != 0 || bytes <= (writes - 1) * stripe)) --writes;
    return writes;
}

void refuse_down(const Topology& topology, const Route& route) {
    for (const auto& [link, share] : route)
        if (topology.links[link].rate.value <= 0)
            throw Infeasible(topology.name(link) + " is down, and the schedule needs it");
}

bool alike_but_for_share(const HopOnLinks& a, const HopOnLinks& b) {
    return a.leaves_domain == b.leaves_domain && a.latency == b.latency && a.credit_latency == b.credit_latency &&
           a.unit_cost == b.unit_cost && a.drain == b.drain && a.copy_limit == b.copy_limit;
}

bool cost_alike(const HopOnLinks& a, const HopOnLinks& b) {
    return alike_but_for_share(a, b) && a.links_share == b.links_share;
}

bool on_route(const HopOnLinks& hop, Stage stage) { return hop.leaves_domain == (stage == Stage::flight); }

double own_limit(const HopOnLinks& hop, Stage stage) {
    return stage == Stage::copy ? hop.copy_limit : std::numeric_limits<double>::infinity();
}

SimTime cell_cost(const HopOnLinks& hop, const Cell& cell) {
    if (cell.stage == Stage::flight) return {};
    if (!hop.is_local) return hop.unit_cost;
    return from_seconds(seconds(hop.unit_cost) * cell.chunks);
}

Activity activity_of(const HopOnLinks& hop, const Cell& cell, std::span<const Use> uses) {
    return {.delay = cell_cost(hop, cell),
            .work = cell.wire_bytes,
            .rate_limit = own_limit(hop, cell.stage),
            .uses = on_route(hop, cell.stage) ? uses : std::span<const Use>{}};
}

double full_rate(const HopOnLinks& hop, Stage stage) {
    return on_route(hop, stage) ? std::min(own_limit(hop, stage), hop.links_share) : own_limit(hop, stage);
}

}  // namespace fmsim
