// Suites of the gate: read, refused with a place, and updated without loss.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

const std::string kSuite = R"({
  "x-owner": "network team",
  "scenarios": [
    {
      "x-note": "kept",
      "name": "two",
      "size": "1 GiB",
      "cluster": "p5.48xlarge:2",
      "collective": "all_reduce",
      "metrics": {
        "time_us": {
          "x-why": "kept too",
          "tolerance": "0.5 %",
          "baseline": null
        },
        "busbw_GBps": {
          "baseline": 450
        }
      },
      "before": {
        "rows": [],
        "x-mine": 1
      }
    }
  ],
  "name": "s",
  "allow": [
    {
      "scenario": "two",
      "until": "2027-01-31",
      "reason": "r"
    }
  ]
}
)";

std::string with(const std::string& from, const std::string& to) {
    std::string text = kSuite;
    text.replace(text.find(from), from.size(), to);
    return text;
}

}  // namespace

TEST_CASE("a suite has its scenarios, metrics in their order with lines, and what is allowed") {
    const GateSuite suite = parse_suite(kSuite, "suite.json");
    REQUIRE(suite.scenarios.size() == 1);
    const GateScenario& scenario = suite.scenarios[0];
    CHECK(scenario.collective == "all_reduce");
    CHECK(scenario.size == "1 GiB");
    REQUIRE(scenario.metrics.size() == 2);
    CHECK(scenario.metrics[0].name == "time_us");
    CHECK(scenario.metrics[0].better == Better::lower);
    CHECK(scenario.metrics[0].tolerance == Approx(0.005));
    CHECK_FALSE(scenario.metrics[0].baseline);
    CHECK(scenario.metrics[0].line == 11);
    CHECK(scenario.metrics[1].better == Better::higher);
    CHECK(scenario.metrics[1].tolerance == Approx(0.01));
    CHECK(suite.allow.at(0).until == "2027-01-31");
}

TEST_CASE("what makes no sense is refused with its line and a reason") {
    const auto [from, to, reason] = GENERATE(table<std::string, std::string, std::string>({
        {"\"all_reduce\"", "\"all_redcue\"", "all_reduce"},
        {"\"cluster\"", "\"clustre\"", "did you mean \"cluster\"?"},
        {"\"0.5 %\"", "\"0.5\"", "a percentage"},
        {"\"two\",\n      \"until\"", "\"tow\",\n      \"until\"", "such as \"two\""},
        {"2027-01-31", "2027-13-31", "the last day"},
        {"\"collective\": \"all_reduce\",", "\"collective\": \"all_reduce\", \"results\": \"r.json\",", "one of"},
        {"\"size\": \"1 GiB\",", "", "\"size\""},
        {"450", "\"fast\"", "a number"},
        {"{\n  \"x-owner\"", "[\n  \"x-owner\"", ""},
    }));
    CAPTURE(from, to);
    CHECK_THROWS_WITH(parse_suite(with(from, to), "suite.json"),
                      Catch::Contains("suite.json:") && Catch::Contains(reason));
}

TEST_CASE("an update changes baselines and what it stores itself, and loses nothing else") {
    BaselineUpdate update;
    update.values = {{"time_us", 4400.5}, {"busbw_GBps", 450}};
    update.before = Outcome{"", {}, {{"1 GiB", 0.0044005, {{kBytesPart, 0.004}}, "EFA", "", "Ring Simple"}}};
    const std::map<std::string, Words> facts{{"p5.48xlarge", {{"efa.bandwidth", "11 GB/s"}}}};
    const std::string updated = updated_suite(kSuite, "suite.json", {update}, facts);
    CHECK_THAT(updated, Catch::Contains("\"baseline\": 4400.5") && Catch::Contains("\"x-why\": \"kept too\"") &&
                            Catch::Contains("\"x-note\"") && Catch::Contains("\"x-owner\"") &&
                            Catch::Contains("\"x-mine\": 1") && Catch::Contains("\"reason\": \"r\""));
    // The order of the keys is the user's.
    CHECK(updated.find("\"size\"") < updated.find("\"cluster\""));
    CHECK(updated.find("\"scenarios\"") < updated.find("\"name\": \"s\""));
    const GateSuite suite = parse_suite(updated, "suite.json");
    CHECK(*suite.scenarios[0].metrics[0].baseline == 4400.5);
    CHECK(suite.facts.at("p5.48xlarge") == facts.at("p5.48xlarge"));
    CHECK(suite.scenarios[0].before->rows.at(0).limited_by == "EFA");
    CHECK(suite.scenarios[0].before->rows.at(0).parts.at(0).seconds == Approx(0.004));
    // Once more, and not a byte changes.
    CHECK(updated_suite(updated, "suite.json", {update}, facts) == updated);
    CHECK(updated_suite(kSuite, "suite.json", {}, {}) == kSuite);
}

TEST_CASE("results are numbers by their way in the file") {
    const auto results =
        parse_results(R"({"throughput": 961.963, "batch 32": {"latency_ms": 4253.818}, "on": true})", "r.json");
    CHECK(results == std::map<std::string, double>{{"throughput", 961.963}, {"batch 32/latency_ms", 4253.818}});
    CHECK_THROWS_AS(parse_results("[1]", "r.json"), InputError);
    CHECK_THROWS_AS(parse_results("{", "r.json"), InputError);
}

}  // namespace fmsim
