#include "solo_makespan.hpp"

#include <algorithm>

namespace fmsim {
namespace {

// Seconds that each lane and stage works through the whole run, at the rates given; the most of them.
template <class Rate>
double busiest(const Pipeline& pipe, const LoopOrder& order, const ChannelOnLinks& placed, Rate rate) {
    double data = 0;  // of a chunk, over all loops
    for (const Loop& loop : pipe.loops) data += loop.chunk * pipe.wire_per_data;
    std::vector<double> busy(2 * pipe.hops.size());
    double most = 0;
    for (std::uint32_t h = 0; h < pipe.hops.size(); ++h)
        for (const Stage stage : {Stage::copy, Stage::flight}) {
            if (stage == Stage::flight && !pipe.hops[h].leaves_domain) continue;
            double& lane = busy[2 * pipe.hops[h].lane + static_cast<std::size_t>(stage)];
            lane += data * order.chunks_a_loop(h) / rate(placed.hops[h], stage);
            most = std::max(most, lane);
        }
    return most;
}

}  // namespace

std::size_t period_of(const Channel& channel, const ChannelOnLinks& placed) {
    const auto& hops = placed.hops;
    if (!std::holds_alternative<RingSteps>(channel.steps)) return hops.size();
    for (std::size_t period = 1; period < hops.size(); ++period) {
        if (hops.size() % period != 0) continue;
        bool repeats = true;
        for (std::size_t h = period; h < hops.size() && repeats; ++h) repeats = cost_alike(hops[h], hops[h - period]);
        if (repeats) return period;
    }
    return hops.size();
}

Pipeline pipeline_of(const Schedule& schedule, const Channel& channel, const ChannelOnLinks& placed,
                     std::size_t period) {
    Pipeline pipe{.hops = {},
                  .steps = channel.steps,
                  .chunks_in_flight = schedule.chunks_in_flight,
                  .wire_per_data = schedule.wire_per_data,
                  .loops = channel.loops};
    for (std::size_t h = 0; h < period; ++h) {
        const HopOnLinks& hop = placed.hops[h];
        pipe.hops.push_back({hop.leaves_domain, hop.latency, hop.credit_latency, hop.lane, hop.drain});
    }
    return pipe;
}

SoloRun solo_run(const Schedule& schedule, const Channel& channel, const ChannelOnLinks& placed) {
    const Pipeline pipe = pipeline_of(schedule, channel, placed, period_of(channel, placed));
    std::vector<BusyWindow> windows(pipe.hops.size());
    const auto last = walk<SimTime>(pipe, [&](const Cell& cell, std::span<const After<SimTime>> waits) {
        SimTime start{};
        for (const auto& [end, lag] : waits) start = std::max(start, later(end, lag));
        const HopOnLinks& hop = placed.hops[cell.hop];
        const SimTime end =
            later(later(start, cell_cost(hop, cell)), from_seconds(cell.wire_bytes / solo_rate(hop, cell.stage)));
        if (on_route(hop, cell.stage) && !cell.probe) {
            BusyWindow& window = windows[cell.hop];
            window = {std::min(window.begin, start), std::max(window.end, end)};
        }
        return end;
    });
    const LoopOrder order(pipe.steps, static_cast<std::uint32_t>(pipe.hops.size()));
    SoloRun run{.makespan = {},
                .busiest = busiest(pipe, order, placed, full_rate),
                .own_busiest = busiest(pipe, order, placed, own_limit),
                .windows = std::move(windows)};
    for (const auto& [end, lag] : last) run.makespan = std::max(run.makespan, later(end, lag));
    return run;
}

}  // namespace fmsim
