#include <algorithm>
#include <cmath>

#include "fmsim/analysis.hpp"

namespace fmsim {

std::optional<double> measured_us(const Measurements& measurements, Bytes size) {
    for (const MeasuredRow& row : measurements.rows)
        if (row.size == size) return row.time_us;
    return std::nullopt;
}

double error_percent(SimTime predicted, double measured) { return (microseconds(predicted) / measured - 1) * 100; }

ErrorSummary summarise(const std::vector<double>& error_percents) {
    ErrorSummary summary{.rows = error_percents.size()};
    for (const double error : error_percents) {
        summary.mean_percent += std::abs(error) / static_cast<double>(error_percents.size());
        summary.worst_percent = std::max(summary.worst_percent, std::abs(error));
    }
    return summary;
}

}  // namespace fmsim
