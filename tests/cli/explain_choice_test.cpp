// `explain-choice`: its three formats, what can be pinned, and what it refuses.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Ended explain(const Words& more) {
    Words words{"explain-choice", "p5en.48xlarge:4", "all_reduce"};
    words.insert(words.end(), more.begin(), more.end());
    return fmsim(words);
}

json taken(const Words& more) {
    Words words = more;
    words.insert(words.end(), {"--size", "1KiB", "--format", "json"});
    const Ended ended = explain(words);
    CAPTURE(ended.errors);
    REQUIRE(ended.code == 0);
    return json::parse(ended.output)["taken"];
}

TEST_CASE("a choice is explained as text and CSV, as it was agreed") {
    check_golden("cli/explain_choice.txt", explain({"--size", "256MiB"}).output);
    check_golden("cli/explain_choice.csv", explain({"--size", "256MiB", "--format", "csv"}).output);
    check_golden("cli/explain_choice_p6.txt",
                 fmsim({"explain-choice", "p6-b200.48xlarge:16", "all_reduce", "--size", "8MiB"}).output);
}

TEST_CASE("its JSON has the communicator, every candidate and both picks") {
    const json report = json::parse(explain({"--size", "256MiB", "--format", "json"}).output);
    CHECK(report["schema_version"] == 1);
    CHECK(report["bytes"] == 256 << 20);
    CHECK(report["ranks"] == 32);
    CHECK(report["domains"] == 4);
    CHECK(report["graphs"]["nvls"]["inter_GBps"] == 48.0);
    CHECK(report["candidates"].size() == 15);
    CHECK(report["by_nccl"]["algorithm"] == "NVLSTree");
    CHECK(report["by_nccl"]["by"] == "NCCL");
    CHECK(report["taken"]["by"] == "AWS tuner");
    CHECK(report["taken"]["algorithm"] == "Ring");
    CHECK(report["taken"]["chunk_bytes"] == 576000);
}

TEST_CASE("what NCCL's variables and our options pin") {
    CHECK(taken({"--no-tuner"})["by"] == "NCCL");
    CHECK(taken({"--nccl", "NCCL_ALGO=ring"})["algorithm"] == "Ring");
    CHECK(taken({"--nccl", "NCCL_ALGO=^tree", "--nccl", "NCCL_PROTO=simple"})["protocol"] == "Simple");
    CHECK(taken({"--algo", "nvlstree"})["algorithm"] == "NVLSTree");
    CHECK(taken({"--proto", "ll128"})["protocol"] == "LL128");
    const std::string rules = (std::filesystem::temp_directory_path() / "fmsim_rules.csv").string();
    std::ofstream(rules) << "allreduce,0,4096,ring,simple,4,-1,-1\n";
    const json by_file = taken({"--nccl", "NCCL_TUNER_CONFIG_FILE=" + rules});
    std::filesystem::remove(rules);
    CHECK(by_file["by"] == "tuner file");
    CHECK(by_file["channels"] == 4);
}

TEST_CASE("what has no choice, and words that are none") {
    CHECK(fmsim({"explain-choice", "p5en.48xlarge:4", "all_to_all", "--size", "1"}).code == 4);
    CHECK(explain({"--size", "1", "--nccl", "NCCL_ALGO=pat"}).code == 4);
    CHECK(explain({"--size", "1", "--nccl", "NCCL_ALGO=rong"}).code == 2);
    CHECK(explain({"--size", "1", "--algo", "rong"}).code == 2);
    CHECK(explain({"--size", "1,2"}).code == 2);
    CHECK(explain({"--size", "1", "--nccl", "NCCL_TUNER_CONFIG_FILE=/no/such/file"}).code == 3);
}

}  // namespace
}  // namespace fmsim::test
