// Cluster files whose switches differ, whose hosts have names, and whose domains or machines are not the catalogue's.
#include <catch2/catch.hpp>

#include "formats/imports.hpp"
#include "formats/refusal.hpp"

using namespace fmsim;
using namespace fmsim::test;

namespace {

Cluster cluster(const std::string& text) { return parse_cluster(text, "c.json", shipped()); }

std::string with(const std::string& more) {
    return "{\"domains\": [{\"type\": \"p5.48xlarge\", \"count\": 3}]" + more + "}";
}

}  // namespace

TEST_CASE("switches of different sizes, and hosts with names") {
    const Cluster read =
        cluster(with(R"(, "names": ["n[08-09]", "x"], "network": {"layers": [{"name": "leaf", "sizes": [1, 2]}]})"));
    CHECK(layers_of(read) == "leaf 1,2");
    CHECK(names_of(read) == "n08 n09 x");
}

TEST_CASE("a domain that is not full") {
    CHECK(domains_of(cluster(R"({"domains": [{"type": "p6e-gb200.36xlarge", "instances": 4, "count": 2}]})")) ==
          "2 p6e-gb200.36xlarge of 4");
    CHECK(domains_of(cluster(R"({"domains": [{"type": "p6e-gb200.36xlarge", "instances": 9, "count": 1}]})")) ==
          "1 u-p6e-gb200x36 of 9");
}

TEST_CASE("a machine that has less than its type") {
    const Cluster read = cluster(R"({"domains": [{"type": "p5en.48xlarge", "count": 1, "instance":
        {"gpus": 2, "nics": 2, "rails": 1, "pcie_gpu_rate": "31.5 GB/s", "switches": [{"numa": 0, "gpus": [0, 1], "nics": [0, 1]}]}}]})");
    const InstanceType& type = read.blocks[0].type.instance;
    CHECK(type.gpus == 2);
    CHECK(type.pcie_gpu.value == 31.5e9);
    CHECK(type.pcie_nic.value == shipped().instance("p5en.48xlarge").pcie_nic.value);
    CHECK(build_topology(read).gpus() == 2);
}

TEST_CASE("what does not fit is refused at its place") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {with(R"(, "network": {"layers": [{"name": "leaf"}]})"),
         "/network/layers/0: expected either children or sizes"},
        {with(R"(, "network": {"layers": [{"name": "leaf", "children": 1, "sizes": [3]}]})"),
         "/network/layers/0: expected either children or sizes"},
        {with(R"(, "network": {"layers": [{"name": "leaf", "sizes": [0]}]})"),
         "/network/layers/0/sizes/0: expected a whole number of 1 or more; found 0"},
        {with(R"(, "names": ["a", "b"])"), "/names: expected a name for each of the 3 instances, not 2"},
        {with(R"(, "names": ["a", "b", "a"])"), "/names/2: expected each host once; found \"a\""},
        {with(R"(, "names": ["n[1-2"])"), "/names/0: expected a \"]\""},
        {R"({"domains": [{"type": "p5.48xlarge", "instances": 2, "count": 2}]})",
         "/domains/0/type: expected at most 1 instance of p5.48xlarge in an NVLink domain"},
        {R"({"domains": [{"type": "p5.48xlarge", "count": 2, "instance": {"switch": 2}}]})",
         "/domains/0/instance/switch: no such key; did you mean \"switches\"?"},
    }));
    INFO(text);
    CHECK_THAT(refusal([t = text] { cluster(t); }), Catch::Matchers::Contains(message));
}
