// The slow twin of src/engine: the same rules, written to be checked by reading, with nothing kept from one event to
// the next that could be computed again.
//
// Time is a long double in seconds, never rounded. At every event all activities are looked at, and the rates of all
// of them are filled from zero.
// Cost: events x levels x (activities + uses).
#pragma once

#include <vector>

#include "fmsim/engine.hpp"

namespace fmsim::test {

// In seconds; infinity for what never came.
struct PlainTimeline {
    std::vector<long double> started;
    std::vector<long double> flowing;
    std::vector<long double> ended;
    std::size_t instants{};
};

PlainTimeline run_plainly(const System& system);

// The max-min fair rate of each activity that is `flowing`, 0 for the others.
std::vector<long double> plain_rates(const System& system, const std::vector<bool>& flowing,
                                     const std::vector<long double>& available);

}  // namespace fmsim::test
