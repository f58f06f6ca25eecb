// Published kernel measurements beside the constants as they stand in topologies/kernels/. The table of errors in
// docs/models/kernels.md is what this test finds; `kernels_fit shipped` (bench/kernels) prints it.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "kernels/measured.hpp"

namespace fmsim::test {
namespace {

std::vector<double> errors_of(const std::string& table) {
    static const std::vector<MeasuredRow> kRows = measured_rows();
    static const FactsByGpu kFacts = shipped_facts();
    std::vector<double> errors;
    for (const MeasuredRow& row : kRows)
        if (row.table == table) errors.push_back(error_of(row, kFacts));
    return errors;
}

TEST_CASE("every measured row is there") {
    CHECK(errors_of("gemm").size() == 41);
    CHECK(errors_of("attention").size() == 124);  // 20 lines of 6 lengths, one not measured, and 5 of one
    CHECK(errors_of("memory_bandwidth").size() == 11);
    CHECK(errors_of("gemm_in_training").size() == 5);
}

TEST_CASE("the errors stay where they are") {
    const auto [name, median, ninetieth] = GENERATE(table<std::string, double, double>({
        {"gemm", .05, .15},
        {"attention", .08, .15},
        {"memory_bandwidth", .05, .05},
    }));
    const std::vector<double> errors = errors_of(name);
    INFO(name);
    CHECK(quantile(errors, .5) <= median);
    CHECK(quantile(errors, .9) <= ninetieth);
}

TEST_CASE("the page on kernels has the errors that there are") {
    std::ostringstream page;
    page << std::ifstream(FMSIM_SOURCE_DIR "/docs/models/kernels.md").rdbuf();
    for (const std::string& line : summary_lines(measured_rows(), shipped_facts())) {
        INFO(line);
        CHECK(page.str().find(line) != std::string::npos);
    }
}

TEST_CASE("a quantile lies between its neighbours") {
    CHECK(quantile({-4, 1, 3}, .5) == 3);
    CHECK(quantile({1, 2}, .5) == 1.5);
    CHECK(quantile({7}, .9) == 7);
}

}  // namespace
}  // namespace fmsim::test
