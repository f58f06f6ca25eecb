// While a hop of a tree flows, most other hops of the operation wait: it gets more of a link than its part of it.
//
// Hops at equal depth flow at the same time, so they divide a link as they are. Of the others each counts as far as the
// windows in which they are busy overlap, with the share of its window in which it moves bytes:
//
//   rate of hop h on a link = rate of the link x w(h) / (sum of w at h's depth + sum over the others of w x busy x
//   overlap)
//
// with w the bytes of a loop. Rates give windows, windows give rates: three rounds from full sharing settle it to a per
// cent. In a full pipeline all windows are the whole time, and the rate is the hop's part. In a ring all hops flow all
// the time. Left out: hops at equal depth that have come out of step fill each other's gaps (a broadcast along 143 hops
// of two racks is 10 % faster in `chunk`).
#include "alone.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace fmsim {
namespace {

constexpr int kRounds = 3;

bool same_pattern(const Pattern& a, const Pattern& b) {
    return a.needs.first == b.needs.first && a.needs.rows == b.needs.rows &&
           std::equal(a.transfers.begin(), a.transfers.end(), b.transfers.begin(), b.transfers.end(),
                      [](const Transfer& x, const Transfer& y) { return x.hop == y.hop && x.chunks == y.chunks; });
}

bool same_steps(const Channel& a, const Channel& b) {
    const auto* left = std::get_if<std::shared_ptr<const Pattern>>(&a.steps);
    const auto* right = std::get_if<std::shared_ptr<const Pattern>>(&b.steps);
    if (left == nullptr || right == nullptr) return left == right;
    return *left == *right || same_pattern(**left, **right);
}

// Shares are sums over the links of a hop, in another order on another rail: the same but for rounding.
bool nearly_alike(const HopOnLinks& a, const HopOnLinks& b) {
    constexpr double kRounding = 1e-12;
    const auto near = [](double x, double y) { return x == y || std::abs(x - y) <= kRounding * std::abs(y); };
    return a.leaves_domain == b.leaves_domain && a.latency == b.latency && a.credit_latency == b.credit_latency &&
           a.unit_cost == b.unit_cost && a.drain == b.drain && a.copy_limit == b.copy_limit &&
           near(a.links_share, b.links_share) && near(a.alone_share, b.alone_share);
}

// The channels of a schedule come in few kinds: each kind is solved once.
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
            runs.push_back(SoloRun(runs[*known]));
            continue;
        }
        kinds.push_back(c);
        runs.push_back(solo_run(schedule, channel, placed[c]));
    }
    return runs;
}

// What the hops of equal depth ask of a link, and when.
struct DepthDemand {
    double full{};          // bytes of a loop while they flow
    double average{};       // over their window
    double begin{}, end{};  // of the window, seconds, each weighted by `full`
    double all{};           // with what flows beside it

    void add(double bytes, double busy, double from, double to) {
        full += bytes;
        average += bytes * busy;
        begin += bytes * from;
        end += bytes * to;
    }
    // The part of this one's window in which `other` flows as well, times what it then asks.
    double beside(const DepthDemand& other) const {
        const double from = std::max(begin / full, other.begin / other.full);
        const double to = std::min(end / full, other.end / other.full);
        const double own = (end - begin) / full;
        return to > from && own > 0 ? other.average * (to - from) / own : 0;
    }
};

class Demands {
public:
    Demands(const Schedule& schedule, const std::vector<ChannelOnLinks>& placed) : placed_(placed) {
        for (const Channel& channel : schedule.channels) {
            orders_.emplace_back(channel.steps, static_cast<std::uint32_t>(channel.hops.size()));
            chunk_bytes_.push_back(0);
            for (const Loop& loop : channel.loops) chunk_bytes_.back() += loop.chunk * schedule.wire_per_data;
        }
    }

    void set_shares(const Topology& topology, const std::vector<SoloRun>& runs, std::vector<ChannelOnLinks>& placed) {
        std::map<LinkId, std::map<std::uint32_t, DepthDemand>> demand;
        each([&](std::size_t c, std::uint32_t h, const HopOnLinks& hop) {
            const BusyWindow& window = window_of(runs[c], h);
            const double from = seconds(window.begin), to = seconds(window.end);
            const double chunks = orders_[c].chunks_a_loop(h);
            const double busy = std::min(1.0, busy_seconds(c, h) / std::max(1e-15, to - from));
            for (const auto& [link, share] : hop.route)
                demand[link][orders_[c].depth(h)].add(share * chunks, busy, from, to);
        });
        for (auto& [link, depths] : demand)
            for (auto& [depth, own] : depths) {
                own.all = own.full;
                for (const auto& [at, other] : depths)
                    if (at != depth) own.all += own.beside(other);
            }
        each([&](std::size_t c, std::uint32_t h, const HopOnLinks&) {
            HopOnLinks& hop = placed[c].hops[h];
            hop.alone_share = std::numeric_limits<double>::infinity();
            for (const auto& [link, share] : hop.route) {
                const double chunks = orders_[c].chunks_a_loop(h);
                const double all = demand.at(link).at(orders_[c].depth(h)).all;
                hop.alone_share = std::min(hop.alone_share, topology.links[link].rate.value * chunks / all);
            }
        });
    }

private:
    template <class Visit>
    void each(Visit visit) const {
        for (std::size_t c = 0; c < placed_.size(); ++c)
            for (std::uint32_t h = 0; h < placed_[c].hops.size(); ++h) visit(c, h, placed_[c].hops[h]);
    }
    static const BusyWindow& window_of(const SoloRun& run, std::uint32_t h) {
        return run.windows[h % run.windows.size()];
    }
    double busy_seconds(std::size_t c, std::uint32_t h) const {
        const HopOnLinks& hop = placed_[c].hops[h];
        return chunk_bytes_[c] * orders_[c].chunks_a_loop(h) /
               solo_rate(hop, hop.leaves_domain ? Stage::flight : Stage::copy);
    }

    const std::vector<ChannelOnLinks>& placed_;
    std::vector<LoopOrder> orders_;
    std::vector<double> chunk_bytes_;  // of a channel: of a chunk, over all loops
};

}  // namespace

std::vector<SoloRun> runs_alone(const Topology& topology, const Schedule& schedule,
                                std::vector<ChannelOnLinks>& placed) {
    std::vector<SoloRun> runs = solo_runs(schedule, placed);
    const bool all_flow = std::all_of(schedule.channels.begin(), schedule.channels.end(), [](const Channel& channel) {
        return std::holds_alternative<RingSteps>(channel.steps);
    });
    if (all_flow || schedule.one_lane_a_rank) return runs;
    Demands demands(schedule, placed);
    for (int round = 0; round < kRounds; ++round) {
        demands.set_shares(topology, runs, placed);
        runs = solo_runs(schedule, placed);
    }
    return runs;
}

}  // namespace fmsim
