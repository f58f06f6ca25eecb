// How long a channel takes alone, by the (max,+) recurrence over the cells of its pipeline.
//
//   end(cell) = max over what it waits for of (end + lag) + its own duration
//
// which is what the engine would find, one chunk activity at a time, if nothing else shared the links. Where a ring
// repeats the same hops (every domain alike), one period of it is computed and stands for all: the recurrence then
// costs O(period x chunks x units), whatever the number of ranks. So where the ranks of steps that turn (PAT) are
// alike: they end each transfer at the same moment, and what one waits for of another it waits for of itself.
//
// By hand: 2 ranks, 1 unit a chunk, 1 byte at 1 byte/ns, latency 5 ns: 2 steps a loop. Step 0 ends at 1 ns on both
// hops, its data arrive at 6, step 1 ends at 7 and arrives at 12 ns.
#pragma once

#include <span>

#include "fmsim/base.hpp"
#include "hop_costs.hpp"

namespace fmsim {

struct SoloRun {
    SimTime makespan;      // from the first byte to the arrival of the last
    SimTime last_latency;  // of the hop that ends last: no bytes move meanwhile
    double busiest{};      // seconds that the busiest stage works; the channel's rate alone is its bytes / this
    double own_busiest{};  // the same if links were no limit
    double links{};        // seconds that the busiest of its links works, with all channels of the operation on it
    // The makespan when so many as the operation, in step with it, share its links; 0: not asked for.
    SimTime among_two, among_eight;
};

// Without the makespan and its last latency.
SoloRun work_of(const Schedule& schedule, const Channel& channel, const ChannelOnLinks& placed);
SoloRun solo_run(const Schedule& schedule, const Channel& channel, const ChannelOnLinks& placed);

// The latest arrival.
void end_with(SoloRun& run, SimTime end, SimTime latency);

// The pipeline of a channel over `hops`: all of its own, or one period of them for all.
Pipeline pipeline_of(const Schedule& schedule, const Channel& channel, std::span<const HopOnLinks> hops);

// The smallest number of hops after which a ring, or steps that turn, repeat themselves.
std::size_t period_of(const Channel& channel, const ChannelOnLinks& placed);

}  // namespace fmsim
