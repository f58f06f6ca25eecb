// The slow twin of every schedule: performs it on sets of contributions and shows what each rank ends with. It knows
// no rings or trees; it only does what each transfer says, in a random order that respects what each one needs.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "fmsim/collective.hpp"

namespace fmsim {

// Of a rank, of a block: how often each rank's contribution is in it.
using Contents = std::vector<std::vector<std::vector<int>>>;

// One loop of one channel. Before it each rank holds its own contribution: to all blocks, or of a gather to its own
// block only (the position's number), or of a broadcast the root's alone.
Contents replay(Collective collective, const Group& group, const Channel& channel, std::uint32_t root,
                std::mt19937& random);

// Whether the ranks hold what the collective promises: each contribution exactly once.
bool holds(Collective collective, const Contents& contents, std::uint32_t root);

}  // namespace fmsim
