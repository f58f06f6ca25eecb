// The report of a job, in each format.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "report/hand_made.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

// 110 us + 60 us; launch 20, waiting 40 + 20, working 60 + 30.
RunReport job() {
    RunReport report{
        .cluster = "toy:2",
        .ranks = 4,
        .groups = {.groups = 1, .domains = 0, .leaves = 0},
        .fidelity = Fidelity::stream,
        .end = 170_us,
        .operations = {call("gradients, layer 0", Bytes{1 << 20}, {}, 110_us),
                       call("loss \"µ\"", Bytes{4}, 110_us, 60_us)},
        .links =
            {{.kind = "NVLink", .busiest = "", .links = 16, .bytes = 0, .utilisation = 0},
             {.kind = "EFA", .busiest = "toy[0]/nic0 -> fabric", .links = 4, .bytes = 1'572'864, .utilisation = 0.75}},
        .provenance = provenance()};
    report.provenance.warnings = {"a warning \x1b[31mred"};
    return report;
}

TEST_CASE("a job is written as text, JSON and CSV") {
    check_golden("report/run.txt", write(job(), Format::text));
    check_golden("report/run.json", write(job(), Format::json));
    check_golden("report/run.csv", write(job(), Format::csv));
}

TEST_CASE("the breakdown adds up to the time") {
    const auto json = nlohmann::json::parse(write(job(), Format::json));
    CHECK(json["time_s"] == Approx(170e-6).epsilon(1e-14));
    CHECK(json["breakdown"]["launch_s"] == Approx(20e-6).epsilon(1e-14));
    CHECK(json["breakdown"]["waiting_s"] == Approx(60e-6).epsilon(1e-14));
    CHECK(json["breakdown"]["working_s"] == Approx(90e-6).epsilon(1e-14));
}

}  // namespace
}  // namespace fmsim::test
