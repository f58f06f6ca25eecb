// Clusters on the command line: the catalogue, topology show, check, export and import, parts and placements.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

const std::string kExample = FMSIM_SOURCE_DIR "/topologies/clusters/one_slow_nic.json";

double time_of(const std::vector<std::string>& more) {
    std::vector<std::string> words{"collective", "all_reduce", "--sizes", "1GiB", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = fmsim(words);
    INFO(ended.errors);
    REQUIRE(ended.code == 0);
    return json::parse(ended.output).at("rows").at(0).at("time_us");
}

TEST_CASE("catalog lists the machines, and one's values with their sources") {
    CHECK_THAT(fmsim({"catalog"}).output, Contains("p6e-gb200.36xlarge") && Contains("u-p6e-gb200x72"));
    const json values = json::parse(fmsim({"catalog", "p5en.48xlarge", "--format", "json"}).output).at("values");
    REQUIRE(values.size() > 40);
    for (const json& value : values) CHECK_FALSE(value.at("source").get<std::string>().empty());
    CHECK(fmsim({"catalog", "p5en.48xlrage"}).code == 2);
}

TEST_CASE("topology shows, checks and exports a cluster") {
    CHECK_THAT(fmsim({"topology", "show", "u-p6e-gb200x72:2"}).output, Contains("144 GPUs in 2 NVLink domains"));
    CHECK(fmsim({"topology", "check", "p5.48xlarge:2"}).output == "sound\n");
    CHECK_THAT(fmsim({"topology", "export", "p5.48xlarge"}).output,
               Contains("graph cluster {") && Contains("nvswitch0"));
    CHECK(json::parse(fmsim({"topology", "show", "p4d.24xlarge:2", "--format", "json"}).output).at("gpus") == 16);
    CHECK(fmsim({"topology", "show", "no_such_file.json"}).code == 3);
}

TEST_CASE("a cluster that is cut off is infeasible, and so is a job that needs the link that is down") {
    const TemporaryFolder folder;
    const std::string file = folder.file("cut.json", R"({"domains": [{"type": "p5en.48xlarge", "count": 2}],
        "network": {"layers": [{"name": "leaf", "children": 1}]},
        "faults": [{"device": "switch", "instance": 0, "index": 1, "rate": 0}]})");
    CHECK(fmsim({"topology", "check", file}).code == 4);
    const Ended job = fmsim({"collective", "all_reduce", "--cluster", file, "--sizes", "8"});
    CHECK(job.code == 4);
    CHECK_THAT(job.errors, Contains("is down"));
    CHECK(job.output.empty());
}

TEST_CASE("what Slurm's file keeps of a cluster comes back from it") {
    const Ended slurm = fmsim({"topology", "export", kExample, "--to", "slurm"});
    REQUIRE(slurm.code == 0);
    const TemporaryFolder folder;
    const Ended ours = fmsim({"topology", "import", folder.file("topology.conf", slurm.output), "--from", "slurm",
                              "--type", "p5en.48xlarge"});
    REQUIRE(ours.code == 0);
    CHECK_THAT(ours.errors, Contains("non-blocking"));
    const json cluster = json::parse(ours.output);
    CHECK(cluster.at("domains") == json::parse(R"([{"type": "p5en.48xlarge", "count": 16}])"));
    CHECK(cluster.at("network").at("layers").at(0).at("children") == 4);
    const std::string file = folder.file("ours.json", ours.output);
    CHECK(fmsim({"topology", "export", file, "--to", "slurm"}).output == slurm.output);
}

TEST_CASE("a free graph is shown, checked, exported and read again for the same prediction") {
    const std::string folder_of_clusters = FMSIM_SOURCE_DIR "/topologies/clusters/";
    for (const std::string name : {"cube_mesh", "rail_pod"}) {
        const std::string example = folder_of_clusters + name + ".json";
        check_golden("cli/show_" + name + ".txt", fmsim({"topology", "show", example}).output);
        CHECK(fmsim({"topology", "check", example}).output == "sound\n");
        const TemporaryFolder folder;
        const std::string again =
            folder.file("again.json", fmsim({"topology", "export", example, "--to", "cluster"}).output);
        CHECK(time_of({"--cluster", again}) == time_of({"--cluster", example}));
        CHECK(fmsim({"topology", "show", again}).output == fmsim({"topology", "show", example}).output);
        CHECK_THAT(fmsim({"topology", "export", example}).output, Contains("graph cluster {") && Contains("leaf"));
        CHECK(json::parse(fmsim({"topology", "show", example, "--format", "json"}).output).at("domains") >= 2);
        CHECK(fmsim({"topology", "export", example, "--to", "slurm"}).code == 2);
    }
}

TEST_CASE("machines as a graph take what the same machines of the catalogue take") {
    const std::string pod = FMSIM_SOURCE_DIR "/topologies/clusters/rail_pod.json";
    CHECK(time_of({"--cluster", pod, "--gpus", "32"}) == Approx(time_of({"--cluster", "hgx-h100-8x400:4"})).epsilon(1e-9));
    CHECK(time_of({"--cluster", pod, "--gpus", "8"}) == Approx(time_of({"--cluster", "hgx-h100"})).epsilon(1e-9));
}

TEST_CASE("rail-optimised leaves of a cluster file: with PXN no byte of the rings crosses rails") {
    const TemporaryFolder folder;
    const auto file = [&](const std::string& rails, const std::string& more) {
        return folder.file("rails" + rails + ".json",
                           R"({"domains": [{"type": "p5en.48xlarge", "count": 4}], "network": {"layers": [{"name": "leaf",
            "children": 4, "oversubscription": 8, "rail_optimized": )" + rails + "}" + more + "]}}");
    };
    CHECK(time_of({"--cluster", file("true", "")}) == time_of({"--cluster", file("false", "")}));
    CHECK_THAT(fmsim({"topology", "show", file("true", "")}).output, Contains("leaf switches, one a NIC group: 4 below"));
}

TEST_CASE("a list of ranks places them one by one, and is refused with its line") {
    const TemporaryFolder folder;
    const auto placed = [&](const std::string& lines) {
        return fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:3", "--sizes", "1GiB", "--format", "json",
                      "--placement", "list:" + folder.file("list", lines)});
    };
    std::string two;
    for (const char* host : {"2", "domain:0"})
        for (const char* gpu : {"0", "1", "2", "3", "4", "5", "6", "7"}) two += std::string(host) + " " + gpu + "\n";
    CHECK(json::parse(placed("# ranks\n" + two).output).at("rows").at(0).at("time_us") ==
          time_of({"--cluster", "p5.48xlarge:2"}));
    for (const auto& [lines, message] : std::vector<std::pair<std::string, std::string>>{
             {"0 0\n0 8\n", "list:2: expected an instance"},
             {"0 0\n1 1\n\n0 0\n", "list:4: expected each GPU once, and line 1 has it"},
             {"host 0\n", "list:1: expected an instance"},
             {"domain:9 0\n", "list:1: expected an instance"},
             {"# none\n", "expected a rank a line"}}) {
        const Ended ended = placed(lines);
        CHECK(ended.code == 3);
        CHECK_THAT(ended.errors, Contains(message));
    }
}

TEST_CASE("a part of a cluster takes what as large a cluster takes") {
    CHECK(time_of({"--cluster", "p5.48xlarge:16", "--gpus", "32"}) == time_of({"--cluster", "p5.48xlarge:4"}));
    CHECK(time_of({"--cluster", "p5.48xlarge:4", "--per-domain", "8"}) == time_of({"--cluster", "p5.48xlarge:4"}));
    CHECK(time_of({"--cluster", "p5.48xlarge:4", "--placement", "random:3"}) ==
          time_of({"--cluster", "p5.48xlarge:4"}));
    const TemporaryFolder folder;
    CHECK(time_of({"--cluster", "p5.48xlarge:9", "--placement", "hosts:" + folder.file("hosts", "7\n2\n5\n1\n")}) ==
          time_of({"--cluster", "p5.48xlarge:4"}));
    CHECK(fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--gpus", "17"}).code == 2);
    CHECK(fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--placement", "random:x"}).code == 2);
    CHECK(fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--placement",
                 "hosts:" + folder.file("bad", "9\n")})
              .code == 3);
}

}  // namespace
}  // namespace fmsim::test
