#include <catch2/catch.hpp>

#include "formats/imports.hpp"
#include "formats/refusal.hpp"

using namespace fmsim;
using namespace fmsim::test;

namespace {

Imported conf(std::string_view text, const std::string& type = "p5.48xlarge") {
    return import_slurm_conf(text, "topology.conf", shipped(), {.type = type, .layers = {}});
}
Imported yaml(std::string_view text, const std::string& type = "p5.48xlarge") {
    return import_slurm_yaml(text, "topology.yaml", shipped(), {.type = type, .layers = {}});
}

const std::string kTwoLeaves =
    "SwitchName=leaf1 Nodes=n[01-04]\n"
    "SwitchName=leaf2 Nodes=n[05-08]\n"
    "SwitchName=spine1 Switches=leaf[1-2]\n";

}  // namespace

TEST_CASE("a tree becomes layers, and its one root the fabric above them") {
    const Imported read = conf(kTwoLeaves);
    CHECK(layers_of(read.cluster) == "leaf 4");
    CHECK(domains_of(read.cluster) == "8 p5.48xlarge");
    CHECK(names_of(read.cluster) == "n01 n02 n03 n04 n05 n06 n07 n08");
    CHECK(build_topology(read.cluster).gpus() == 64);
}

TEST_CASE("a tree without one root keeps its top layer") {
    const Imported read = conf(kTwoLeaves + "SwitchName=leaf3 Nodes=m[1-2]\nSwitchName=spine2 Switches=leaf3\n");
    CHECK(layers_of(read.cluster) == "leaf 4 | spine 2");  // the last leaf and the last spine are not full
}

TEST_CASE("leaves of different sizes keep them, and each switch's hosts stand together") {
    // The file names b's switches apart: the order of the hosts is that of the tree.
    const Imported read = conf(
        "SwitchName=a1 Nodes=x\nSwitchName=b1 Nodes=y[1-3]\nSwitchName=a2 Nodes=z[1-2]\n"
        "SwitchName=A Switches=a[1-2]\nSwitchName=B Switches=b1\n");
    CHECK(names_of(read.cluster) == "x z1 z2 y1 y2 y3");
    CHECK(layers_of(read.cluster) == "leaf 1,2,3 | spine 2");
}

TEST_CASE("keys have no case, comments end lines, a backslash continues one, quotes hold a value") {
    const Imported read = conf(
        "# the fabric\n\nswitchname = leaf1  NODES=\"n[01-04]\" # four\n"
        "SwitchName=leaf2 \\\r\n  Nodes=n[05-08]\nSWITCHNAME=top Switches=leaf[1-2]");
    CHECK(layers_of(read.cluster) == "leaf 4");
}

TEST_CASE("a link's speed has no unit in Slurm, so it is told and not used") {
    CHECK(has(notes_of(conf("SwitchName=a Nodes=x LinkSpeed=100")), "LinkSpeed of 1 switch is not used"));
}

TEST_CASE("what scontrol prints reads as the file does") {
    const Imported read = conf(
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[01-04]\nSwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[05-08]\n"
        "SwitchName=spine1 Level=1 LinkSpeed=1 Nodes=n[01-08] Switches=leaf[1-2]\n");
    CHECK(layers_of(read.cluster) == "leaf 4");
}

TEST_CASE("blocks of UltraServers are NVLink domains, also such as are not full") {
    const Imported read =
        conf("BlockName=b1 Nodes=u[01-18]\nBlockName=b2 Nodes=v[1-9]\nBlockName=b3 Nodes=w[1-2]\nBlockSizes=2,4,8\n",
             "p6e-gb200.36xlarge");
    CHECK(domains_of(read.cluster) == "1 u-p6e-gb200x72 of 18, 1 u-p6e-gb200x36 of 9, 1 p6e-gb200.36xlarge of 2");
    CHECK(layers_of(read.cluster).empty());
    CHECK(build_topology(read.cluster).domains() == 3);
}

TEST_CASE("blocks of machines whose NVLink stays inside are switches") {
    const Imported read = conf("BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockSizes=4\n");
    CHECK(domains_of(read.cluster) == "8 p5.48xlarge");
    CHECK(layers_of(read.cluster) == "b 4");
    CHECK(has(notes_of(read), "the NVLink of p5.48xlarge stays inside the instance: its blocks are taken as switches"));
}

TEST_CASE("a block that reaches below two neighbouring switches stays together") {
    // leaf1: b1 b1 b2, leaf2: b2 b3 b3
    const Imported read = conf(
        "SwitchName=leaf1 Nodes=a,b,c\nSwitchName=leaf2 Nodes=d,e,f\nSwitchName=leaf3 Nodes=g\n"
        "BlockName=b2 Nodes=a,f\nBlockName=b1 Nodes=b,c\nBlockName=b3 Nodes=d,e\nBlockName=b4 Nodes=g\n",
        "p6e-gb200.36xlarge");
    CHECK(names_of(read.cluster) == "b c a f d e g");
    CHECK(domains_of(read.cluster) == "3 p6e-gb200.36xlarge of 2, 1 p6e-gb200.36xlarge");
}

TEST_CASE("what a topology.conf must not say is refused with its line") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {"", "topology.conf: expected switches or blocks with nodes; found none"},
        {"SwitchName=a Node=x", "topology.conf:1: node: no such key; did you mean \"nodes\"?"},
        {"\nSwichName=a Nodes=x", "topology.conf:2: swichname: no such key; did you mean \"switchname\"?"},
        {"SwitchName=a Nodes=x y", "topology.conf:1: expected key=value; found y"},
        {"SwitchName=a Nodes=x nodes=y", "topology.conf:1: nodes: expected each key once in a line; found it twice"},
        {"SwitchName=a", "topology.conf:1: a: expected either nodes or switches below a switch; found none"},
        {"SwitchName=a Nodes=x Switches=b",
         "topology.conf:1: a: expected either nodes or switches below a switch; found both"},
        {"SwitchName=a Nodes=ALL",
         "topology.conf:1: nodes: expected names: which nodes there are is not in this file; found ALL"},
        {"Include other.conf", "topology.conf:1: expected key=value; found Include other.conf"},
        {"SwitchName=a Nodes=x\nSwitchName=a Nodes=y",
         "topology.conf:2: a: expected each switch once; found it in line 1 too"},
        {"SwitchName=a Nodes=x\nSwitchName=b Nodes=x",
         "topology.conf:2: b: expected node x below one switch; found it below a too"},
        {"SwitchName=leaf1 Nodes=x\nSwitchName=s Switches=leaf2",
         "topology.conf:2: s: no such switch; did you mean \"leaf1\"?; found leaf2"},
        {"SwitchName=a Nodes=x\nSwitchName=b Switches=a\nSwitchName=c Switches=a",
         "topology.conf:3: c: expected switch a below one other; found it below b too"},
        {"SwitchName=a Switches=b\nSwitchName=b Switches=a",
         "topology.conf:1: a: expected at most 16 switches above a node; found more, or a circle"},
        {"SwitchName=a Nodes=x Switches=b\nSwitchName=b Nodes=x Switches=a",
         "topology.conf:1: a: expected at most 16 switches above a node; found more, or a circle"},
        {"SwitchName=a Nodes=x[1-2000000]", "expected at most 1000000 hosts"},
        {"SwitchName=a Nodes=x[1-600000]\nSwitchName=b Nodes=y[1-600000]",
         "topology.conf:2: b: expected at most 400000 hosts"},
        {"BlockName=a Nodes=x\nBlockSizes=4,12",
         "topology.conf:2: BlockSizes: expected the base block, 4, times a power of two; found 12"},
        {"BlockName=a Nodes=x\nBlockSizes=0",
         "topology.conf:2: BlockSizes: expected numbers of nodes above 0 between commas; found 0"},
        {"BlockName=a Nodes=x\nBlockName=b Nodes=x",
         "topology.conf:2: b: expected node x in one block; found it in a too"},
    }));
    INFO(text);
    CHECK_THAT(refusal([t = text] { conf(t); }), Catch::Matchers::Contains(message));
}

TEST_CASE("an instance type is needed, and one that the catalogue has") {
    CHECK(refusal([] { conf("SwitchName=a Nodes=x", ""); }) ==
          "topology.conf:1: host x: expected an instance type, of the host or of all (--type); found none");
    CHECK(has(refusal([] { conf("SwitchName=a Nodes=x", "p5.47xlarge"); }), "did you mean \"p5.48xlarge\"?"));
}

TEST_CASE("more instances than any domain of a type has are no domain") {
    CHECK(has(refusal([] { conf("BlockName=b Nodes=x[1-19]", "p6e-gb200.36xlarge"); }),
              "host x1: expected at most 18 instances of p6e-gb200.36xlarge in an NVLink domain; found 19 in block b"));
}

TEST_CASE("topology.yaml: tree and block together, flat and unknown kinds told") {
    const std::string text =
        "- topology: fabric\n  cluster_default: true\n  tree:\n    switches:\n"
        "      - {switch: spine1, children: \"leaf[1-2]\"}\n"
        "      - {switch: leaf1, nodes: \"n[01-04]\"}\n"
        "      - {switch: leaf2, nodes: \"n[05-08]\"}\n"
        "- topology: nvl\n  block:\n    block_sizes: [4]\n    blocks:\n"
        "      - {block: b1, nodes: \"n[01-04]\"}\n      - {block: b2, nodes: \"n[05-08]\"}\n"
        "- topology: plain\n  flat: true\n- topology: donut\n  torus3d: {}\n";
    const Imported read = yaml(text, "p6e-gb200.36xlarge");
    CHECK(layers_of(read.cluster) == "leaf 4");
    CHECK(domains_of(read.cluster) == "2 p6e-gb200.36xlarge of 4");
    CHECK(has(notes_of(read), "topology donut is left out: it is of an unknown kind, torus3d"));
}

TEST_CASE("topology.yaml: of several trees the default one counts") {
    const std::string text =
        "- topology: a\n  tree: {switches: [{switch: s, nodes: \"a[1-2]\"}]}\n"
        "- topology: b\n  cluster_default: true\n  tree: {switches: [{switch: s, nodes: \"b[1-3]\"}]}\n";
    CHECK(names_of(yaml(text).cluster) == "b1 b2 b3");
}

TEST_CASE("what a topology.yaml must not say is refused") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {"- topology: a\n  flat: true\n", "topology.yaml: expected a tree or block topology; found topology a of flat"},
        {"- topology: a\n  ring: {}\n", "found topology a of an unknown kind, ring"},
        {"- topology: a\n  tree: {}\n  flat: true\n", "topology.yaml:1: /0: expected one kind of topology; found"},
        {"- tree:\n    switches: 7\n", "topology.yaml:2: /0/tree/switches: expected a list; found \"7\""},
        {"- topology: a\n  tree:\n    switches:\n      - {nodes: x}\n",
         "topology.yaml:4: /0/tree/switches/0/switch: expected a text; found none"},
        {"- topology: [a, b\n", "topology.yaml:2: expected YAML"},
        {"a: 1\na: 2\n", "topology.yaml:2: expected each key once; found a"},
        {"a: &a [*a]\n", "expected at most 64 levels"},
        {"- topology: a\n}\n", "topology.yaml:2: expected YAML"},
        {"a: [b]]\n- c\n", "topology.yaml:1: expected YAML"},
    }));
    INFO(text);
    CHECK_THAT(refusal([t = text] { yaml(t); }), Catch::Matchers::Contains(message));
}
