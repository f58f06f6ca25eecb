#include "solo_makespan.hpp"

#include <algorithm>

namespace fmsim {
std::size_t period_of(const ChannelOnLinks& placed) {
    const auto& hops = placed.hops;
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
                  .steps = schedule.steps,
                  .chunks_in_flight = schedule.chunks_in_flight,
                  .wire_per_data = schedule.wire_per_data,
                  .loops = channel.loops};
    for (std::size_t h = 0; h < period; ++h) {
        const HopOnLinks& hop = placed.hops[h];
        pipe.hops.push_back({hop.leaves_domain, hop.latency, hop.credit_latency});
    }
    return pipe;
}

SoloRun solo_run(const Schedule& schedule, const Channel& channel, const ChannelOnLinks& placed) {
    const std::size_t period = period_of(placed);
    const Pipeline pipe = pipeline_of(schedule, channel, placed, period);
    std::vector<double> busy(2 * period), own_busy(2 * period);
    const auto last = walk<SimTime>(pipe, [&](const Cell& cell, std::span<const After<SimTime>> waits) {
        SimTime start{};
        for (const auto& [end, lag] : waits) start = std::max(start, later(end, lag));
        const HopOnLinks& hop = placed.hops[cell.hop];
        const double duration = cell.wire_bytes / solo_rate(hop, cell.stage);
        const std::size_t stage = 2 * std::size_t{cell.hop} + static_cast<std::size_t>(cell.stage);
        busy[stage] += duration;
        own_busy[stage] += cell.wire_bytes / own_limit(hop, cell.stage);
        return later(start, from_seconds(duration));
    });
    SoloRun run{.makespan = {},
                .busiest = *std::max_element(busy.begin(), busy.end()),
                .own_busiest = *std::max_element(own_busy.begin(), own_busy.end())};
    for (const auto& [end, lag] : last) run.makespan = std::max(run.makespan, later(end, lag));
    return run;
}

}  // namespace fmsim
