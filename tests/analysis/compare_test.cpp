#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"

namespace fmsim {

TEST_CASE("an error is what the prediction is over the measurement") {
    CHECK(error_percent(SimTime{} + 110_us, 100) == Approx(10));
    CHECK(error_percent(SimTime{} + 75_us, 100) == Approx(-25));
}

TEST_CASE("a summary has the mean and the worst of the absolute errors") {
    const ErrorSummary summary = summarise({10, -30, 20});
    CHECK(summary.rows == 3);
    CHECK(summary.mean_percent == Approx(20));
    CHECK(summary.worst_percent == 30);
    CHECK(summarise({}).rows == 0);
}

TEST_CASE("only sizes that were measured have a measured time") {
    const Measurements table{
        .id = "t", .cluster = "c", .collective = "all_reduce", .source = "s", .rows = {{Bytes{8}, 5}}};
    CHECK(measured_us(table, Bytes{8}) == 5);
    CHECK_FALSE(measured_us(table, Bytes{16}));
}

}  // namespace fmsim
