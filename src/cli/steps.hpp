// Predictions for measured training steps, on all processors.
#pragma once

#include <vector>

#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"

namespace fmsim::cli {

// In their order, with the plain baseline beside. Steps of one cluster share what its collectives take, and those of
// different clusters share nothing, so threads change nothing but the time.
std::vector<ComparedStep> compare_all(const std::vector<MeasuredStep>& steps, const Catalogue& catalogue);

}  // namespace fmsim::cli
