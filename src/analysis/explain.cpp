// What bound a call: the stage that worked longest, and what held its rates while it did.
//
// A channel is a row of stages through which the same bytes pass; in a full pipeline all move at the pace of the
// slowest, which therefore works all the time. So the stage that worked longest is the one to speed up, unless it was
// idle more than half of the call: then latencies bound the call.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

struct StageWork {
    SimTime working;                                 // while anything flows
    std::map<ResourceId, SimTime> held;              // by what; kOwnLimit for its own limit
    std::vector<std::pair<SimTime, SimTime>> flows;  // from when to when

    // The chunks of a hop come one after another, the messages of an exchange beside each other.
    void add_up() {
        if (!std::is_sorted(flows.begin(), flows.end())) std::sort(flows.begin(), flows.end());
        SimTime until{};
        for (const auto& [from, to] : flows) {
            if (to > until) working = working + to - std::max(from, until);
            until = std::max(until, to);
        }
    }
};

// Of each call, of each (channel, stage).
using Stages = std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, StageWork>>;

Stages stages_of(const Prediction& prediction) {
    Stages stages(prediction.calls.size());
    std::map<std::uint32_t, std::size_t> call_of;  // of the steps that are told of
    for (std::size_t call = 0; call < prediction.calls.size(); ++call) call_of[prediction.calls[call].step] = call;
    const Timeline& timeline = prediction.timeline;
    for (std::uint32_t i = 0; i < prediction.lowered.origin.size(); ++i) {
        const ActivityId activity{i};
        const Origin& origin = prediction.lowered.origin[activity];
        const auto call = call_of.find(origin.step);
        if (origin.stage == kNoStage || call == call_of.end()) continue;
        StageWork& stage = stages[call->second][{origin.channel, origin.stage}];
        SimTime flowed = timeline.ended[activity] - timeline.flowing[activity];
        ResourceId by = timeline.held_by[activity];
        if (by == kOwnLimit && prediction.lowered.pace.size() > 0)  // at its own pace it does not work all the time
            if (const Pace& pace = prediction.lowered.pace[activity]; pace.alone.fs > 0) {
                by = pace.held_by;
                flowed = from_seconds(seconds(flowed) * (seconds(pace.working) / seconds(pace.alone)));
            }
        stage.flows.emplace_back(timeline.flowing[activity], timeline.flowing[activity] + flowed);
        SimTime& held = stage.held[by];
        held = held + flowed;
    }
    for (auto& of_call : stages)
        for (auto& [place, stage] : of_call) stage.add_up();
    return stages;
}

CallFinding explain_call(const Topology& topology, const Prediction& prediction, std::size_t call,
                         const Stages& stages) {
    const CallPrediction& predicted = prediction.calls[call];
    const ActivityId launch = prediction.lowered.steps[predicted.step].launch;
    CallFinding finding{.limited_by = "nothing"};
    if (predicted.kind == "compute" || predicted.kind == "delay") {
        finding.limited_by = predicted.kind;
        (predicted.kind == "compute" ? finding.working : finding.waiting) = predicted.time();
        return finding;
    }
    finding.launch = prediction.timeline.ended[launch] - predicted.started;
    const auto busiest = std::max_element(stages[call].begin(), stages[call].end(), [](const auto& a, const auto& b) {
        return a.second.working < b.second.working;
    });
    if (busiest == stages[call].end()) return finding;

    const StageWork& stage = busiest->second;
    finding.working = stage.working;
    finding.waiting = predicted.time() - finding.launch - finding.working;
    const auto holder = std::max_element(stage.held.begin(), stage.held.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto& stands_for = prediction.lowered.stands_for;
    const ResourceId held =
        holder->first == kOwnLimit || stands_for.empty() ? holder->first : stands_for[holder->first.value];
    if (held != kOwnLimit) finding.busiest = resource_name(topology, held);
    if (finding.working < predicted.time() - finding.working)
        finding.limited_by = "latency";
    else if (held == kOwnLimit)
        finding.limited_by = "channels";
    else
        finding.limited_by = resource_kind(topology, held);
    return finding;
}

std::vector<LinkFinding> explain_links(const Topology& topology, const Prediction& prediction) {
    const std::map<LinkId, double> bytes = bytes_over_links(topology, prediction);
    std::map<LinkKind, LinkFinding> of_kind;
    for (const auto& [kind, links] : topology.links.kinds()) of_kind[kind].links = links;
    std::map<LinkKind, double> most;
    const double run = seconds(prediction.end);
    for (const auto& [id, carried] : bytes) {
        const Link link = topology.links[id];
        LinkFinding& finding = of_kind[link.kind];
        const double busy = carried / link.rate.value;
        if (!(busy > most[link.kind])) continue;  // 0 / 0 of a link that is down is neither
        most[link.kind] = busy;
        finding.busiest = topology.name(id);
        finding.bytes = carried;
        finding.utilisation = run > 0 ? busy / run : 0;
    }
    std::vector<LinkFinding> findings;
    for (auto& [kind, finding] : of_kind) {
        finding.kind = kind_name(topology, kind);
        findings.push_back(finding);
    }
    return findings;
}

}  // namespace

Findings explain(const Topology& topology, const Prediction& prediction) {
    Findings findings;
    const Stages stages = stages_of(prediction);
    for (std::size_t call = 0; call < prediction.calls.size(); ++call)
        findings.calls.push_back(explain_call(topology, prediction, call, stages));
    findings.links = explain_links(topology, prediction);
    return findings;
}

}  // namespace fmsim
