// What a channel's stream becomes, so that it ends with its chunks alone and among others: see crowding.cpp.
#pragma once

#include "solo_makespan.hpp"

namespace fmsim {

struct CrowdedPace {
    SimTime delay;    // before the bytes
    SimTime span;     // of the bytes, alone
    SimTime tail;     // after them
    double more = 1;  // what it takes of its links, over its bytes
};

// Of a run that says how long it takes among others. delay + span + tail is its makespan alone.
CrowdedPace crowded_pace(const SoloRun& run);

}  // namespace fmsim
