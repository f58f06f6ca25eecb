// `solve` on the golden cases of an exact solver (tests/data/maxmin-golden.json).
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

using nlohmann::json;

const std::string kCases = FMSIM_SOURCE_DIR "/tests/data/maxmin-golden.json";

TEST_CASE("solve gives cases and flows in the input's order, to 1e-9 of the exact times") {
    const Ended ended = fmsim({"solve", kCases, "--format", "json"});
    REQUIRE(ended.code == 0);
    CHECK(ended.errors.empty());
    const json solved = json::parse(ended.output).at("cases");
    const json golden = json::parse(read_whole(kCases)).at("cases");
    REQUIRE(solved.size() == golden.size());
    for (std::size_t c = 0; c < golden.size(); ++c) {
        CAPTURE(golden[c]["id"]);
        CHECK(solved[c]["id"] == golden[c]["id"]);
        REQUIRE(solved[c]["expected"].size() == golden[c]["flows"].size());
        for (std::size_t f = 0; f < golden[c]["flows"].size(); ++f) {
            const json& flow = solved[c]["expected"][f];
            CHECK(flow["id"] == golden[c]["flows"][f]["id"]);
            const double exact = golden[c]["expected"][f]["finish_s"];
            CHECK(std::abs(flow["finish_s"].get<double>() - exact) <= 1e-9 * exact);
        }
    }
}

TEST_CASE("solve's CSV has a row a flow") {
    const Ended ended = fmsim({"solve", kCases, "--format", "csv"});
    REQUIRE(ended.code == 0);
    std::size_t flows = 0;
    const json cases = json::parse(read_whole(kCases)).at("cases");
    for (const json& one : cases) flows += one["flows"].size();
    CHECK(ended.output.starts_with("case,flow,finish_s\n"));
    CHECK(static_cast<std::size_t>(std::count(ended.output.begin(), ended.output.end(), '\n')) == flows + 1);
}

}  // namespace
}  // namespace fmsim::test
