// `check` as a pipeline runs it: exit codes, reasons, allowances, stored baselines, formats.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

const std::string kSuite = FMSIM_SOURCE_DIR "/workloads/suite.json";

json checked(const std::vector<std::string>& more, int code) {
    std::vector<std::string> words{"check", kSuite, "--format", "json", "--today", "2026-11-30"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = fmsim(words);
    CAPTURE(ended.errors);
    CHECK(ended.code == code);
    return json::parse(ended.output);
}

const std::string kResults = R"({"scenarios": [{"name": "batch 32", "results": "results.json", "metrics": {
  "throughput": {"baseline": 1081.357, "tolerance": "10 %", "better": "higher"},
  "latency": {"baseline": 3783.034, "tolerance": "10 %"},
  "other": {"baseline": 1188.752, "tolerance": "10 %"}}}], "allow": [
  {"scenario": "batch 32", "metric": "latency", "reason": "new driver", "until": "2026-12-31"}]})";

}  // namespace

TEST_CASE("our suite is at its baselines") {
    const json report = checked({}, 0);
    CHECK(report["counts"]["within"] == report["metrics"].size());
    CHECK(report["counts"]["scenarios"].get<int>() >= 25);
}

TEST_CASE("a slower EFA makes what crosses it regress, by name, and nothing else") {
    // A step hides most of its gradients: at nine tenths of the rate Llama 3 8B would move by less than its limit.
    const json report = checked({"--what-if", "efa.bandwidth*0.8"}, 1);
    // Two operations of the overlapped layers are asked for: the one that stays in its machine does not move.
    for (const json& row : report["metrics"]) {
        CAPTURE(row.dump());
        const auto scenario = row["scenario"].get<std::string>();
        const bool alone = scenario.find(" x 1 ") != std::string::npos || scenario.find("nvl72") != std::string::npos ||
                           scenario.find("InfiniBand") != std::string::npos;
        const auto metric = row["metric"].get<std::string>();
        if (alone || metric == "activations 1/time_us" || metric == "memory_gib") {
            CHECK(row["verdict"] == "within");
            CHECK(row["measured"] == row["baseline"]);
        } else {
            CHECK(row["verdict"] == "regressed");
            CHECK_THAT(row["reason"].get<std::string>(), Contains("EFA bandwidth"));
        }
    }
}

TEST_CASE("results that others measured: a floor, a ceiling, an allowance, and a metric that is gone") {
    const TemporaryFolder folder;
    const std::string suite = folder.file("suite.json", kResults);
    folder.file("results.json", R"({"throughput": 961.963, "latency": 4253.818, "other": 1130.042})");
    const Ended now = fmsim({"check", suite, "--today", "2026-11-30"});
    CHECK(now.code == 1);
    CHECK_THAT(now.output, Contains("1 regressed, 1 allowed, 1 within") && Contains("-11.04 %") &&
                               Contains("973.221") && Contains("+12.44 %") && Contains("until 2026-12-31: new driver"));
    CHECK_THAT(fmsim({"check", suite, "--today", "2027-01-01"}).output,
               Contains("2 regressed") && Contains("ended 2026-12-31"));
    folder.file("results.json", R"({"throughput": 1081.357, "latency": 3783.034})");
    const Ended gone = fmsim({"check", suite});
    CHECK(gone.code == 1);
    CHECK_THAT(gone.output, Contains("missing: batch 32: other"));
}

TEST_CASE("bad input ends with 3 and a place, a bad word with 2") {
    const TemporaryFolder folder;
    const auto code_of = [&](const std::string& text) { return fmsim({"check", folder.file("s.json", text)}); };
    CHECK(code_of("{").code == 3);
    CHECK(code_of(kResults).code == 3);  // there are no results
    const Ended none = code_of(R"({"scenarios": [{"name": "a", "cluster": "p5.48xlarge", "collective": "all_reduce",
        "size": 8, "metrics": {"time_us": {}}}]})");
    CHECK(none.code == 3);
    CHECK_THAT(none.errors, Contains("s.json:2:") && Contains("--update-baseline"));
    const Ended wrong = code_of(R"({"scenarios": [{"name": "a", "cluster": "p5.48xlarge", "collective": "all_reduce",
        "size": 8, "metrics": {"time_su": {"baseline": 1}}}]})");
    CHECK(wrong.code == 3);
    CHECK_THAT(wrong.errors, Contains("did you mean \"time_us\"?"));
    CHECK(fmsim({"check", kSuite, "--today", "tomorrow"}).code == 2);
    CHECK(fmsim({"check", kSuite, "--what-if", "eaf.bandwidth*2"}).code == 2);
    CHECK(fmsim({"check", kSuite, "--what-if", "roce.bandwidth*2"}).code == 2);
    CHECK(fmsim({"check", kSuite, "--what-if", "efa.bandwidth*2", "--update-baseline"}).code == 2);
}

TEST_CASE("--update-baseline shows what it stores, after which the suite passes and is stored no more") {
    const TemporaryFolder folder;
    const std::string suite =
        folder.file("s.json", R"({"x-mine": [1, 2], "scenarios": [{"name": "a", "cluster": "p5.48xlarge:2",
        "collective": "all_reduce", "size": "1 MiB", "metrics": {"time_us": {"baseline": 100}, "busbw_GBps": {}}}]})");
    const Ended stored = fmsim({"check", suite, "--update-baseline"});
    CHECK(stored.code == 0);
    CHECK_THAT(stored.output, Contains("2 baselines changed") && Contains("time_us") && Contains("100"));
    CHECK(fmsim({"check", suite}).code == 0);
    const std::string text = read_whole(suite);
    CHECK(json::parse(text)["x-mine"] == json::parse("[1, 2]"));
    CHECK_THAT(fmsim({"check", suite, "--update-baseline"}).output, Contains("as they were"));
    CHECK(read_whole(suite) == text);
}

TEST_CASE("every format has the same bytes each time") {
    for (const std::string format : {"text", "json", "junit", "sarif", "github", "md"}) {
        const std::vector<std::string> words{"check",    kSuite, "--what-if", "efa.bandwidth*0.9",
                                             "--format", format, "--today",   "2026-11-30"};
        CHECK(fmsim(words).output == fmsim(words).output);
    }
}

}  // namespace fmsim::test
