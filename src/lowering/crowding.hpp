// What a channel's stream becomes, so that it ends with its chunks alone and among others: see crowding.cpp.
#pragma once

#include "solo_makespan.hpp"

namespace fmsim {

struct CrowdedPace {
    SimTime fill;     // waiting
    SimTime span;     // of the bytes, alone
    SimTime tight;    // of the span, what leaves no room on its links; less than they need for all bytes
    double more = 1;  // what it takes of its links, over its bytes
};

// Of a run that says how long it takes among others. fill + span is its makespan alone.
CrowdedPace crowded_pace(const SoloRun& run);

}  // namespace fmsim
