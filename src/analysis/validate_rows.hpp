// What the rows of all kinds of tables have in common.
#pragma once

#include <string>

#include "fmsim/analysis.hpp"

namespace fmsim {

// With what was measured, before there is a prediction.
ValidatedRow row_of(const Measurements& table, const MeasuredRow& measured);

// Why a row is shown but not scored; empty when it is.
std::string why_unscored(const Measurements& table, const MeasuredRow& row);

}  // namespace fmsim
