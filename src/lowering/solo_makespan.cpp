#include "solo_makespan.hpp"

#include <algorithm>
#include <limits>

namespace fmsim {
namespace {

// What the links of a stage give it, whatever its SM could do.
double links_share(const HopOnLinks& hop, Stage stage) {
    return on_route(hop, stage) ? hop.links_share : std::numeric_limits<double>::infinity();
}

// Seconds that each lane and stage works through the whole run, at the rates given; the most of them.
template <class Rate>
double busiest(const Schedule& schedule, const Channel& channel, const LoopCounts& counts,
               std::span<const HopOnLinks> hops, Rate rate) {
    double data = 0;  // of a chunk, over all loops
    for (const Loop& loop : channel.loops) data += loop.chunk * schedule.wire_per_data;
    std::uint32_t lanes = 0;
    for (const HopOnLinks& hop : hops) lanes = std::max(lanes, hop.lane + 1);
    std::vector<double> busy(2 * std::size_t{lanes});
    double most = 0;
    for (std::uint32_t h = 0; h < hops.size(); ++h)
        for (const Stage stage : {Stage::copy, Stage::flight}) {
            if (stage == Stage::flight && !hops[h].leaves_domain) continue;
            double& lane = busy[2 * hops[h].lane + static_cast<std::size_t>(stage)];
            lane += data * counts.chunks_a_loop(h) / rate(hops[h], stage);
            most = std::max(most, lane);
        }
    return most;
}

// The least after which steps can repeat themselves; those of a pattern do not.
std::size_t hops_of_a_rank(const Steps& steps, std::size_t all) {
    if (std::holds_alternative<RingSteps>(steps)) return 1;
    if (const auto* turning = std::get_if<std::shared_ptr<const TurningSteps>>(&steps)) return (*turning)->hops;
    return all;
}

}  // namespace

std::size_t period_of(const Channel& channel, const ChannelOnLinks& placed) {
    const auto& hops = placed.hops;
    const std::size_t unit = hops_of_a_rank(channel.steps, hops.size());
    for (std::size_t period = unit; period < hops.size(); period += unit) {
        if (hops.size() % period != 0) continue;
        bool repeats = true;
        for (std::size_t h = period; h < hops.size() && repeats; ++h) repeats = cost_alike(hops[h], hops[h - period]);
        if (repeats) return period;
    }
    return hops.size();
}

Pipeline pipeline_of(const Schedule& schedule, const Channel& channel, std::span<const HopOnLinks> hops) {
    Pipeline pipe{.hops = {},
                  .steps = channel.steps,
                  .chunks_in_flight = schedule.chunks_in_flight,
                  .wire_per_data = schedule.wire_per_data,
                  .loops = channel.loops};
    for (const HopOnLinks& hop : hops)
        pipe.hops.push_back({hop.leaves_domain, hop.latency, hop.credit_latency, hop.lane, hop.drain});
    return pipe;
}

SoloRun work_of(const Schedule& schedule, const Channel& channel, const ChannelOnLinks& placed) {
    const auto period = std::span(placed.hops).first(period_of(channel, placed));
    const LoopCounts counts(channel.steps, static_cast<std::uint32_t>(period.size()));
    return {.makespan = {},
            .last_latency = {},
            .busiest = busiest(schedule, channel, counts, period, full_rate),
            .own_busiest = busiest(schedule, channel, counts, period, own_limit),
            .links = busiest(schedule, channel, counts, period, links_share),
            .among_two = {},
            .among_eight = {}};
}

void end_with(SoloRun& run, SimTime end, SimTime latency) {
    const SimTime arrival = later(end, latency);
    if (arrival < run.makespan || (arrival == run.makespan && latency < run.last_latency)) return;
    run.makespan = arrival;
    run.last_latency = latency;
}

SoloRun solo_run(const Schedule& schedule, const Channel& channel, const ChannelOnLinks& placed) {
    SoloRun run = work_of(schedule, channel, placed);
    const Pipeline pipe = pipeline_of(schedule, channel, std::span(placed.hops).first(period_of(channel, placed)));
    const auto last = walk<SimTime>(pipe, [&](const Cell& cell, std::span<const After<SimTime>> waits) {
        SimTime start{};
        for (const auto& [end, lag] : waits) start = std::max(start, later(end, lag));
        const HopOnLinks& hop = placed.hops[cell.hop];
        return later(later(start, cell_cost(hop, cell)), from_seconds(cell.wire_bytes / full_rate(hop, cell.stage)));
    });
    for (const auto& [end, lag] : last) end_with(run, end, lag);
    return run;
}

}  // namespace fmsim
