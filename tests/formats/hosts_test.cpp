// Host files.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"

namespace fmsim {
namespace {

Topology named_hosts() {
    Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge:3");
    cluster.instance_names = {"node-a", "node-b", "node-c"};
    return build_topology(cluster);
}

}  // namespace

TEST_CASE("a host file names instances by name or number, with comments and slots") {
    const auto hosts = parse_hosts("# job 7\nnode-c slots=8\n\n  0   # the first\nnode-b:8\n", "hosts", named_hosts());
    CHECK(hosts == std::vector<InstanceId>{{2}, {0}, {1}});
}

TEST_CASE("a host that there is not, one twice, and an empty file are refused with their line") {
    const auto refused = [](std::string_view text) {
        return test::refusal([&] { parse_hosts(text, "hosts", named_hosts()); });
    };
    CHECK(refused("node-a\nnode-x\nnode-a\n") ==
          "hosts:2: expected each instance once, by name or by number from 0 to 2; found node-x\n"
          "hosts:3: expected each instance once, by name or by number from 0 to 2; found node-a");
    CHECK(refused("3") == "hosts:1: expected each instance once, by name or by number from 0 to 2; found 3");
    CHECK(refused("# nothing\n") == "hosts:1: expected a host a line; found none");
}

}  // namespace fmsim
