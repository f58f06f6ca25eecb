// Finish times of bare systems, in each format.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fmsim/report.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

std::vector<SolvedCase> solved() {
    return {{"b, first", {{"f1", from_seconds(1.5)}, {"f0", from_seconds(0.1)}}},
            {"a", {}},
            {"c", {{"f \"µ\"", SimTime{1}}, {"last", SimTime::max()}}}};
}

TEST_CASE("finish times are written as text, JSON and CSV") {
    check_golden("report/solve.txt", write(solved(), Format::text));
    check_golden("report/solve.json", write(solved(), Format::json));
    check_golden("report/solve.csv", write(solved(), Format::csv));
}

TEST_CASE("cases and flows keep their order, those without flows stay") {
    const auto json = nlohmann::json::parse(write(solved(), Format::json));
    REQUIRE(json["cases"].size() == 3);
    CHECK(json["cases"][0]["id"] == "b, first");
    CHECK(json["cases"][0]["expected"][0]["id"] == "f1");
    CHECK(json["cases"][0]["expected"][1]["finish_s"] == 0.1);
    CHECK(json["cases"][1]["expected"].empty());
}

TEST_CASE("no cases at all are an empty list") {
    CHECK(nlohmann::json::parse(write(std::vector<SolvedCase>{}, Format::json))["cases"].empty());
}

}  // namespace
}  // namespace fmsim::test
