// From schedules to a system: the calls in a row, each as its fidelity says.
#include <algorithm>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "fmsim/lowering.hpp"
#include "ring_costs.hpp"
#include "solo_makespan.hpp"

namespace fmsim {
namespace {

// Some 350 bytes each: beyond this a plain error beats the operating system's.
constexpr double kMostActivities = 4e7;

class Lowering {
public:
    Lowering(const Topology& topology, const Group& group, Fidelity fidelity)
        : topology_(topology), group_(group), fidelity_(fidelity) {
        for (const Link& link : topology.links.rows) builder_.add_resource(link.rate.value);
    }
    void add_call(const Schedule& schedule);
    Lowered finish() &&;

private:
    void stream(const Schedule& schedule, std::uint32_t c, const ChannelOnLinks& placed);
    void chunks(const Schedule& schedule, std::uint32_t c, const ChannelOnLinks& placed);
    ActivityId add(const Activity& activity, std::uint32_t channel, std::uint32_t stage);
    const SoloRun& solo(const Schedule& schedule, const Channel& channel, const ChannelOnLinks& placed);
    void refuse_too_many(const Schedule& schedule) const;

    const Topology& topology_;
    const Group& group_;
    const Fidelity fidelity_;
    SystemBuilder builder_;
    Lowered lowered_;
    std::uint32_t call_ = 0;
    CallSpan span_{};
    std::vector<After<ActivityId>> ends_;  // of the channels of the call at hand

    // The channels of a call come in few kinds: each kind is solved once.
    struct Solved {
        const Channel* channel;
        const ChannelOnLinks* placed;
        SoloRun run;
    };
    std::vector<Solved> solved_;
};

ActivityId Lowering::add(const Activity& activity, std::uint32_t channel, std::uint32_t stage) {
    lowered_.origin.rows.push_back({call_, channel, stage});
    return builder_.add(activity);
}

void Lowering::add_call(const Schedule& schedule) {
    call_ = static_cast<std::uint32_t>(lowered_.calls.size());
    const SimTime launch = schedule.channels.empty() ? SimTime{} : schedule.launch;
    span_.launch = add({.delay = launch}, kNoStage, kNoStage);
    if (call_ > 0) builder_.order(lowered_.calls.back().done, span_.launch);
    ends_.clear();
    solved_.clear();
    if (fidelity_ == Fidelity::chunk) refuse_too_many(schedule);

    const auto placed = place(topology_, group_, schedule);
    for (std::uint32_t c = 0; c < placed.size(); ++c) {
        if (fidelity_ == Fidelity::stream)
            stream(schedule, c, placed[c]);
        else
            chunks(schedule, c, placed[c]);
    }
    span_.done = add({}, kNoStage, kNoStage);
    builder_.order(span_.launch, span_.done);
    for (const auto& [end, lag] : ends_) builder_.order(end, span_.done, lag);
    lowered_.calls.push_back(span_);
}

// All links of a ring at once, each with its part of the bytes of an edge.
std::vector<Use> uses_of_ring(const ChannelOnLinks& placed) {
    std::map<ResourceId, double> weights;
    for (const HopOnLinks& hop : placed.hops)
        for (const auto& [link, share] : hop.route) weights[ResourceId{link.value}] += share;
    std::vector<Use> uses;
    for (const auto& [resource, weight] : weights) uses.push_back({resource, weight});
    return uses;
}

// The work counts wire bytes of an edge, so that all channels that share a NIC keep the same pace, whatever else their
// bytes cross.
void Lowering::stream(const Schedule& schedule, std::uint32_t c, const ChannelOnLinks& placed) {
    const std::vector<Use> uses = uses_of_ring(placed);
    double work = 0;
    for (const Loop& loop : schedule.channels[c].loops) work += loop.chunk * schedule.steps * schedule.wire_per_data;

    const SoloRun& alone = solo(schedule, schedule.channels[c], placed);
    const ActivityId flow = add({.delay = std::max(SimTime{}, alone.makespan - from_seconds(alone.busiest)),
                                 .work = work,
                                 .rate_limit = work / alone.own_busiest,
                                 .uses = uses},
                                c, 0);
    builder_.order(span_.launch, flow);
    ends_.push_back({flow, {}});
}

const SoloRun& Lowering::solo(const Schedule& schedule, const Channel& channel, const ChannelOnLinks& placed) {
    const auto known = std::find_if(solved_.begin(), solved_.end(), [&](const Solved& solved) {
        return solved.channel->bytes == channel.bytes &&
               std::equal(solved.placed->hops.begin(), solved.placed->hops.end(), placed.hops.begin(),
                          placed.hops.end(), cost_alike);
    });
    if (known != solved_.end()) return known->run;
    solved_.push_back({&channel, &placed, solo_run(schedule, channel, placed)});
    return solved_.back().run;
}

void Lowering::chunks(const Schedule& schedule, std::uint32_t c, const ChannelOnLinks& placed) {
    const Pipeline pipe = pipeline_of(schedule, schedule.channels[c], placed, placed.hops.size());
    std::vector<std::vector<Use>> uses(placed.hops.size());
    for (std::size_t h = 0; h < uses.size(); ++h)
        for (const auto& [link, share] : placed.hops[h].route) uses[h].push_back({ResourceId{link.value}, share});

    const auto last = walk<ActivityId>(pipe, [&](const Cell& cell, std::span<const After<ActivityId>> waits) {
        const HopOnLinks& hop = placed.hops[cell.hop];
        const ActivityId made =
            add({.work = cell.wire_bytes,
                 .rate_limit = own_limit(hop, cell.stage),
                 .uses = on_route(hop, cell.stage) ? std::span<const Use>(uses[cell.hop]) : std::span<const Use>{}},
                c, 2 * cell.hop + static_cast<std::uint32_t>(cell.stage));
        for (const auto& [before, lag] : waits) builder_.order(before, made, lag);
        if (waits.empty()) builder_.order(span_.launch, made);
        return made;
    });
    ends_.insert(ends_.end(), last.begin(), last.end());
}

void Lowering::refuse_too_many(const Schedule& schedule) const {
    double cells = 0;
    for (const Channel& channel : schedule.channels)
        for (const Loop& loop : channel.loops)
            cells += static_cast<double>(channel.hops.size()) * schedule.steps * loop.units();
    if (cells > kMostActivities)
        throw LimitReached(
            fmt::format("chunk fidelity would need {:.2g} transfers for {}; the most is {:.0g}. Use "
                        "stream fidelity, or fewer ranks",
                        cells, to_text(schedule.size), kMostActivities));
}

Lowered Lowering::finish() && {
    lowered_.system = std::move(builder_).build();
    return std::move(lowered_);
}

}  // namespace

Lowered lower(const Topology& topology, const Group& group, const std::vector<Schedule>& schedules, Fidelity fidelity) {
    Lowering lowering(topology, group, fidelity);
    for (const Schedule& schedule : schedules) lowering.add_call(schedule);
    return std::move(lowering).finish();
}

}  // namespace fmsim
