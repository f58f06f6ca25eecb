// Clusters out to other tools' files and in again.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "fmsim/formats.hpp"
#include "fmsim/report.hpp"
#include "formats/imports.hpp"

using namespace fmsim;
using namespace fmsim::test;

namespace {

Cluster named(Cluster cluster) {
    std::uint32_t count = 0;
    for (const DomainBlock& block : cluster.blocks) count += block.count * block.type.instances;
    for (std::uint32_t i = 0; i < count; ++i) cluster.instance_names.push_back("host" + std::to_string(i));
    return cluster;
}

// What a file of ours says of a cluster, but for the name, which an import takes from the file.
std::string written(Cluster cluster) {
    cluster.name = "c";
    return to_cluster_file(cluster, false);
}

Cluster with_layers(const std::string& words, std::vector<NetworkLayer> layers) {
    Cluster cluster = named(shipped().cluster(words));
    cluster.network.layers = std::move(layers);
    return cluster;
}

}  // namespace

TEST_CASE("a tree goes out as Slurm reads it") {
    Cluster cluster = shipped().cluster("p5.48xlarge:12");
    cluster.network.layers = {{.name = "leaf", .children = 4}, {.name = "tier2", .sizes = {2, 1}}};
    CHECK(to_slurm_conf(cluster) ==
          "# For TopologyPlugin=topology/tree in slurm.conf\n"
          "SwitchName=leaf1 Nodes=n[01-04]\n"
          "SwitchName=leaf2 Nodes=n[05-08]\n"
          "SwitchName=leaf3 Nodes=n[09-12]\n"
          "SwitchName=tier2-1 Switches=leaf[1-2]\n"
          "SwitchName=tier2-2 Switches=leaf3\n"
          "SwitchName=fabric Switches=tier2-[1-2]\n");
}

TEST_CASE("NVLink domains of several instances go out as blocks") {
    const std::string text = to_slurm_conf(shipped().cluster("u-p6e-gb200x36:2"));
    CHECK(has(text, "BlockName=block1 Nodes=n[01-09]\nBlockName=block2 Nodes=n[10-18]\nBlockSizes=9\n"));
    CHECK_FALSE(has(text, "SwitchName"));
}

TEST_CASE("topology.yaml has the tree and the blocks") {
    Cluster cluster = shipped().cluster("u-p6e-gb200x36:1");
    cluster.network.layers = {{.name = "leaf", .children = 9}};
    CHECK(to_slurm_yaml(cluster) ==
          "- topology: network\n  cluster_default: true\n  tree:\n    switches:\n"
          "      - switch: leaf1\n        nodes: \"n[1-9]\"\n"
          "      - switch: fabric\n        children: \"leaf1\"\n"
          "- topology: nvlink\n  cluster_default: false\n  block:\n    block_sizes: [9]\n    blocks:\n"
          "      - block: block1\n        nodes: \"n[1-9]\"\n");
}

TEST_CASE("a cluster comes back from topology.conf as it went out") {
    const Cluster cluster = GENERATE(with_layers("p5.48xlarge:1", {}), with_layers("p5.48xlarge:7", {}),
                                     with_layers("p5.48xlarge:16", {{.name = "leaf", .children = 4}}),
                                     with_layers("p5.48xlarge:10", {{.name = "leaf", .children = 4}}),
                                     with_layers("p5.48xlarge:9", {{.name = "leaf", .sizes = {2, 4, 3}}}),
                                     with_layers("p5.48xlarge:4", {{.name = "leaf", .children = 4}}),
                                     with_layers("p5.48xlarge:24", {{.name = "tier1", .children = 4},
                                                                    {.name = "tier2", .sizes = {1, 3, 2}},
                                                                    {.name = "top", .children = 2}}));
    const Imported read =
        import_slurm_conf(to_slurm_conf(cluster), "topology.conf", shipped(), {.type = "p5.48xlarge", .layers = {}});
    CHECK(written(read.cluster) == written(cluster));
}

TEST_CASE("UltraServers come back from topology.conf as blocks") {
    const Cluster cluster = named(shipped().cluster("u-p6e-gb200x72:3"));
    const Imported read = import_slurm_conf(to_slurm_conf(cluster), "topology.conf", shipped(),
                                            {.type = "p6e-gb200.36xlarge", .layers = {}});
    CHECK(written(read.cluster) == written(cluster));
}

TEST_CASE("a cluster comes back from topology.yaml, with its tree and its domains") {
    // Domains of 9 under leaves of 12: the second reaches below two leaves.
    const Cluster cluster =
        GENERATE(with_layers("u-p6e-gb200x36:4", {{.name = "leaf", .children = 12}}),
                 with_layers("u-p6e-gb200x36:4", {{.name = "leaf", .children = 9}, {.name = "spine", .children = 2}}),
                 with_layers("u-p6e-gb200x36:1", {}));
    const Imported read = import_slurm_yaml(to_slurm_yaml(cluster), "topology.yaml", shipped(),
                                            {.type = "p6e-gb200.36xlarge", .layers = {}});
    CHECK(written(read.cluster) == written(cluster));
}

TEST_CASE("a cluster comes back from a file of our own") {
    Cluster cluster = GENERATE(
        with_layers("p5.48xlarge:9", {{.name = "leaf", .sizes = {2, 4, 3}, .oversubscription = 1.5, .uplinks = 8}}),
        with_layers("u-p6e-gb200x72:2", {}));
    cluster.faults = {{.kind = DeviceKind::nic, .instance = 1, .index = 3, .fraction = 0.25}};
    cluster.rail_policy = RailPolicy::even;
    cluster.network.seed = 7;
    const Cluster read = parse_cluster(to_cluster_file(cluster, false), "c.json", shipped());
    CHECK(to_cluster_file(read, false) == to_cluster_file(cluster, false));
    CHECK(read.network.layers.size() == cluster.network.layers.size());
    CHECK(read.instance_names == cluster.instance_names);
}

TEST_CASE("an instance type comes back from NCCL's XML with the same tree and rates") {
    for (const std::string& name : shipped().names()) {
        INFO(name);
        const InstanceType type = shipped().domain(name).instance;
        const std::string text = to_nccl_xml(type);
        const Imported read = import_nccl(text, "topo.xml", shipped(), {.type = name, .layers = {}});
        CHECK(to_nccl_xml(read.cluster.blocks[0].type.instance) == text);
        Cluster as_it_is = read.cluster;
        as_it_is.blocks[0].type.instance = type;
        CHECK(to_cluster_file(read.cluster, true) == to_cluster_file(as_it_is, true));
    }
}

TEST_CASE("NCCL's XML has no prolog, and stays below NCCL's limits of 255 characters a text and 640 children") {
    for (const std::string& name : shipped().names()) {
        INFO(name);
        std::istringstream lines(to_nccl_xml(shipped().domain(name).instance));
        std::size_t longest = 0, elements = 0;
        for (std::string line; std::getline(lines, line); ++elements) longest = std::max(longest, line.size());
        CHECK(longest < 255);
        CHECK(elements < 640);
        CHECK_FALSE(has(lines.str(), "<?xml"));
    }
}

TEST_CASE("a machine that NCCL saw reads back from a file of our own") {
    const std::string text =
        "<system version=\"1\"><cpu numaid=\"0\"><pci class=\"0x060400\"><pci class=\"0x030200\"><gpu dev=\"0\" "
        "sm=\"90\"/></pci>"
        "<pci class=\"0x020000\"><nic><net dev=\"0\" speed=\"200000\"/></nic></pci></pci></cpu></system>";
    const Cluster cluster = import_nccl(text, "topo.xml", shipped(), {}).cluster;
    const Cluster read = parse_cluster(to_cluster_file(cluster, true), "c.json", shipped());
    CHECK(to_cluster_file(read, true) == to_cluster_file(cluster, true));
    CHECK(read.blocks[0].type.several.paths.size() == cluster.blocks[0].type.several.paths.size());
}
