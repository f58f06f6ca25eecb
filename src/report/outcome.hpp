// What the exchanges of a training step cross, for its tables and its outcome.
#pragma once

#include <string>

#include "fmsim/report.hpp"
#include "fmsim/training.hpp"

namespace fmsim {

// "EFA" of one on several domains, else "NVLink".
std::string over(const TrainingReport& report, const ExchangeUse& use);
// Of a part of the step the widest of its exchanges; empty of one without.
std::string over(const TrainingReport& report, StepPart part);

}  // namespace fmsim
