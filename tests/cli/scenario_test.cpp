// --print-scenario gives a file that `run` takes for the same question; `schema` gives what such a file must look like.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using Words = std::vector<std::string>;

std::string output_of(const Words& words, const std::string& input = "") {
    const Ended ended = run_program({.arguments = words, .input = input});
    CAPTURE(ended.errors);
    REQUIRE(ended.code == 0);
    return ended.output;
}

// All but the hash of the words.
json report_of(const Words& words, const std::string& input = "") {
    json report = json::parse(output_of(words, input));
    report.erase("inputs_hash");
    return report;
}

TEST_CASE("a printed scenario of run predicts what the words did, without them") {
    const std::string job = R"({"name": "j", "operations": [{"collective": "all_reduce", "size": "1 MiB", "repeat": 2},
                                                            {"collective": "all_reduce", "size": 100}]})";
    const Words words{"run",
                      "-",
                      "--cluster",
                      "p5.48xlarge:2",
                      "--fidelity",
                      "chunk",
                      "--gpus",
                      "8",
                      "--per-domain",
                      "4",
                      "--placement",
                      "spread",
                      "--algo",
                      "Ring",
                      "--proto",
                      "LL",
                      "--max-channels",
                      "2"};
    Words print = words, report = words;
    print.push_back("--print-scenario");
    report.insert(report.end(), {"--format", "json"});
    const std::string scenario = output_of(print, job);
    CHECK(output_of({"run", "-", "--print-scenario"}, scenario) == scenario);
    CHECK(report_of({"run", "-", "--format", "json"}, scenario) == report_of(report, job));
}

TEST_CASE("a printed sweep is a workload of its sizes in turn, each as fast as alone") {
    const Words sweep{"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--sizes", "8,1MiB,8"};
    Words print = sweep, ask = sweep;
    print.push_back("--print-scenario");
    ask.insert(ask.end(), {"--format", "json"});
    const std::string scenario = output_of(print);
    check_golden("cli/scenario_sweep.json", scenario);
    const json alone = report_of(ask), in_turn = report_of({"run", "-", "--format", "json"}, scenario);
    REQUIRE(in_turn["operations"].size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(in_turn["operations"][i]["time_us"].get<double>() ==
              Approx(alone["rows"][i]["time_us"].get<double>()).epsilon(1e-12));
}

TEST_CASE("a word of the command line goes before one of the file") {
    const std::string job =
        R"({"scenario": {"cluster": "p5.48xlarge:2"}, "operations": [{"collective": "all_reduce", "size": 8}]})";
    CHECK(report_of({"run", "-", "--format", "json"}, job)["ranks"] == 16);
    CHECK(report_of({"run", "-", "--cluster", "p5.48xlarge:3", "--format", "json"}, job)["ranks"] == 24);
    const Ended none = run_program(
        {.arguments = {"run", "-"}, .input = R"({"operations": [{"collective": "all_reduce", "size": 8}]})"});
    CHECK(none.code == 2);
    CHECK_THAT(none.errors, Contains("--cluster: expected a cluster, here or in the scenario of the workload file"));
}

TEST_CASE("a single job's placement holds where the command line has none") {
    const std::string job = R"({"placement": {"gpus": 8}, "operations": [{"collective": "all_reduce", "size": 8}]})";
    CHECK(report_of({"run", "-", "--cluster", "p5.48xlarge:2", "--format", "json"}, job)["ranks"] == 8);
    CHECK(report_of({"run", "-", "--cluster", "p5.48xlarge:2", "--gpus", "4", "--format", "json"}, job)["ranks"] == 4);
}

TEST_CASE("every collective is a word, and its scenario can be printed") {
    for (const char* word :
         {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "send_recv", "barrier"}) {
        CAPTURE(word);
        const json scenario = json::parse(
            output_of({"collective", word, "--cluster", "p5.48xlarge", "--sizes", "8", "--print-scenario"}));
        CHECK(scenario["operations"][0]["collective"] == word);
        CHECK(scenario["scenario"]["cluster"] == "p5.48xlarge");
    }
}

TEST_CASE("what the ranks make wrong is bad input, with file and line") {
    const TemporaryFolder folder;
    const std::string bad = folder.file("bad.json", R"({"programs": [
        {"ranks": "0-14", "operations": [
            {"name": "it", "collective": "all_reduce", "size": 8}]},
        {"ranks": [15], "operations": [{"delay": "1 us"}]}]})");
    const Ended ended = fmsim({"run", bad, "--cluster", "p5.48xlarge:2"});
    CHECK(ended.code == 3);
    CHECK(ended.output.empty());
    CHECK_THAT(ended.errors,
               Contains("bad.json:3: /programs/0/operations/0: expected all of group \"all\" (ranks 0-15) in "
                        "\"it\" (all_reduce of 8 B); ranks 0-14 arrived, rank 15 never does"));
}

TEST_CASE("schema lists the schemas and prints one") {
    CHECK_THAT(output_of({"schema"}), Contains("cluster\n") && Contains("workload\n"));
    CHECK(json::parse(output_of({"schema", "workload"}))["properties"].contains("jobs"));
    const Ended wrong = fmsim({"schema", "wrkload"});
    CHECK(wrong.code == 2);
    CHECK_THAT(wrong.errors, Contains("did you mean \"workload\"?"));
}

}  // namespace
}  // namespace fmsim::test
