#include "fmsim/predict.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace fmsim {
namespace {

// What goes in or out of a domain over its NICs at once: of the group's domains the poorest; without faults and without
// the network's upper layers, so that nothing is faster.
BytesPerSecond domain_rate(const Topology& topology, const Group& group) {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    std::set<std::pair<const DomainType*, std::size_t>> seen;
    for (const Group::Part& part : group.parts) {
        const DomainType& type = topology.type_of(part.domain);
        if (!seen.insert({&type, part.positions.size()}).second) continue;
        least = std::min(least, topology.rate_out_of(part.domain));
    }
    return least;
}

// Of one GPU over NVLink, as large transfers reach it.
BytesPerSecond gpu_rate(const Topology& topology, const Group& group) {
    BytesPerSecond most{0};
    for (const Group::Part& part : group.parts) {
        const auto& nvlink = topology.type_of(part.domain).instance.nvlink;
        if (nvlink) most = std::max(most, nvlink->carries());
    }
    return most;
}

class ClosedForm {
public:
    ClosedForm(const Topology& topology, const Group& group)
        : group_(group),
          gpu_(gpu_rate(topology, group)),
          domain_(group.parts.size() > 1 ? domain_rate(topology, group) : BytesPerSecond{}) {}

    SimTime of(const Schedule& schedule) const {
        const Algorithm* const row = find_algorithm(schedule.algorithm, schedule.collective);
        const LeastBytes least = row != nullptr ? row->least(group_) : LeastBytes{};
        const auto size = static_cast<double>(schedule.size.count);
        // Between domains a GPU has its NICs beside its NVLink, so there only the domain's bytes count.
        const double bytes = group_.parts.size() > 1 ? least.domain : least.gpu;
        const BytesPerSecond rate = group_.parts.size() > 1 ? domain_ : gpu_;
        return bytes > 0 ? from_seconds(size * bytes / rate.value) : SimTime{};
    }

private:
    const Group& group_;
    BytesPerSecond gpu_, domain_;
};

Schedule plan(const Call& call, const Topology& topology, const Group& group, const Nccl& nccl, const Pins& pins) {
    const Choice choice = choose(call.collective, call.size, topology, group, nccl, pins);
    return choice.algorithm->plan(
        topology, group, request_of(choice, moved(call.collective, call.size), 0, topology, group, nccl, pins));
}

void check_group(const Group& group) {
    if (group.places.size() >= 2) return;
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = "",
                       .expected = "a collective needs at least 2 GPUs",
                       .found = fmt::format("{}", group.places.size())}});
}

}  // namespace

double CallPrediction::algbw_gbps() const {
    if (time().fs == 0) return 0;
    return static_cast<double>(call.size.count) / seconds(time()) * 1e-9;
}

double CallPrediction::busbw_gbps(std::uint32_t ranks) const {
    return algbw_gbps() * bus_factor(call.collective, ranks);
}

Prediction predict(const Topology& topology, const Group& group, const Job& job, const Nccl& nccl,
                   const PredictOptions& options) {
    check(job);
    check_group(group);
    std::vector<Schedule> schedules;
    for (const Call& call : job.calls) schedules.push_back(plan(call, topology, group, nccl, options.pins));

    std::vector<Step> steps;
    for (std::uint32_t i = 0; i < schedules.size(); ++i)
        steps.push_back({.after = i > 0 ? std::vector{i - 1} : std::vector<std::uint32_t>{},
                         .not_before = {},
                         .takes = {},
                         .schedule = &schedules[i],
                         .group = &group});

    Prediction prediction;
    prediction.lowered = lower(topology, steps, options.fidelity);
    prediction.timeline = run(prediction.lowered.system);
    prediction.end = prediction.timeline.end;
    const ClosedForm closed_form(topology, group);
    for (std::size_t i = 0; i < schedules.size(); ++i) {
        const StepSpan& span = prediction.lowered.steps[i];
        prediction.calls.push_back({.call = job.calls[i],
                                    .algorithm = std::string(schedules[i].algorithm),
                                    .protocol = schedules[i].protocol,
                                    .channels = schedules[i].exchange
                                                    ? schedules[i].exchange->channels
                                                    : static_cast<std::uint32_t>(schedules[i].channels.size()),
                                    .started = prediction.timeline.started[span.launch],
                                    .ended = prediction.timeline.ended[span.done],
                                    .closed_form = closed_form.of(schedules[i])});
    }
    return prediction;
}

}  // namespace fmsim
