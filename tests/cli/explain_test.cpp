// `explain`: its formats, a node by number and by name, and what it refuses.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

const std::string kOverlap = FMSIM_SOURCE_DIR "/workloads/overlap.json";
const std::string kPlan = FMSIM_SOURCE_DIR "/workloads/llama3-8b-p5-4.json";

Ended two_p5(const Words& more) {
    Words words{"explain", "all_reduce", "--size", "1GiB", "--cluster", "p5.48xlarge:2"};
    words.insert(words.end(), more.begin(), more.end());
    return fmsim(words);
}

// Every time is its children's sum, every input of the catalogue has a source and a confidence.
void check_tree(const json& node) {
    double sum = 0;
    for (const json& child : node["children"]) {
        sum += child["time_s"].get<double>();
        check_tree(child);
    }
    INFO(node["id"] << " " << node["title"]);
    if (!node["children"].empty()) CHECK(sum == Approx(node["time_s"].get<double>()).epsilon(1e-6));
    for (const json& input : node["inputs"])
        if (input["name"].get<std::string>().find(".json") != std::string::npos) {
            CHECK_FALSE(input["source"].get<std::string>().empty());
            CHECK_FALSE(input["confidence"].get<std::string>().empty());
        }
}

TEST_CASE("a collective is explained as text and CSV, as it was agreed") {
    check_golden("cli/explain.txt", two_p5({}).output);
    check_golden("cli/explain_node.txt", two_p5({"1.1"}).output);
    check_golden("cli/explain.csv", two_p5({"--no-alternatives", "--format", "csv"}).output);
    check_golden("cli/explain_overlap.txt",
                 fmsim({"explain", kOverlap, "--cluster", "p5en.48xlarge:16", "--no-alternatives"}).output);
    check_golden("cli/explain_plan.txt", fmsim({"explain", kPlan}).output);
}

TEST_CASE("its lines fit a narrow terminal") {
    for (const std::string& text : {two_p5({}).output, two_p5({"1.1"}).output, fmsim({"explain", kPlan, "1"}).output}) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 79);
    }
}

TEST_CASE("its JSON has the tree, what sets the pace, levers and use of links") {
    const json report = json::parse(two_p5({"--format", "json"}).output);
    CHECK(report["schema_version"] == 1);
    CHECK(report["tree"]["time_s"] == report["time_s"]);
    check_tree(report["tree"]);
    CHECK(report["saturated"][0]["resource"] == "p5.48xlarge #0, GPU 0, NVLink, transmit");
    double slopes = 0;
    for (const json& lever : report["levers"]) slopes += lever["slope_s"].get<double>();
    CHECK(slopes == Approx(report["time_s"].get<double>()).epsilon(0.01));
    CHECK(report["utilisation"].size() == 3);
    CHECK(report["utilisation"][0]["mean"].size() == 40);
    const json plan = json::parse(fmsim({"explain", kPlan, "--format", "json"}).output);
    check_tree(plan["tree"]);
    CHECK(plan["levers"].size() == 14);
}

TEST_CASE("a node is found by its name too") {
    CHECK(fmsim({"explain", kOverlap, "gradients 1", "--cluster", "p5en.48xlarge:16"}).output.find("rule: ") !=
          std::string::npos);
}

TEST_CASE("what cannot be explained is refused") {
    CHECK(two_p5({"7.7"}).code == 2);
    CHECK(two_p5({"--fidelity", "chunk"}).code == 2);
    CHECK(fmsim({"explain", "all_reduce", "--cluster", "p5.48xlarge:2"}).code == 2);
    CHECK(fmsim({"explain", "all_reduce", "--size", "1,2", "--cluster", "p5.48xlarge:2"}).code == 2);
    CHECK(fmsim({"explain", kOverlap, "--size", "1", "--cluster", "p5.48xlarge:2"}).code == 2);
    CHECK(fmsim({"explain", kPlan, "no such part"}).code == 2);
    CHECK(fmsim({"explain", "/no/such/file.json"}).code == 3);
}

}  // namespace
}  // namespace fmsim::test
