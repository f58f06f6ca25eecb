#include "fmsim/predict.hpp"

#include <fmt/format.h>

namespace fmsim {
namespace {

// What one edge of all rings together carries: out of a domain all its NICs, inside one a GPU's NVLink.
BytesPerSecond edge_rate(const Topology& topology) {
    const InstanceType& type = topology.cluster.instance;
    if (topology.cluster.count == 1) return type.nvlink.carries();
    Cluster alone = topology.cluster;
    alone.count = 1;
    const Topology one = build_topology(alone);
    return cut(one, devices_of(one, DeviceKind::gpu, DomainId{0}), devices_of(one, DeviceKind::fabric, DomainId{0}));
}

Schedule plan(const Call& call, const Group& group, const InstanceType& type, const Nccl& nccl, const Pins& pins) {
    const Choice choice = choose(call.collective, call.size, group, type, nccl, pins);
    return choice.algorithm->plan(group, type,
                                  {.size = call.size,
                                   .protocol = choice.protocol,
                                   .channels = choice.channels,
                                   .shape = &nccl.shape,
                                   .simple_buffer = type.simple_buffer});
}

SimTime closed_form(const Schedule& schedule, std::uint32_t ranks, BytesPerSecond rate) {
    for (const Algorithm& row : algorithms())
        if (row.name == schedule.algorithm && row.does == schedule.collective)
            return from_seconds(static_cast<double>(schedule.size.count) * row.edge_bytes(ranks) / rate.value);
    return {};
}

void check_group(const Group& group) {
    if (group.ranks.size() >= 2) return;
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = "",
                       .expected = "a collective needs at least 2 GPUs",
                       .found = fmt::format("{}", group.ranks.size())}});
}

}  // namespace

double CallPrediction::algbw_gbps() const {
    if (time().fs == 0) return 0;
    return static_cast<double>(call.size.count) / seconds(time()) * 1e-9;
}

double CallPrediction::busbw_gbps(std::uint32_t ranks) const {
    return algbw_gbps() * bus_factor(call.collective, ranks);
}

Prediction predict(const Topology& topology, const Job& job, const Nccl& nccl, const PredictOptions& options) {
    check(job);
    const Group group = whole(topology);
    check_group(group);
    std::vector<Schedule> schedules;
    for (const Call& call : job.calls)
        schedules.push_back(plan(call, group, topology.cluster.instance, nccl, options.pins));

    Prediction prediction;
    prediction.lowered = lower(topology, schedules, options.fidelity);
    prediction.timeline = run(prediction.lowered.system);
    prediction.end = prediction.timeline.end;
    const BytesPerSecond rate = edge_rate(topology);
    for (std::size_t i = 0; i < schedules.size(); ++i) {
        const CallSpan& span = prediction.lowered.calls[i];
        prediction.calls.push_back({.call = job.calls[i],
                                    .algorithm = std::string(schedules[i].algorithm),
                                    .protocol = schedules[i].protocol,
                                    .channels = static_cast<std::uint32_t>(schedules[i].channels.size()),
                                    .started = prediction.timeline.started[span.launch],
                                    .ended = prediction.timeline.ended[span.done],
                                    .closed_form = closed_form(schedules[i], topology.ranks(), rate)});
    }
    return prediction;
}

}  // namespace fmsim
