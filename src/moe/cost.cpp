// The time of a call, alone:
//
//   launch + latency + max(network + f nvlink, nvlink + f network),   f = min(1, window / tokens)
//
//   network = max(bytes / (share x the line rate of a GPU's NICs), bytes with the own domain's / (staged share x the
//                 same), messages x their posting)
//   nvlink  = max(bytes to others / (share x NVLink's rate), bytes to others / (pairs x what a pair carries),
//                 copies / (SMs x what one copies))
//
// where no share makes more of a link than it carries.
//   latency = of the network + that of each further domain + that of each further peer
//
// The two legs are a pipeline: a token that came over the network goes on over NVLink, and while the later leg works on
// the last `window` tokens the other has ended. f = 1 is one leg after the other, f = 0 are legs that know nothing of
// each other. docs/models/moe.md compares it with measurements.
#include <algorithm>
#include <limits>

#include "costs.hpp"

namespace fmsim {
double busiest_bytes(const std::vector<Message>& messages, const Group& group) {
    std::vector<double> gone(group.places.size()), come(group.places.size());
    for (const Message& message : messages) {
        gone[message.from] += message.bytes;
        come[message.to] += message.bytes;
    }
    double most = 0;
    for (const auto* all : {&gone, &come}) most = std::max(most, *std::max_element(all->begin(), all->end()));
    return most;
}

namespace {

const InstanceType& instance_of(const Topology& topology, const Group::Part& part) {
    return topology.type_of(part.domain).instance;
}

// Of all that the group has, the slowest counts.
template <class Of>
double least(const Topology& topology, const Group& group, Of of) {
    double found = std::numeric_limits<double>::infinity();
    for (const Group::Part& part : group.parts) found = std::min(found, of(instance_of(topology, part)));
    return found;
}

LegCost network_cost(const Topology& topology, const Group& group, bool back, const DispatcherNetwork& network,
                     const TokenTraffic& traffic) {
    LegCost cost{.bytes = busiest_bytes(traffic.network, group)};
    const double nics = nics_of_a_gpu(topology, group);
    const double line = least(topology, group, [](const InstanceType& type) { return type.nic->rate.value; }) * nics;
    cost.link_seconds = cost.bytes / network_rate(topology, group, network.share.of(back)).rate.value;
    if (network.staged_share.of(back) > 0) cost.rank_seconds = traffic.staged / (network.staged_share.of(back) * line);
    cost.rank_seconds = std::max(cost.rank_seconds, traffic.posted * seconds(network.each_message.of(back)) / nics);
    return cost;
}

LegCost nvlink_cost(const Topology& topology, const Group& group, const ExpertCall& call, const Dispatcher& dispatcher,
                    const TokenTraffic& traffic, std::uint32_t sms) {
    const bool back = call.combine;
    LegCost cost{.bytes = busiest_bytes(traffic.nvlink, group)};
    if (cost.bytes > 0)
        cost.link_seconds = cost.bytes / nvlink_rate(topology, group, dispatcher.nvlink_share.of(back)).rate.value;
    std::size_t most = 0;
    for (const Group::Part& part : group.parts) most = std::max(most, part.positions.size());
    const double pair = dispatcher.each_pair.of(back).value, sm = dispatcher.each_sm.of(back).value;
    if (pair > 0 && most > 1) cost.rank_seconds = cost.bytes / (pair * static_cast<double>(most - 1));
    if (sm > 0) cost.rank_seconds = std::max(cost.rank_seconds, traffic.copied / (sm * sms));
    return cost;
}

}  // namespace

const DispatcherNetwork* network_of(const Topology& topology, const Group& group, const Dispatcher& dispatcher) {
    const auto& nic = instance_of(topology, group.parts.front()).nic;
    if (group.parts.size() < 2 || !nic) return nullptr;
    for (const std::string* key : {&nic->name, &nic->fabric})
        if (const auto found = dispatcher.networks.find(*key); found != dispatcher.networks.end())
            return &found->second;
    return nullptr;
}

double nics_of_a_gpu(const Topology& topology, const Group& group) {
    return least(topology, group, [](const InstanceType& type) { return static_cast<double>(type.nics) / type.gpus; });
}

LinkRate network_rate(const Topology& topology, const Group& group, double share_of_line) {
    const double share = least(topology, group, [&](const InstanceType& type) {
        return std::min(1.0, share_of_line * type.nic->rate.value / type.nic->carries.value);
    });
    const double carried = least(topology, group, [](const InstanceType& type) { return type.nic->carries.value; });
    return {{share * carried * nics_of_a_gpu(topology, group)}, share};
}

LinkRate nvlink_rate(const Topology& topology, const Group& group, double share_of_published) {
    const double share = least(topology, group, [&](const InstanceType& type) {
        return type.nvlink ? std::min(1.0, share_of_published / type.nvlink->efficiency) : 1.0;
    });
    const double carried = least(topology, group, [](const InstanceType& type) {
        return type.nvlink ? type.nvlink->carries().value : std::numeric_limits<double>::infinity();
    });
    return {{share * carried}, share};
}

double CallCost::seconds() const {
    const double a = network.seconds(), b = nvlink.seconds();
    return fmsim::seconds(launch) + fmsim::seconds(latency) + std::max(a + overlap * b, b + overlap * a);
}

CallCost cost_of(const Topology& topology, const Group& group, const ExpertCall& call, const Dispatcher& dispatcher,
                 const TokenTraffic& traffic) {
    const bool back = call.combine;
    CallCost cost{.sms = call.sms == 0 ? dispatcher.sms : call.sms};
    std::size_t most = 0;
    for (const Group::Part& part : group.parts) most = std::max(most, part.positions.size());
    cost.launch = from_seconds(seconds(dispatcher.launch.of(back)) +
                               seconds(dispatcher.each_rank.of(back)) * static_cast<double>(most - 1));
    cost.nvlink = nvlink_cost(topology, group, call, dispatcher, traffic, cost.sms);
    const DispatcherNetwork* const network = network_of(topology, group, dispatcher);
    if (network == nullptr) return cost;
    cost.network = network_cost(topology, group, back, *network, traffic);
    if (cost.network.bytes <= 0) return cost;
    cost.latency = from_seconds(seconds(network->latency.of(back)) +
                                seconds(network->each_domain.of(back)) * static_cast<double>(group.parts.size() - 1) +
                                seconds(network->each_peer.of(back)) * static_cast<double>(group.places.size() - most) /
                                    nics_of_a_gpu(topology, group));
    if (call.tokens > 0) cost.overlap = std::min(1.0, dispatcher.window / call.tokens);
    return cost;
}

ExpertCost expert_cost(const Topology& topology, const Group& group, const ExpertCall& call,
                       const Dispatcher& dispatcher) {
    if (dispatcher.all_to_all) throw Infeasible(dispatcher.name + " is planned and timed as an all-to-all");
    if (const std::string why = refusal(topology, group, call, dispatcher); !why.empty()) throw Infeasible(why);
    const CallCost cost = cost_of(topology, group, call, dispatcher, traffic_of(group, call, dispatcher.copies));
    return {.seconds = cost.seconds(),
            .network_bytes = cost.network.bytes,
            .nvlink_bytes = cost.nvlink.bytes,
            .sms = cost.sms};
}

}  // namespace fmsim
