// Each task becomes a step: a collective or message with its schedule, computing and waiting with their time. Groups
// and schedules that come again (the layers of a model) are made once.
#include "steps.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fmsim {
namespace {

[[noreturn]] void refuse(const Operation& operation, std::string expected, std::string found) {
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = operation.place,
                       .expected = std::move(expected),
                       .found = std::move(found)}});
}

Pins with(Pins pins, const CollectiveCall& call) {
    if (!call.algorithm.empty()) pins.algorithm = call.algorithm;
    for (const Protocol protocol : kProtocols)
        if (call.protocol == name(protocol)) pins.protocol = protocol;
    return pins;
}

// The messages of an all-to-all with parts of their own.
std::vector<Message> unequal_messages(const CollectiveCall& call) {
    std::vector<Message> messages;
    for (std::uint32_t from = 0; from < call.pair_bytes.size(); ++from)
        for (std::uint32_t to = 0; to < call.pair_bytes.size(); ++to)
            if (from != to) messages.push_back({from, to, static_cast<double>(call.pair_bytes[from][to])});
    return messages;
}

}  // namespace

void StepMaker::add(const Job& job, const Placement& placement) {
    const auto first = static_cast<std::uint32_t>(steps.size());
    for (Task& task : tasks_of(job, static_cast<std::uint32_t>(placement.size()))) {
        Step step = step_of(job, placement, task);
        step.not_before = job.start + task.start;
        step.after = std::move(task.after);
        for (std::uint32_t& before : step.after) before += first;
        steps.push_back(std::move(step));
        origins.push_back({job_, task.program, task.operation});
        ranks.push_back(std::move(task.ranks));
    }
    ++job_;
}

Step StepMaker::step_of(const Job& job, const Placement& placement, const Task& task) {
    const Operation& operation = job.programs[task.program].operations[task.operation];
    if (const auto* delay = std::get_if<Delay>(&operation.action))
        return {.after = {}, .not_before = {}, .takes = delay->span};
    if (const auto* compute = std::get_if<Compute>(&operation.action))
        return {.after = {}, .not_before = {}, .takes = computing(*compute, operation, placement[task.ranks.front()])};
    if (const auto* call = std::get_if<CollectiveCall>(&operation.action)) return collective(placement, task, *call);
    return transfer(placement, task);
}

SimTime StepMaker::computing(const Compute& compute, const Operation& operation, GpuPlace place) const {
    if (compute.duration) return *compute.duration;
    const Gpu& gpu = topology_.type_of(place.domain).instance.gpu;
    double took = static_cast<double>(compute.bytes.count) / gpu.memory_rate.value;
    if (compute.flops > 0) {
        const auto peak = gpu.peak.find(compute.dtype.empty() ? "bf16" : compute.dtype);
        if (peak == gpu.peak.end()) {
            std::vector<std::string> known;
            for (const auto& [type, rate] : gpu.peak) known.push_back(type);
            refuse(operation,
                   fmt::format("expected a dtype that {} computes with: {}", gpu.name, fmt::join(known, ", ")),
                   compute.dtype);
        }
        took = std::max(took, compute.flops / peak->second.value);
    }
    return from_seconds(took);
}

const Group& StepMaker::group(const Placement& placement, const std::vector<std::uint32_t>& members) {
    Placement places;
    places.reserve(members.size());
    for (const std::uint32_t rank : members) places.push_back(placement[rank]);
    const auto known = groups_.find(places);
    if (known != groups_.end()) return known->second;
    Group made = group_of(topology_, places);
    return groups_.emplace(std::move(places), std::move(made)).first->second;
}

Step StepMaker::collective(const Placement& placement, const Task& task, const CollectiveCall& call) {
    if (task.ranks.size() < 2) return {};  // alone: nothing to do
    const Group& members = group(placement, task.ranks);
    const Asked asked{&members, call.collective, call.size.count, call.root, call.algorithm, call.protocol};
    const bool equal = call.pair_bytes.empty();
    const auto known = schedules_.find(asked);
    if (equal && known != schedules_.end())
        return {.after = {}, .not_before = {}, .takes = {}, .schedule = &known->second, .group = &members};
    const Pins pins = with(pins_, call);
    const Choice choice = choose(call.collective, call.size, topology_, members, nccl_, pins);
    const Bytes size = moved(call.collective, call.size);
    Schedule schedule = plan(choice, call.collective, topology_, members,
                             request_of(choice, size, call.root, topology_, members, nccl_, pins));
    if (equal) {
        const Schedule& kept = schedules_.emplace(asked, std::move(schedule)).first->second;
        return {.after = {}, .not_before = {}, .takes = {}, .schedule = &kept, .group = &members};
    }
    if (!schedule.exchange)
        throw InputError({{.file = "",
                           .line = 0,
                           .pointer = "",
                           .expected = "expected parts of one size for the algorithm of a file",
                           .found = "pair_sizes"}});
    schedule.exchange->each = 0;
    schedule.exchange->messages = unequal_messages(call);
    unequal_.push_back(std::move(schedule));
    return {.after = {}, .not_before = {}, .takes = {}, .schedule = &unequal_.back(), .group = &members};
}

Step StepMaker::transfer(const Placement& placement, const Task& task) {
    const Group& ends = group(placement, task.ranks);
    const Asked asked{&ends, Collective::send_recv, task.size.count, 0, "", ""};
    const auto known = schedules_.find(asked);
    if (known != schedules_.end())
        return {.after = {}, .not_before = {}, .takes = {}, .schedule = &known->second, .group = &ends};
    Pins pins = pins_;
    pins.algorithm.reset();  // of collectives
    const Choice choice = choose(Collective::send_recv, task.size, topology_, ends, nccl_, pins);
    Schedule schedule =
        plan(choice, Collective::send_recv, topology_, ends, request_of(choice, task.size, 0, topology_, ends, nccl_, pins));
    schedule.exchange->messages.clear();
    if (task.size.count > 0) schedule.exchange->messages = {{0, 1, static_cast<double>(task.size.count)}};
    const Schedule& kept = schedules_.emplace(asked, std::move(schedule)).first->second;
    return {.after = {}, .not_before = {}, .takes = {}, .schedule = &kept, .group = &ends};
}

}  // namespace fmsim
