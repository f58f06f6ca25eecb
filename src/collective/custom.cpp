// Schedules that are written by hand or by a synthesiser: their transfers on the links of a group.
//
// A connection between two ranks of a domain is NVLink, else the NICs beside its ends. Copies and sums within a rank cost
// nothing of their own: the thread block that moves the bytes does them on the way.
#include <fmt/format.h>

#include "cut.hpp"

namespace fmsim {
namespace {

[[noreturn]] void refuse(std::string expected, std::string found) {
    throw InputError(
        {{.file = "--algo", .line = 0, .pointer = "", .expected = std::move(expected), .found = std::move(found)}});
}

Hop hop_of(const CustomAlgorithm::Connection& connection, const Topology& topology, const Group& group) {
    const GpuPlace from = group.places[connection.from], to = group.places[connection.to];
    Hop hop{.from = connection.from, .to = connection.to};
    if (from.domain == to.domain) {
        if (!topology.type_of(from.domain).instance.nvlink)
            refuse(fmt::format("expected NVLink between ranks {} and {}", hop.from, hop.to), "none");
        return hop;
    }
    hop.way = Way::network;
    hop.leave_group = topology.type_of(from.domain).nic_group_of(from.gpu);
    hop.enter_group = topology.type_of(to.domain).nic_group_of(to.gpu);
    return hop;
}

}  // namespace

Schedule plan_custom(const CustomAlgorithm& custom, Collective collective, const Topology& topology, const Group& group,
                     PlanRequest request) {
    if (custom.does != collective)
        refuse(fmt::format("expected an algorithm of {}", name(collective)),
               fmt::format("{} of {}", custom.name, name(custom.does)));
    if (custom.ranks != group.places.size())
        refuse(fmt::format("expected an algorithm of {} ranks", group.places.size()),
               fmt::format("{} of {}", custom.name, custom.ranks));
    request.protocol = custom.protocol;
    Schedule schedule = begin_schedule(collective, custom.name, request);
    if (request.size.count == 0) return schedule;
    Channel channel{.hops = {}, .steps = custom.pattern, .bytes = request.size, .loops = {}};
    for (const CustomAlgorithm::Connection& connection : custom.hops)
        channel.hops.push_back(hop_of(connection, topology, group));
    channel.loops = loops_of(static_cast<double>(request.size.count) / custom.blocks, request, {});
    schedule.channels.push_back(std::move(channel));
    return schedule;
}

}  // namespace fmsim
