// The report of a sweep over sizes, in each format, alone and beside a measurement.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "report/hand_made.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

// 1 GB in 20 ms is 50 GB/s, and with 4 ranks a bus bandwidth of 75 GB/s.
SweepReport sweep() {
    return {.cluster = "toy:2",
            .ranks = 4,
            .domains = 2,
            .collective = Collective::all_reduce,
            .fidelity = Fidelity::stream,
            .rows = {call("8 B", Bytes{8}, {}, 110_us), call("1 GB", Bytes{1'000'000'000}, {}, 20'000_us)},
            .measurements = {},
            .provenance = provenance()};
}

SweepReport beside() {
    SweepReport report = sweep();
    report.measurements = Measurements{.id = "table 1",
                                       .cluster = "toy:2",
                                       .collective = "all_reduce",
                                       .source = "a page, \x1b[31mred",
                                       .rows = {{Bytes{8}, 100}}};
    report.rows[0].measured_us = 100;  // predicted 110: 10 % more
    return report;
}

TEST_CASE("a sweep is written as text, JSON and CSV") {
    check_golden("report/sweep.txt", write(sweep(), Format::text));
    check_golden("report/sweep.json", write(sweep(), Format::json));
    check_golden("report/sweep.csv", write(sweep(), Format::csv));
}

TEST_CASE("a sweep beside a measurement is written as text, JSON and CSV") {
    check_golden("report/beside.txt", write(beside(), Format::text));
    check_golden("report/beside.json", write(beside(), Format::json));
    check_golden("report/beside.csv", write(beside(), Format::csv));
}

TEST_CASE("bandwidths are those of nccl-tests, and the error is in percent of the measured") {
    const auto json = nlohmann::json::parse(write(beside(), Format::json));
    CHECK(json["rows"][1]["time_us"] == Approx(20'000).epsilon(1e-15));
    CHECK(json["rows"][1]["algbw_GBps"] == Approx(50).epsilon(1e-14));
    CHECK(json["rows"][1]["busbw_GBps"] == Approx(75).epsilon(1e-14));
    CHECK(json["rows"][0]["error_percent"] == Approx(10).epsilon(1e-12));
    CHECK(json["rows"][1]["error_percent"].is_null());
    CHECK(json["measurements"]["rows"] == 1);
    CHECK(json["measurements"]["mean_error_percent"] == Approx(10).epsilon(1e-12));
    CHECK(json["measurements"]["closed_form_worst_error_percent"] == Approx(45).epsilon(1e-12));  // 55 of 100
}

TEST_CASE("bus bandwidth over the line is explained, up to it is not") {
    SweepReport report = sweep();  // 75 GB/s of bus
    const auto said = [&](BytesPerSecond line) {
        report.line_rate = line;
        return write(report, Format::text).find("# busbw over the") != std::string::npos;
    };
    CHECK(said(74_GBps));
    CHECK_FALSE(said(76_GBps));
    CHECK_FALSE(said({}));
    report.collective = Collective::all_gather;
    CHECK_FALSE(said(74_GBps));
}

TEST_CASE("text that is no UTF-8 is replaced in JSON, not a reason to fail") {
    SweepReport report = sweep();
    report.cluster = "toy\xff";
    CHECK(nlohmann::json::parse(write(report, Format::json))["cluster"] == "toy\xef\xbf\xbd");
}

}  // namespace
}  // namespace fmsim::test
