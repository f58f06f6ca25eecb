// How far facts are from the measured rows, and how far the plain baseline is.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fmsim/formats.hpp"
#include "kernels/measured.hpp"

namespace fmsim::test {

FactsByGpu shipped_facts() {
    FactsByGpu facts;
    for (const std::uint32_t capability : {80u, 90u, 100u, 103u})
        facts[capability] = Catalogue::shipped().kernels(Gpu{.name = "", .compute_capability = capability});
    return facts;
}

double error_of(const MeasuredRow& row, const FactsByGpu& facts) {
    double flops = 0, bytes = 0, span = 0, best = 0;
    for (const Kernel& kernel : row.kernels) {
        const double one =
            seconds(time_of(kernel, row.model, facts.at(row.model.compute_capability), row.setting).total());
        const Traffic traffic = bytes_of(kernel);
        flops += flops_of(kernel);
        bytes += static_cast<double>(traffic.reads.count + traffic.writes.count);
        span += one;
        best = std::max(best, flops_of(kernel) / one);
    }
    const double rate = row.best_of ? best : (flops > 0 ? flops : bytes) / span;
    return row.rate / rate - 1;
}

double quantile(std::vector<double> values, double share) {
    for (double& value : values) value = std::abs(value);
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<double> baseline_errors(const std::vector<MeasuredRow>& rows) {
    const auto key = [](const MeasuredRow& row) { return row.table + row.gpu + row.kind; };
    std::map<std::string, std::vector<double>> shares;
    for (const MeasuredRow& row : rows) shares[key(row)].push_back(row.rate / row.published);
    std::vector<double> errors;
    for (const MeasuredRow& row : rows)
        errors.push_back(row.rate / row.published / quantile(shares[key(row)], 0.5) - 1);
    return errors;
}

namespace {

struct Errors {
    std::vector<double> ours, plain;
};

std::string line_of(const std::string& key, const Errors& errors) {
    const auto percent = [](const std::vector<double>& values, double share) {
        return values.empty() ? "" : fmt::format("{:.1f}", 100 * quantile(values, share));
    };
    return fmt::format("| {} | {} | {} | {} | {} | {} |", key, errors.ours.size(), percent(errors.ours, .5),
                       percent(errors.ours, .9), percent(errors.plain, .5), percent(errors.plain, .9));
}

}  // namespace

std::vector<std::string> summary_lines(const std::vector<MeasuredRow>& rows, const FactsByGpu& facts) {
    const std::vector<double> plain = baseline_errors(rows);
    std::map<std::string, Errors> kinds, tables;
    const auto key = [](const MeasuredRow& row) { return fmt::format("{} | {} | {}", row.table, row.gpu, row.kind); };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (Errors* errors : {&kinds[key(rows[i])], &tables[rows[i].table]}) {
            errors->ours.push_back(error_of(rows[i], facts));
        }
        kinds[key(rows[i])].plain.push_back(plain[i]);
    }
    // A row alone is its own median: the baseline says nothing there, and such rows stay out of its totals.
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Errors& errors = kinds[key(rows[i])];
        if (errors.ours.size() == 1)
            errors.plain.clear();
        else
            tables[rows[i].table].plain.push_back(plain[i]);
    }
    std::vector<std::string> lines;
    for (const auto& [name, errors] : kinds) lines.push_back(line_of(name, errors));
    for (const auto& [table, errors] : tables) lines.push_back(line_of(table + " | all | all", errors));
    return lines;
}

}  // namespace fmsim::test
