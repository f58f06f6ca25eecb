// Published kernel measurements as kernels of ours, and how far a set of facts is from each.
//
// Shared by the test that holds the table in docs/models/kernels.md and by bench/kernels, which fits the constants.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fmsim/kernels.hpp"

namespace fmsim::test {

struct MeasuredRow {
    std::string table;  // of tests/data/kernels.json: "gemm"
    std::string gpu;    // as the source names it
    std::string kind;   // dtype of a product, implementation of attention, stream
    std::string source;
    std::string what;  // shape
    Gpu model;         // of the catalogue
    // One after another. A best of a sweep has several: the fastest shape counts, by FLOP/s.
    std::vector<Kernel> kernels;
    bool best_of{};
    Setting setting{};
    double rate{};       // FLOP/s or bytes/s as published
    double published{};  // peak of it, for the plain baseline
};

std::vector<MeasuredRow> measured_rows();

using FactsByGpu = std::map<std::uint32_t, KernelFacts>;  // by compute capability
FactsByGpu shipped_facts();

// Predicted over measured duration, less one: above 0 is too slow.
double error_of(const MeasuredRow& row, const FactsByGpu& facts);

// The same for the plain baseline: one efficiency a table, GPU and kind, the median of those rows.
std::vector<double> baseline_errors(const std::vector<MeasuredRow>& rows);

// "| table | GPU | kind | rows | median | 90th | the same two of the baseline |", in percent, as docs/models/kernels.md
// has them.
std::vector<std::string> summary_lines(const std::vector<MeasuredRow>& rows, const FactsByGpu& facts);

double quantile(std::vector<double> values, double share);  // of |values|

}  // namespace fmsim::test
