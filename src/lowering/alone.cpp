// The hops of a tree share links, and out of step they fill each other's gaps: only running them together tells how
// long they take. So the operation runs alone here, in chunks, with one hop for all that behave alike (alike.hpp).
//
// Loops come to a steady state, of which n and 2 n loops tell the pace: the others take as long as the n more. Buffers
// let the start of a tree run ahead of its end, so n counts the hops on the way. It depends on the schedule alone,
// never on times, which would make results jump where a latency changes a little.
//
// Where hops keep step anyway, the recurrence of one channel says the same for less (keeps_step).
#include "alone.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "alike.hpp"

namespace fmsim {
namespace {

// That tell the pace: for each hop on the longest way, and at least.
constexpr std::uint32_t kLoopsAHop = 2, kLeastLoops = 16;
// Of one run: some half a second. Operations with more take fewer loops.
constexpr double kMostCells = 4e5;

bool same_pattern(const Pattern& a, const Pattern& b) {
    return a.needs.first == b.needs.first && a.needs.rows == b.needs.rows &&
           std::equal(a.transfers.begin(), a.transfers.end(), b.transfers.begin(), b.transfers.end(),
                      [](const Transfer& x, const Transfer& y) { return x.hop == y.hop && x.chunks == y.chunks; });
}

bool same_steps(const Channel& a, const Channel& b) {
    if (const auto* turning = std::get_if<std::shared_ptr<const TurningSteps>>(&a.steps)) {
        const auto* other = std::get_if<std::shared_ptr<const TurningSteps>>(&b.steps);
        return other != nullptr && *turning == *other;  // channels that are cut alike share theirs
    }
    const auto* left = std::get_if<std::shared_ptr<const Pattern>>(&a.steps);
    const auto* right = std::get_if<std::shared_ptr<const Pattern>>(&b.steps);
    if (left == nullptr || right == nullptr) return left == right;
    return *left == *right || same_pattern(**left, **right);
}

// Shares are sums over the links of a hop, in another order on another rail: the same but for rounding.
bool nearly_alike(const HopOnLinks& a, const HopOnLinks& b) {
    constexpr double kRounding = 1e-12;
    return alike_but_for_share(a, b) && (a.links_share == b.links_share || std::abs(a.links_share - b.links_share) <=
                                                                               kRounding * std::abs(b.links_share));
}

// Each channel by its own recurrence. They come in few kinds: each kind is solved once.
std::vector<SoloRun> solo_runs(const Schedule& schedule, const std::vector<ChannelOnLinks>& placed) {
    std::vector<SoloRun> runs;
    std::vector<std::size_t> kinds;
    for (std::size_t c = 0; c < placed.size(); ++c) {
        const Channel& channel = schedule.channels[c];
        const auto known = std::find_if(kinds.begin(), kinds.end(), [&](std::size_t k) {
            return schedule.channels[k].bytes == channel.bytes && same_steps(schedule.channels[k], channel) &&
                   std::equal(placed[k].hops.begin(), placed[k].hops.end(), placed[c].hops.begin(),
                              placed[c].hops.end(), nearly_alike);
        });
        if (known != kinds.end()) {
            runs.push_back(runs[*known]);
            continue;
        }
        kinds.push_back(c);
        runs.push_back(solo_run(schedule, channel, placed[c]));
    }
    return runs;
}

// All kinds together, with `skipped` equal loops left out of each, on links of which they have one part of `among`:
// when they end.
std::vector<SoloRun> run_together(const Schedule& schedule, const AlikeSchedule& alike, std::uint32_t skipped,
                                  double among) {
    SystemBuilder builder;
    for (const double rate : alike.capacity) builder.add_resource(rate / among);
    std::vector<std::vector<After<ActivityId>>> last(alike.kinds.size());
    for (std::uint32_t k = 0; k < alike.kinds.size(); ++k) {
        const AlikeChannels& kind = alike.kinds[k];
        Pipeline pipe = pipeline_of(schedule, schedule.channels[kind.first], kind.hops);
        pipe.steps = kind.steps;
        pipe.loops.erase(pipe.loops.begin(), pipe.loops.begin() + skipped);
        last[k] = walk<ActivityId>(pipe, [&](const Cell& cell, std::span<const After<ActivityId>> waits) {
            const ActivityId id = builder.add(activity_of(kind.hops[cell.hop], cell, kind.uses[cell.hop]));
            for (const auto& [before, lag] : waits) builder.order(before, id, lag);
            return id;
        });
    }
    const Timeline timeline = run(std::move(builder).build());
    std::vector<SoloRun> runs(last.size());
    for (std::uint32_t k = 0; k < last.size(); ++k)
        for (const auto& [end, lag] : last[k]) end_with(runs[k], timeline.ended[end], lag);
    return runs;
}

// Loops that tell the pace: half of a run.
std::uint32_t loops_to_run(const Schedule& schedule, const AlikeSchedule& alike) {
    std::uint32_t longest = 0;
    double cells = 0;  // of a loop
    for (const AlikeChannels& kind : alike.kinds) {
        const LoopOrder order(kind.steps, static_cast<std::uint32_t>(kind.hops.size()));
        const std::uint32_t units = schedule.channels[kind.first].loops.front().units();
        for (std::uint32_t h = 0; h < kind.hops.size(); ++h) {
            longest = std::max(longest, order.depth(h) + 1);
            cells += order.per_loop(h) * (units + (kind.hops[h].leaves_domain ? units : 0));
        }
    }
    const double most = std::max(1.0, kMostCells / 2 / cells);
    return static_cast<std::uint32_t>(std::min<double>(std::max(kLoopsAHop * longest, kLeastLoops), most));
}

// At the start of each channel.
std::uint32_t equal_loops(const Schedule& schedule, const AlikeSchedule& alike) {
    std::size_t least = SIZE_MAX;
    for (const AlikeChannels& kind : alike.kinds) {
        const auto& loops = schedule.channels[kind.first].loops;
        const auto other = std::find_if(loops.begin(), loops.end(), [&](const Loop& loop) {
            return loop.chunk != loops[0].chunk || loop.unit != loops[0].unit;
        });
        least = std::min(least, static_cast<std::size_t>(other - loops.begin()));
    }
    return static_cast<std::uint32_t>(least);
}

// Of each channel, without its work.
std::vector<SoloRun> runs_together(const Schedule& schedule, const AlikeSchedule& alike, double among) {
    const std::uint32_t equal = equal_loops(schedule, alike);
    const std::uint32_t count = loops_to_run(schedule, alike);
    const std::uint32_t skipped = equal > 3 * count ? equal - 2 * count : 0;
    std::vector<SoloRun> of_kind = run_together(schedule, alike, skipped, among);
    if (skipped > 0) {
        const std::vector<SoloRun> half = run_together(schedule, alike, skipped + count, among);
        for (std::size_t k = 0; k < of_kind.size(); ++k) {
            const double loop = seconds(of_kind[k].makespan - half[k].makespan) / count;
            of_kind[k].makespan = later(of_kind[k].makespan, from_seconds(loop * skipped));
        }
    }
    std::vector<SoloRun> runs;
    for (const std::uint32_t kind : alike.kind_of) runs.push_back(of_kind[kind]);
    return runs;
}

// Whether a channel can be solved by itself, with the rates that all hops leave it while they flow: the hops of a ring
// all flow all the time, those of PAT have a lane a rank, and those of a chain (broadcast, reduce) meet no other on a
// NIC, and on NVLink none that holds their SM back.
bool keeps_step(const Schedule& schedule, const std::vector<ChannelOnLinks>& placed) {
    if (schedule.one_lane_a_rank) return true;
    std::unordered_map<std::uint32_t, std::uint32_t> depth_on_link;  // of the flights
    for (std::size_t c = 0; c < placed.size(); ++c) {
        const Channel& channel = schedule.channels[c];
        if (std::holds_alternative<RingSteps>(channel.steps)) continue;
        const LoopOrder order(channel.steps, static_cast<std::uint32_t>(channel.hops.size()));
        for (std::uint32_t h = 0; h < placed[c].hops.size(); ++h) {
            const HopOnLinks& hop = placed[c].hops[h];
            if (!hop.leaves_domain && hop.links_share < hop.copy_limit) return false;
            if (!hop.leaves_domain) continue;
            for (const auto& [link, share] : hop.route)
                if (depth_on_link.try_emplace(link.value, order.depth(h)).first->second != order.depth(h)) return false;
        }
    }
    return true;
}

// Hops of which each flows by a lane of its own or all the time: their recurrence holds for any rates. Those of a
// chain meet on NVLink once their share of it is less than their SM copies.
bool keeps_step_among_others(const Schedule& schedule) {
    return schedule.one_lane_a_rank ||
           std::all_of(schedule.channels.begin(), schedule.channels.end(),
                       [](const Channel& channel) { return std::holds_alternative<RingSteps>(channel.steps); });
}

// The hops on a NIC are at one place of their channels and fly together, so each has one part of `among`. Those on an
// NVLink are at other places: in step all flow at once, out of step the others rest. The middle of both.
std::vector<ChannelOnLinks> among_others(std::vector<ChannelOnLinks> placed, double among) {
    for (ChannelOnLinks& channel : placed)
        for (HopOnLinks& hop : channel.hops) hop.links_share *= hop.leaves_domain ? 1 / among : (1 + 1 / among) / 2;
    return placed;
}

}  // namespace

std::vector<SoloRun> runs_alone(const Topology& topology, const Schedule& schedule,
                                const std::vector<ChannelOnLinks>& placed, bool shared) {
    const bool alone_in_step = keeps_step(schedule, placed);
    const bool among_in_step = !shared || keeps_step_among_others(schedule);
    AlikeSchedule alike;
    if (!alone_in_step || !among_in_step) alike = fold_alike(topology, schedule, placed);
    std::vector<SoloRun> runs = alone_in_step ? solo_runs(schedule, placed) : runs_together(schedule, alike, 1);
    for (std::size_t c = 0; !alone_in_step && c < placed.size(); ++c) {
        const SoloRun work = work_of(schedule, schedule.channels[c], placed[c]);
        runs[c].busiest = work.busiest;
        runs[c].own_busiest = work.own_busiest;
        runs[c].links = work.links;
    }
    if (!shared) return runs;
    const auto among = [&](double count) {
        return among_in_step ? solo_runs(schedule, among_others(placed, count)) : runs_together(schedule, alike, count);
    };
    const std::vector<SoloRun> two = among(2), eight = among(8);
    for (std::size_t c = 0; c < placed.size(); ++c) {
        runs[c].among_two = two[c].makespan;
        runs[c].among_eight = eight[c].makespan;
    }
    return runs;
}

}  // namespace fmsim
