// Each task becomes a step: a collective or message with its schedule, computing and waiting with their time. Groups
// and schedules that come again (the layers of a model, the tensor groups of all machines) are made once.
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

Placement places_of(const Placement& placement, const std::vector<std::uint32_t>& ranks) {
    Placement places;
    places.reserve(ranks.size());
    for (const std::uint32_t rank : ranks) places.push_back(placement[rank]);
    return places;
}

}  // namespace

GroupShape shape_of(const Topology& topology, const Group& group) {
    GroupShape shape;
    for (const Group::Part& part : group.parts) {
        shape.push_back(topology.instances[topology.first_instance[part.domain]].block);
        shape.push_back(static_cast<std::uint32_t>(part.positions.size()));
        for (const std::uint32_t position : part.positions) {
            shape.push_back(group.places[position].gpu);
            shape.push_back(position);
        }
    }
    return shape;
}

const Group& Schedules::group(const Placement& places) {
    const auto known = made_->groups.find(places);
    if (known != made_->groups.end()) return known->second;
    return made_->groups.emplace(places, group_of(places)).first->second;
}

const Choice& Schedules::choice(const Group& group, const GroupShape& shape, const CollectiveCall& call) {
    auto asked = std::pair{shape, key_of(call)};
    const auto known = choices_.find(asked);
    if (known != choices_.end()) return known->second;
    Choice made = choose(call.collective, call.size, topology_, group, nccl_, with(pins_, call));
    return choices_.emplace(std::move(asked), std::move(made)).first->second;
}

const Schedule& Schedules::collective(const Group& group, const Group& drawn, const CollectiveCall& call) {
    const GroupShape shape = shape_of(topology_, group);
    const bool equal = call.pair_bytes.empty();
    auto asked = std::tuple{shape, drawn.parts.size(), key_of(call)};
    if (const auto known = made_->schedules.find(asked); equal && known != made_->schedules.end()) return known->second;
    const Choice& chosen = choice(group, shape, call);
    const Pins pins = with(pins_, call);
    PlanRequest request =
        request_of(chosen, moved(call.collective, call.size), call.root, topology_, group, nccl_, pins);
    request.ranks = static_cast<std::uint32_t>(group.places.size());
    Schedule schedule = plan(chosen, call.collective, topology_, drawn, request);
    if (equal) return made_->schedules.emplace(std::move(asked), std::move(schedule)).first->second;
    if (!schedule.exchange)
        throw InputError({{.file = "",
                           .line = 0,
                           .pointer = "",
                           .expected = "expected parts of one size for the algorithm of a file",
                           .found = "pair_sizes"}});
    schedule.exchange->each = 0;
    schedule.exchange->messages = unequal_messages(call);
    return made_->unequal.emplace_back(std::move(schedule));
}

std::shared_ptr<const void> Schedules::keep() && { return std::move(made_); }

const Schedule& Schedules::message(const Group& ends, Bytes size) {
    auto asked = std::pair{shape_of(topology_, ends), size.count};
    if (const auto known = made_->messages.find(asked); known != made_->messages.end()) return known->second;
    Pins pins = pins_;
    pins.algorithm.reset();  // of collectives
    const Choice chosen = choose(Collective::send_recv, size, topology_, ends, nccl_, pins);
    Schedule schedule =
        plan(chosen, Collective::send_recv, topology_, ends, request_of(chosen, size, 0, topology_, ends, nccl_, pins));
    schedule.exchange->messages.clear();
    if (size.count > 0) schedule.exchange->messages = {{0, 1, static_cast<double>(size.count)}};
    return made_->messages.emplace(std::move(asked), std::move(schedule)).first->second;
}

Step computing(const Topology& topology, const Compute& compute, const Operation& operation, GpuPlace place) {
    Step step;
    if (compute.duration) {
        step.takes = step.by_flops = *compute.duration;
        return step;
    }
    const Gpu& gpu = topology.type_of(place.domain).instance.gpu;
    step.by_memory = from_seconds(static_cast<double>(compute.bytes.count) / gpu.memory_rate.value);
    if (compute.flops > 0) {
        const auto peak = gpu.peak.find(compute.dtype.empty() ? "bf16" : compute.dtype);
        if (peak == gpu.peak.end()) {
            std::vector<std::string> known;
            for (const auto& [type, rate] : gpu.peak) known.push_back(type);
            refuse(operation,
                   fmt::format("expected a dtype that {} computes with: {}", gpu.name, fmt::join(known, ", ")),
                   compute.dtype);
        }
        step.by_flops = from_seconds(compute.flops / peak->second.value);
    }
    step.takes = std::max(step.by_flops, step.by_memory);
    return step;
}

namespace {

// The step of a task, but for what it waits for.
std::pair<Step, const Group*> step_of(const Topology& topology, const Job& job, const Placement& placement,
                                      const Task& task, Schedules& schedules) {
    const Operation& operation = job.programs[task.program].operations[task.operation];
    Step step;
    if (const auto* delay = std::get_if<Delay>(&operation.action)) {
        step.takes = delay->span;
        return {step, nullptr};
    }
    if (const auto* compute = std::get_if<Compute>(&operation.action)) {
        return {computing(topology, *compute, operation, placement[task.ranks.front()]), nullptr};
    }
    if (task.ranks.size() < 2) return {step, nullptr};  // a group of one has nothing to do
    const Group& group = schedules.group(places_of(placement, task.ranks));
    const auto* const call = std::get_if<CollectiveCall>(&operation.action);
    step.schedule = call != nullptr ? &schedules.collective(group, group, *call) : &schedules.message(group, task.size);
    step.group = &group;
    return {step, &group};
}

}  // namespace

MadeSteps all_steps(const Topology& topology, const Workload& workload, const std::vector<Placement>& placements,
                    Schedules& schedules) {
    MadeSteps made;
    for (std::uint32_t j = 0; j < workload.jobs.size(); ++j) {
        const Job& job = workload.jobs[j];
        const auto first = static_cast<std::uint32_t>(made.steps.size());
        for (Task& task : tasks_of(job, static_cast<std::uint32_t>(placements[j].size()))) {
            auto [step, group] = step_of(topology, job, placements[j], task, schedules);
            step.not_before = job.start + task.start;
            step.after = std::move(task.after);
            for (std::uint32_t& before : step.after) before += first;
            made.steps.push_back(std::move(step));
            made.origins.push_back(
                {j, task.program, task.operation, static_cast<std::uint32_t>(task.ranks.size()), 1, group});
            made.ranks.push_back(std::move(task.ranks));
        }
    }
    return made;
}

}  // namespace fmsim
