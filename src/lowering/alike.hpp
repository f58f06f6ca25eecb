// A schedule with one hop for all that behave alike while it runs alone.
//
// The eight heads of an NVLS tree do the same at the same time, each on its own NICs, and so do all its channels of one
// tree. Colour refinement finds it: two hops are told apart by what they cost, by the links that they take, by what
// they wait for and by what waits for them; two links by their rate and by the hops on them. Max-min rates see only
// sums over a link, so what has one colour has one rate at all times (as in docs/models/folding.md).
//
//   4 domains x 8 GPUs, 8 channels of an NVLS tree: 1,408 hops -> 22
#pragma once

#include <vector>

#include "fmsim/engine.hpp"
#include "hop_costs.hpp"

namespace fmsim {

// One channel for all of a kind, one hop for all of a class.
struct AlikeChannels {
    std::vector<HopOnLinks> hops;
    std::vector<std::vector<Use>> uses;  // of a hop, together with all of its class
    Steps steps;
    std::uint32_t first{};  // of the channels of the schedule
};

struct AlikeSchedule {
    std::vector<AlikeChannels> kinds;
    std::vector<std::uint32_t> kind_of;  // of each channel of the schedule
    std::vector<double> capacity;        // of the links that `uses` count
};

// Of patterns: a ring has none.
AlikeSchedule fold_alike(const Topology& topology, const Schedule& schedule, const std::vector<ChannelOnLinks>& placed);

}  // namespace fmsim
