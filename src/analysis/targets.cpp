// What predictions of published tables are held to.
//
// As in score.cpp quantiles are of each operation of a machine and then averaged, so that a machine with many tables
// does not outvote the others. Tokens to experts have a score of their own.
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

constexpr std::size_t kSources = 3;  // from so many on a machine's bias says something of the machine
constexpr double kMostBias = 10;

double error_of(const ValidatedRow& row) { return (*row.predicted_us / row.measured_us - 1) * 100; }

// Of each machine's operations.
using Errors = std::map<std::pair<std::string, std::string>, std::vector<double>>;

Errors errors_of(const std::vector<ValidatedRow>& rows, const std::function<bool(const ValidatedRow&)>& wanted) {
    Errors errors;
    for (const ValidatedRow& row : rows)
        if (row.scored && !row.collective.starts_with("moe_") && wanted(row))
            errors[{row.machine, row.collective}].push_back(error_of(row));
    return errors;
}

void add_target(AccuracyTargets& all, AccuracyTarget target, const Errors& errors) {
    if (errors.empty()) return;
    target.operations = errors.size();
    for (const auto& [operation, percents] : errors) {
        const ErrorQuantiles of = quantiles_of(percents);
        target.median += of.median / static_cast<double>(errors.size());
        target.p90 += of.p90 / static_cast<double>(errors.size());
    }
    all.targets.push_back(std::move(target));
}

std::vector<MachineBias> biases_of(const std::vector<ValidatedRow>& rows) {
    std::map<std::string, std::set<std::string>> sources;
    const Errors errors = errors_of(rows, [&](const ValidatedRow& row) {
        sources[row.machine].insert(row.source);
        return true;
    });
    std::map<std::string, std::vector<double>> of_machine;  // of its operations
    for (const auto& [operation, percents] : errors) of_machine[operation.first].push_back(quantiles_of(percents).bias);
    std::vector<MachineBias> biases;
    for (const auto& [machine, all] : of_machine)
        if (sources.at(machine).size() >= kSources)
            biases.push_back({machine, sources.at(machine).size(), quantiles_of(all).bias});
    return biases;
}

}  // namespace

bool MachineBias::met() const { return std::abs(bias) <= kMostBias; }

AccuracyTargets accuracy_targets(const std::vector<ValidatedRow>& rows) {
    const auto large = [](const ValidatedRow& row) { return row.size >= kLargeBand; };
    AccuracyTargets all;
    add_target(all, {.what = ">= 1 MiB", .most_median = 8, .most_p90 = 25}, errors_of(rows, large));
    add_target(all, {.what = "< 1 MiB", .most_median = 12, .most_p90 = 35}, errors_of(rows, std::not_fn(large)));
    add_target(all, {.what = ">= 1 MiB, two and more instances over EFA", .most_median = 8, .most_p90 = 20},
               errors_of(rows, [&](const ValidatedRow& row) { return large(row) && row.over == "EFA"; }));
    add_target(all, {.what = ">= 1 MiB, over EFA, without raw writes", .most_median = 8, .most_p90 = 20},
               errors_of(rows, [&](const ValidatedRow& row) {
                   return large(row) && row.over == "EFA" && row.collective != "rdma_write_stream";
               }));
    all.biases = biases_of(rows);
    return all;
}

}  // namespace fmsim
