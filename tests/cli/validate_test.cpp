// `validate` on the tables that come with the source, and its refusals.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

const std::string kTables = std::string(FMSIM_SOURCE_DIR) + "/docs/measurements";

TEST_CASE("the published tables that come along: golden text, and JSON with a prediction a row") {
    const Ended text = run_program({.arguments = {"validate", kTables}});
    REQUIRE(text.code == 0);
    check_golden("validate/measurements.txt", text.output);
    const Ended ended = run_program({.arguments = {"validate", kTables, "--format", "json"}});
    REQUIRE(ended.code == 0);
    const auto json = nlohmann::json::parse(ended.output);
    CHECK(json["tables"] == 6);
    for (const auto& row : json["rows"]) {
        CHECK(row["bytes"].is_number_integer());
        CHECK((row.contains("predicted_us") || row.contains("why")));
    }
    CHECK(run_program({.arguments = {"validate", kTables, "--format", "json"}}).output == ended.output);
}

TEST_CASE("training steps: each row has its id and times, or why there is none; pairs score their order") {
    const std::string file = std::string(FMSIM_SOURCE_DIR) + "/tests/data/steps.json";
    const Ended ended = run_program({.arguments = {"validate", file, "--pairs", "--format", "json"}});
    REQUIRE(ended.code == 0);
    const auto json = nlohmann::json::parse(ended.output);
    REQUIRE(json["rows"].size() == 3);
    for (const auto& row : json["rows"]) {
        CHECK(row["id"].is_string());
        CHECK(row["measured_s"].is_number());
        CHECK(row.contains("predicted_s") != row.contains("why"));
    }
    CHECK(json["rows"][2]["why"] == "the cluster is not known");
    REQUIRE(json["pairs"].size() == 1);
    CHECK(json["pairs"][0]["differs"] == "scale");
    CHECK(run_program({.arguments = {"validate", file, "--pairs", "--format", "json"}}).output == ended.output);
}

TEST_CASE("a folder without tables is bad input") {
    CHECK(run_program({.arguments = {"validate", "/nowhere"}}).code == 3);
    CHECK(run_program({.arguments = {"calibrate", "/nowhere"}}).code == 3);
}

}  // namespace
}  // namespace fmsim::test
