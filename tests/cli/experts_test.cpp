// `collective moe_dispatch` and `moe_combine`: the table, the refusals, and the scenario that `run` reads back.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

std::vector<std::string> experts(std::vector<std::string> more) {
    std::vector<std::string> words{"collective", "moe_dispatch", "--cluster", "p5en.48xlarge:4"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST_CASE("all dispatchers for two batches, as it was agreed") {
    const Ended ended = fmsim(experts({"--tokens", "128,4096"}));
    CHECK(ended.code == 0);
    check_golden("cli/moe_dispatch.txt", ended.output);
}

TEST_CASE("one dispatcher that does not run ends with its reason, several show it in their rows") {
    const Ended one =
        fmsim({"collective", "moe_dispatch", "--cluster", "p5en.48xlarge:16", "--dispatcher", "deepep-low-latency"});
    CHECK(one.code == 4);
    CHECK_THAT(one.errors, Catch::Contains("at most 64 ranks over EFA; the group has 128"));
    const Ended several = fmsim({"collective", "moe_dispatch", "--cluster", "p5en.48xlarge:16", "--format", "json"});
    CHECK(several.code == 0);
    std::size_t refused = 0;
    const auto report = nlohmann::json::parse(several.output);
    for (const auto& row : report["rows"]) refused += row["time_us"].is_null();
    CHECK(refused == 4);
}

TEST_CASE("words that make no sense are refused with their option") {
    CHECK_THAT(fmsim(experts({"--dispatcher", "deepep-norml"})).errors,
               Catch::Contains("--dispatcher: expected a dispatcher; did you mean \"deepep-normal\"?"));
    CHECK(fmsim(experts({"--experts", "100"})).code == 2);
    CHECK_THAT(fmsim(experts({"--experts", "100"})).errors,
               Catch::Contains("--experts: expected a multiple of the 32"));
    CHECK(fmsim(experts({"--dtype", "int3"})).code == 2);
    CHECK(fmsim(experts({"--tokens", "1e9"})).code == 2);
}

TEST_CASE("the scenario predicts the same") {
    const Ended scenario = fmsim(experts({"--dispatcher", "pplx", "--tokens", "64", "--print-scenario"}));
    const Ended ran = run_program({.arguments = {"run", "-", "--format", "json"}, .input = scenario.output});
    REQUIRE(ran.code == 0);
    const Ended swept = fmsim(experts({"--dispatcher", "pplx", "--tokens", "64", "--format", "json"}));
    CHECK(nlohmann::json::parse(ran.output)["operations"][0]["time_us"] ==
          nlohmann::json::parse(swept.output)["rows"][0]["time_us"]);
}

}  // namespace
}  // namespace fmsim::test
