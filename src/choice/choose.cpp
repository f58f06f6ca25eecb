// The choice of a call, from the communicator to what its schedule needs.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fmsim/choice.hpp"

namespace fmsim {
namespace {

constexpr Bytes kBarrier{4};  // one element

[[noreturn]] void refuse(std::string expected, std::string_view found) {
    throw InputError(
        {{.file = "--algo", .line = 0, .pointer = "", .expected = std::move(expected), .found = std::string(found)}});
}

bool is_exchange(Collective collective) {
    return collective == Collective::all_to_all || collective == Collective::send_recv;
}

void check_pinned(Collective collective, const Topology& topology, const Group& group, const NcclShape& shape,
                  const Pins& pins) {
    if (!pins.algorithm) return;
    std::vector<std::string_view> names;
    for (const Algorithm& row : algorithms()) {
        if (row.does != collective) continue;
        names.push_back(row.name);
        if (row.name != *pins.algorithm) continue;
        if (const std::string why = row.refuses(topology, group, shape); !why.empty())
            refuse(fmt::format("expected an algorithm that can run on these GPUs: {}", why), *pins.algorithm);
        return;
    }
    refuse(fmt::format("expected an algorithm of {}: {}", name(collective), fmt::join(names, ", ")), *pins.algorithm);
}

TransferShape shape_of(const Communicator& communicator, Bytes size, bool between_domains, const Nccl& nccl) {
    const TransferPlan plan = plan_transfer(communicator, size, between_domains, nccl);
    return {.protocol = plan.protocol,
            .wire_per_data = nccl.shape.protocols[plan.protocol].wire_per_data,
            .parts = plan.channels,
            .chunk = plan.chunk};
}

// An exchange of messages of `size` bytes.
Choice exchange_of(Collective collective, Bytes size, const Communicator& communicator, const Group& group,
                   const Nccl& nccl, const Pins& pins) {
    Choice choice{.algorithm = find_algorithm("SendRecv", collective),
                  .channels = communicator.p2p_channels,
                  .inside = shape_of(communicator, size, false, nccl),
                  .pxn = pins.pxn};
    choice.between = group.parts.size() > 1 ? shape_of(communicator, size, true, nccl) : choice.inside;
    choice.protocol = choice.between.protocol;
    return choice;
}

}  // namespace

Choice choose(Collective collective, Bytes size, const Topology& topology, const Group& group, const Nccl& nccl,
              const Pins& pins) {
    if (pins.algorithm)
        if (const auto custom = pins.custom.find(*pins.algorithm); custom != pins.custom.end())
            return {.custom = custom->second.get(),
                    .protocol = custom->second->protocol,
                    .channels = custom->second->channels};
    check_pinned(collective, topology, group, nccl.shape, pins);
    const Communicator communicator = communicator_of(topology, group, nccl, pins);
    if (is_exchange(collective)) {
        const auto ranks = static_cast<std::int64_t>(group.places.size());
        const Bytes message = collective == Collective::all_to_all ? Bytes{(size.count + ranks - 1) / ranks} : size;
        return exchange_of(collective, message, communicator, group, nccl, pins);
    }
    const Collective runs = collective == Collective::barrier ? Collective::all_reduce : collective;
    const Bytes bytes = moved(collective, size);
    const Pick found = pick(communicator, runs, bytes, nccl, pins);
    const Algorithm* const row = find_algorithm(name(found.algorithm), runs);
    if (row == nullptr) throw Infeasible(fmt::format("no schedule for {} by {}", name(runs), name(found.algorithm)));
    Choice choice{.algorithm = row, .protocol = found.protocol, .channels = found.channels, .pxn = pins.pxn};
    const std::vector<Bytes> split = split_of(communicator, runs, found, bytes, nccl);
    if (split.empty()) return choice;
    const bool by_rank = runs == Collective::all_gather || runs == Collective::reduce_scatter;
    const Bytes on_channel{split.front().count * (by_rank ? static_cast<std::int64_t>(group.places.size()) : 1)};
    choice.chunk = chunk_of(communicator, runs, found, on_channel, nccl);
    return choice;
}

Bytes moved(Collective collective, Bytes size) { return collective == Collective::barrier ? kBarrier : size; }

Schedule plan(const Choice& choice, Collective collective, const Topology& topology, const Group& group,
              const PlanRequest& request) {
    if (choice.custom != nullptr) return plan_custom(*choice.custom, collective, topology, group, request);
    return choice.algorithm->plan(topology, group, request);
}

PlanRequest request_of(const Choice& choice, Bytes size, std::uint32_t root, const Topology& topology,
                       const Group& group, const Nccl& nccl, const Pins& pins) {
    const Bytes buffer = topology.type_of(group.parts.front().domain).instance.simple_buffer;
    SimTime launch;
    for (const Group::Part& part : group.parts)
        launch = std::max(launch, topology.type_of(part.domain).instance.gpu.launch);
    return {.size = size,
            .protocol = choice.protocol,
            .channels = choice.channels,
            .chunk = choice.chunk,
            .root = root,
            .inside = choice.inside,
            .between = choice.between,
            .pxn = choice.pxn,
            .launch = launch,
            .shape = &nccl.shape,
            .simple_buffer = pins.simple_buffer.value_or(buffer)};
}

}  // namespace fmsim
