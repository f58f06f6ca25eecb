// How far predictions are from measurements, by machine, operation and band of sizes.
//
// Quantiles are taken for each (machine, operation) and then averaged, so that a machine with many published tables
// does not outvote the others. Beside the model stands the plainest one: latency + bytes / bandwidth, whose two
// parameters are fitted to the very rows of a machine's operation. It minimises the sum of squared relative errors:
//
//   f(x) = a + b x,   sum (f(x_i) / t_i - 1)^2 least   <=>   [S11 Sx1; Sx1 Sxx] [a; b] = [S1; Sx]
//
// with S11 = sum 1/t^2, Sx1 = sum x/t^2, Sxx = sum x^2/t^2, S1 = sum 1/t, Sx = sum x/t. Where a or b comes out
// negative it is 0 and the other alone is fitted.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

struct Line {
    double a{}, b{};
    double at(double x) const { return a + b * x; }
};

Line fitted(const std::vector<const ValidatedRow*>& rows) {
    double s11 = 0, sx1 = 0, sxx = 0, s1 = 0, sx = 0;
    for (const ValidatedRow* row : rows) {
        const double x = static_cast<double>(row->size.count), w = 1 / row->measured_us;
        s11 += w * w;
        sx1 += x * w * w;
        sxx += x * x * w * w;
        s1 += w;
        sx += x * w;
    }
    const double determinant = s11 * sxx - sx1 * sx1;
    if (determinant > 1e-9 * s11 * sxx) {
        const Line both{(s1 * sxx - sx * sx1) / determinant, (s11 * sx - sx1 * s1) / determinant};
        if (both.a >= 0 && both.b >= 0) return both;
    }
    const double by_bytes = sxx > 0 ? sx / sxx : 0, by_latency = s1 / s11;
    // What each explains of the sum of squares, which without a line is the number of rows.
    return by_bytes * sx > by_latency * s1 ? Line{0, by_bytes} : Line{by_latency, 0};
}

// Linear between the order statistics.
double quantile(const std::vector<double>& sorted, double q) {
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

BandScore band_score(const std::vector<const ValidatedRow*>& rows, const Line& line, bool large) {
    BandScore band{.machine = rows.front()->machine, .collective = rows.front()->collective, .large = large};
    std::vector<double> model, fit;
    std::set<std::string_view> sources;
    for (const ValidatedRow* row : rows) {
        model.push_back((*row->predicted_us / row->measured_us - 1) * 100);
        fit.push_back((line.at(static_cast<double>(row->size.count)) / row->measured_us - 1) * 100);
        sources.insert(row->source);
    }
    band.rows = rows.size();
    band.sources = sources.size();
    band.model = quantiles_of(model);
    band.fit = quantiles_of(fit);
    return band;
}

void add(ErrorQuantiles& sum, const ErrorQuantiles& one) {
    sum.median += one.median;
    sum.p90 += one.p90;
    sum.bias += one.bias;
    sum.worst = std::max(sum.worst, one.worst);
}
void divide(ErrorQuantiles& sum, double count) {
    sum.median /= count;
    sum.p90 /= count;
    sum.bias /= count;
}

std::optional<BandScore> mean_of(const std::vector<BandScore>& bands, bool large) {
    BandScore mean{.large = large};
    double count = 0;
    for (const BandScore& band : bands) {
        if (band.large != large) continue;
        mean.rows += band.rows;
        add(mean.model, band.model);
        add(mean.fit, band.fit);
        ++count;
    }
    if (count == 0) return std::nullopt;
    divide(mean.model, count);
    divide(mean.fit, count);
    return mean;
}

}  // namespace

ErrorQuantiles quantiles_of(const std::vector<double>& error_percents) {
    ErrorQuantiles all;
    if (error_percents.empty()) return all;
    std::vector<double> sizes;
    for (const double error : error_percents) {
        sizes.push_back(std::abs(error));
        all.bias += error / static_cast<double>(error_percents.size());
    }
    std::sort(sizes.begin(), sizes.end());
    all.median = quantile(sizes, 0.5);
    all.p90 = quantile(sizes, 0.9);
    all.worst = sizes.back();
    return all;
}

Score score(const std::vector<ValidatedRow>& rows) {
    std::map<std::pair<std::string, std::string>, std::vector<const ValidatedRow*>> operations;
    for (const ValidatedRow& row : rows)
        if (row.scored) operations[{row.machine, row.collective}].push_back(&row);
    Score score;
    for (const auto& [operation, all] : operations) {
        const Line line = fitted(all);
        for (const bool large : {false, true}) {
            std::vector<const ValidatedRow*> band;
            for (const ValidatedRow* row : all)
                if ((row->size >= kLargeBand) == large) band.push_back(row);
            if (!band.empty()) score.bands.push_back(band_score(band, line, large));
        }
    }
    score.small = mean_of(score.bands, false);
    score.large = mean_of(score.bands, true);
    return score;
}

}  // namespace fmsim
