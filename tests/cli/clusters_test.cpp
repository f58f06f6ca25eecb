// Clusters on the command line: the catalogue, topology show, check, export and import, parts and placements.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"

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
