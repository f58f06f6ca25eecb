#include "fmsim/predict.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace fmsim {
namespace {

// What one edge of all rings together carries: out of a domain the NICs beside the group's GPUs, inside one a GPU's
// NVLink. Of the domains the poorest; without faults and without the network's upper layers, so that no ring is faster.
BytesPerSecond edge_rate(const Topology& topology, const Group& group) {
    if (group.parts.size() == 1) return topology.type_of(group.parts[0].domain).instance.nvlink->carries();
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    std::set<std::pair<const DomainType*, std::size_t>> seen;
    for (const Group::Part& part : group.parts) {
        const DomainType& type = topology.type_of(part.domain);
        if (!seen.insert({&type, part.positions.size()}).second) continue;
        const Topology one = build_topology({.name = type.name, .blocks = {{type, 1}}});
        std::vector<DeviceId> gpus;
        for (std::uint32_t g = 0; g < type.gpus(); ++g) gpus.push_back(one.device(GpuPlace{DomainId{0}, g}));
        least = std::min(least, cut(one, gpus, devices_of(one, DeviceKind::fabric, InstanceId{0})));
    }
    return least;
}

Schedule plan(const Call& call, const Topology& topology, const Group& group, const Nccl& nccl, const Pins& pins) {
    const Choice choice = choose(call.collective, call.size, topology, group, nccl, pins);
    return choice.algorithm->plan(topology, group,
                                  {.size = call.size,
                                   .protocol = choice.protocol,
                                   .channels = choice.channels,
                                   .shape = &nccl.shape,
                                   .simple_buffer = topology.type_of(group.parts[0].domain).instance.simple_buffer});
}

SimTime closed_form(const Schedule& schedule, std::uint32_t ranks, BytesPerSecond rate) {
    for (const Algorithm& row : algorithms())
        if (row.name == schedule.algorithm && row.does == schedule.collective)
            return from_seconds(static_cast<double>(schedule.size.count) * row.edge_bytes(ranks) / rate.value);
    return {};
}

void check_group(const Group& group) {
    if (group.places.size() >= 2) return;
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = "",
                       .expected = "a collective needs at least 2 GPUs",
                       .found = fmt::format("{}", group.places.size())}});
}

[[noreturn]] void refuse(std::string place, std::string found) {
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = std::move(place),
                       .expected = "expected collectives of all ranks, one after another, and nothing pinned",
                       .found = std::move(found)}});
}

std::vector<Call> calls_of(const Workload& workload, std::uint32_t ranks) {
    check(workload);
    if (workload.jobs.size() != 1) refuse("/jobs", fmt::format("{} jobs", workload.jobs.size()));
    if (!workload.environment.empty()) refuse("/environment", workload.environment.front().first);
    const Job& job = workload.jobs.front();
    std::vector<Call> calls;
    for (const Task& task : tasks_of(job, ranks)) {
        const Operation& operation = job.programs[task.program].operations[task.operation];
        const auto* const call = std::get_if<CollectiveCall>(&operation.action);
        const bool in_turn =
            calls.empty() ? task.after.empty() : task.after == std::vector{std::uint32_t(calls.size() - 1)};
        if (call == nullptr || task.ranks.size() != ranks || !std::is_sorted(task.ranks.begin(), task.ranks.end()) ||
            !in_turn || task.start != SimTime{} || !call->pair_bytes.empty() || !call->algorithm.empty() ||
            !call->protocol.empty())
            refuse(operation.place.empty() ? fmt::format("/operations/{}", task.operation) : operation.place,
                   operation.name);
        calls.push_back({operation.name, call->collective, call->size});
    }
    return calls;
}

}  // namespace

double CallPrediction::algbw_gbps() const {
    if (time().fs == 0) return 0;
    return static_cast<double>(call.size.count) / seconds(time()) * 1e-9;
}

double CallPrediction::busbw_gbps(std::uint32_t ranks) const {
    return algbw_gbps() * bus_factor(call.collective, ranks);
}

Prediction predict(const Topology& topology, const Group& group, const Workload& workload, const Nccl& nccl,
                   const PredictOptions& options) {
    check_group(group);
    const std::vector<Call> calls = calls_of(workload, static_cast<std::uint32_t>(group.places.size()));
    std::vector<Schedule> schedules;
    for (const Call& call : calls) schedules.push_back(plan(call, topology, group, nccl, options.pins));

    Prediction prediction;
    prediction.lowered = lower(topology, group, schedules, options.fidelity);
    prediction.timeline = run(prediction.lowered.system);
    prediction.end = prediction.timeline.end;
    const BytesPerSecond rate = edge_rate(topology, group);
    for (std::size_t i = 0; i < schedules.size(); ++i) {
        const CallSpan& span = prediction.lowered.calls[i];
        prediction.calls.push_back(
            {.call = calls[i],
             .algorithm = std::string(schedules[i].algorithm),
             .protocol = schedules[i].protocol,
             .channels = static_cast<std::uint32_t>(schedules[i].channels.size()),
             .started = prediction.timeline.started[span.launch],
             .ended = prediction.timeline.ended[span.done],
             .closed_form = closed_form(schedules[i], static_cast<std::uint32_t>(group.places.size()), rate)});
    }
    return prediction;
}

}  // namespace fmsim
