// SimGrid as a plain max-min fair oracle for a set of flows that start at given times.
#pragma once

#include <vector>

#include "engine/draft.hpp"

namespace fmsim::test {

// The seconds at which the flows end, in a process of its own: a simulation of SimGrid is a singleton. Each flow is an
// activity with weight 1 on each resource of its route, and its delay is when it starts; nothing else is looked at.
// Throws std::runtime_error when that process fails.
std::vector<double> simgrid_ends(const Draft& draft);

}  // namespace fmsim::test
