// A call as a schedule: two legs of puts, each with what its ranks and links need, and how far they overlap.
#include <algorithm>

#include "costs.hpp"

namespace fmsim {
namespace {

double busiest_domain(const Group& group, const std::vector<Message>& network) {
    std::vector<std::uint32_t> part_of(group.places.size());
    for (std::uint32_t p = 0; p < group.parts.size(); ++p)
        for (const std::uint32_t position : group.parts[p].positions) part_of[position] = p;
    std::vector<double> gone(group.parts.size()), come(group.parts.size());
    for (const Message& message : network) {
        gone[part_of[message.from]] += message.bytes;
        come[part_of[message.to]] += message.bytes;
    }
    return std::max(*std::max_element(gone.begin(), gone.end()), *std::max_element(come.begin(), come.end()));
}

}  // namespace

Schedule plan_experts(const Topology& topology, const Group& group, const ExpertCall& call,
                      const Dispatcher& dispatcher) {
    if (const std::string why = refusal(topology, group, call, dispatcher); !why.empty()) throw Infeasible(why);
    TokenTraffic traffic = traffic_of(group, call, dispatcher.copies);
    const CallCost cost = cost_of(topology, group, call, dispatcher, traffic);
    Puts puts{.sms = cost.sms, .busiest_gpu = cost.nvlink.bytes, .busiest_domain = 0};
    const auto leg = [&](bool leaves, std::vector<Message>& messages, double share, const LegCost& own,
                         const LegCost& other) {
        if (own.seconds() <= 0) return;
        // The network leads out, NVLink back; what the later leg has left when the earlier ends is as long as what the
        // earlier had to itself.
        puts.legs.push_back({.leaves_domain = leaves,
                             .messages = std::move(messages),
                             .link_share = share,
                             .rank_seconds = own.rank_seconds,
                             .delay = cost.latency,
                             .tail = from_seconds(cost.overlap * other.seconds())});
    };
    if (!traffic.network.empty()) puts.busiest_domain = busiest_domain(group, traffic.network);
    const DispatcherNetwork* const network = network_of(topology, group, dispatcher);
    if (network != nullptr)
        leg(true, traffic.network, network_rate(topology, group, network->share.of(call.combine)).share, cost.network,
            cost.nvlink);
    leg(false, traffic.nvlink, nvlink_rate(topology, group, dispatcher.nvlink_share.of(call.combine)).share,
        cost.nvlink, cost.network);
    return {.collective = Collective::all_to_all,
            .algorithm = dispatcher.name,
            .protocol = Protocol::simple,
            .size = size_of(call),
            .launch = cost.launch,
            .puts = std::move(puts)};
}

}  // namespace fmsim
