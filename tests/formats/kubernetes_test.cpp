#include <catch2/catch.hpp>

#include "formats/imports.hpp"
#include "formats/refusal.hpp"

using namespace fmsim;
using namespace fmsim::test;

namespace {

Imported nodes(std::string_view text, const std::vector<std::string>& layers = {}, const std::string& type = "") {
    return import_kubernetes(text, "nodes.yaml", shipped(), {.type = type, .layers = layers});
}

std::string node(const std::string& name, const std::string& labels, const std::string& type = "p5en.48xlarge") {
    return "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: " + name +
           "\n  labels: {node.kubernetes.io/instance-type: " + type + (labels.empty() ? "" : ", ") + labels + "}\n";
}
std::string aws(const std::string& top, const std::string& middle, const std::string& leaf) {
    const std::string key = "topology.k8s.aws/network-node-layer-";
    return key + "1: " + top + ", " + key + "2: " + middle + ", " + key + "3: " + leaf;
}

}  // namespace

TEST_CASE("AWS's labels count from the top; a node each document") {
    const Imported read =
        nodes(node("a", aws("t", "m1", "l1")) + node("b", aws("t", "m2", "l2")) + node("c", aws("t", "m1", "l1")));
    CHECK(names_of(read.cluster) == "a c b");
    CHECK(layers_of(read.cluster) == "network-node-layer-3. 2 | network-node-layer-2. 1");
}

TEST_CASE("the list that kubectl prints, as JSON") {
    const Imported read = nodes(R"({"apiVersion": "v1", "kind": "List", "items": [
        {"kind": "Node", "metadata": {"name": "a", "labels": {"node.kubernetes.io/instance-type": "p5.48xlarge"}},
         "status": {"capacity": {"nvidia.com/gpu": "8"}}},
        {"kind": "Node", "metadata": {"name": "b", "labels": {"node.kubernetes.io/instance-type": "m5.large"}}},
        {"kind": "Pod", "metadata": {"name": "p"}}]})");
    CHECK(domains_of(read.cluster) == "1 p5.48xlarge");
    CHECK(has(notes_of(read), "1 node of type m5.large left out: no GPUs, and the catalogue has no such type"));
    CHECK(has(notes_of(read), "1 of kind Pod left out"));
}

TEST_CASE("a node with GPUs of a type that the catalogue lacks is refused, not left out") {
    CHECK(has(
        refusal([] {
            nodes(
                R"({"kind": "Node", "metadata": {"name": "a", "labels": {"node.kubernetes.io/instance-type": "p9.48xlarge"}},
                            "status": {"capacity": {"nvidia.com/gpu": "8"}}})");
        }),
        "nodes.yaml: host a: "));
}

TEST_CASE("a Kueue Topology says the order of the levels; the host is none") {
    const std::string kueue =
        "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology\nmetadata: {name: efa}\nspec:\n  levels:\n"
        "    - nodeLabel: example.com/hall\n    - nodeLabel: example.com/row\n    - nodeLabel: "
        "kubernetes.io/hostname\n";
    const Imported read = nodes(kueue + node("a", "example.com/hall: h1, example.com/row: r1") +
                                node("b", "example.com/hall: h2, example.com/row: r2"));
    CHECK(layers_of(read.cluster) == "row. 1 | hall. 1");
}

TEST_CASE("Topograph's labels of all times, in the order that the user says") {
    const auto [labels, layers] = GENERATE(table<std::string, std::vector<std::string>>({
        {"network.topology.kubernetes.io/spine: S, network.topology.kubernetes.io/block: B", {"spine", "block"}},
        {"network.topology.nvidia.com/spine: S, network.topology.nvidia.com/leaf: B", {"spine", "leaf"}},
        {"fabric.topograph.run/tier-1: S, fabric.topograph.run/tier-0: B", {"tier-1", "fabric.topograph.run/tier-0"}},
    }));
    const auto with = [&, l = labels](const std::string& spine, const std::string& block) {
        std::string text = l;
        text.replace(text.find(": S") + 2, 1, spine);
        text.replace(text.find(": B") + 2, 1, block);
        return text;
    };
    const std::string text = node("a", with("s1", "b1")) + node("b", with("s1", "b2")) + node("c", with("s2", "b3"));
    const Imported read = nodes(text, layers);
    REQUIRE(read.cluster.network.layers.size() == 2);
    CHECK(read.cluster.network.layers[0].children == 1);
    CHECK(read.cluster.network.layers[1].children == 2);
    CHECK(has(refusal([&] { nodes(text); }), "expected the order of the levels (--layers)"));
}

TEST_CASE("a clique is an NVLink domain where NVLink leaves the instance") {
    const std::string key = GENERATE("nvidia.com/gpu.clique", "accelerator.topograph.run/domain",
                                     "network.topology.nvidia.com/accelerator");
    const auto two = [&](const std::string& type) {
        return node("a", key + ": c.0", type) + node("b", key + ": c.0", type);
    };
    CHECK(domains_of(nodes(two("p6e-gb200.36xlarge")).cluster) == "1 p6e-gb200.36xlarge of 2");
    const Imported inside = nodes(two("p5.48xlarge"));
    CHECK(domains_of(inside.cluster) == "2 p5.48xlarge");
    CHECK(has(notes_of(inside), "its blocks are left out"));
}

TEST_CASE("what has no nodes, no names or no types is refused") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {"", "nodes.yaml: expected nodes; found none"},
        {"kind: List\nitems: []\n", "nodes.yaml: expected nodes; found none"},
        {"kind: Node\nmetadata:\n  name: [a]\n", "nodes.yaml:3: /metadata/name: expected a text; found a list of 1"},
        {"kind: Node\nmetadata: {name: a}\n", "host a: expected an instance type"},
        {"kind: Node\nmetadata: {name: \"a b\"}\n", "expected a host name"},
        {"kind: Node\n\tmetadata: x\n", "nodes.yaml:2: expected YAML"},
    }));
    INFO(text);
    CHECK_THAT(refusal([t = text] { nodes(t); }), Catch::Matchers::Contains(message));
}

TEST_CASE("one type for nodes without a label") {
    CHECK(domains_of(nodes("kind: Node\nmetadata: {name: a}\n", {}, "p5.48xlarge").cluster) == "1 p5.48xlarge");
}
