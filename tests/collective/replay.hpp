// The slow twin of every schedule: performs it on sets of contributions and shows what each rank ends with. It knows
// no rings; it only does what each send says.
#pragma once

#include <cstdint>
#include <vector>

#include "fmsim/collective.hpp"

namespace fmsim {

// Of a rank, of a chunk: how often each rank's contribution is in it.
using Contents = std::vector<std::vector<std::vector<int>>>;

// One loop of one channel of a ring all-reduce over `ranks` positions.
Contents replay_ring_all_reduce(const std::vector<Hop>& hops);

// What an all-reduce promises: every rank holds every rank's contribution to every chunk once.
Contents each_rank_once(std::uint32_t ranks);

}  // namespace fmsim
