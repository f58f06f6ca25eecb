// Free graphs: their domains, ways and rings.
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "fmsim/topology.hpp"
#include "toy/graph.hpp"

namespace fmsim {
namespace {

using toy::GraphSketch;

constexpr GpuPlace at(std::uint32_t domain, std::uint32_t gpu) { return {DomainId{domain}, gpu}; }

std::map<std::string, double> shares(const Topology& net, const Route& route) {
    std::map<std::string, double> by_name;
    for (const auto& [link, share] : route) by_name[net.name(link)] += share;
    return by_name;
}

// A machine: GPUs, a NIC each on a PCIe switch of its own.
void add_machine(GraphSketch& sketch, const std::string& name, std::uint32_t gpus) {
    sketch.machine(name);
    for (std::uint32_t g = 0; g < gpus; ++g) {
        sketch.gpu(fmt::format("{}g{}", name, g)).nic(fmt::format("{}n{}", name, g));
        sketch.link(fmt::format("{}g{}", name, g), fmt::format("{}n{}", name, g), LinkKind::pcie, 63e9);
    }
}

}  // namespace

TEST_CASE("what NVLink joins is a domain, and a GPU without is one of its own") {
    GraphSketch sketch;
    add_machine(sketch, "a", 4);
    add_machine(sketch, "b", 6);
    sketch.nvswitch("s").nvswitch("t");
    for (const char* gpu : {"ag0", "ag1", "ag2"}) sketch.link(gpu, "s", LinkKind::nvlink, 100e9);
    for (const char* gpu : {"bg0", "bg1", "bg2", "bg3", "bg4", "bg5"}) sketch.link(gpu, "t", LinkKind::nvlink, 100e9);
    sketch.network_switch("leaf");
    for (const char* nic : {"an0", "an1", "an2", "an3", "bn0", "bn1", "bn2", "bn3", "bn4", "bn5"})
        sketch.link(nic, "leaf", LinkKind::network, 50e9);
    const Topology net = build_topology(sketch.cluster());
    REQUIRE(net.domains() == 3);
    CHECK(net.gpus() == 10);
    CHECK(net.type_of(DomainId{0}).gpus() == 3);
    CHECK(net.type_of(DomainId{1}).gpus() == 1);
    CHECK(net.type_of(DomainId{2}).gpus() == 6);
    CHECK(net.instances.size() == 2);
    CHECK(net.gpus_of(InstanceId{0}) == std::vector<GpuPlace>{at(0, 0), at(0, 1), at(0, 2), at(1, 0)});
    CHECK(net.instance_of(at(1, 0)) == InstanceId{0});
    CHECK(spread_of(net, linear_placement(net, 0, 0)).instances == 2);
    CHECK(net.type_of(DomainId{0}).instance.nvlink->multicast);
    CHECK(net.rate_out_of(DomainId{2}).value == Approx(6 * 50e9));
}

TEST_CASE("a direct link comes first, then switches with a share each, then the widest way through another GPU") {
    // 0 == 1 == 2 and 0 == 3 == 2, the second narrower; 4 and 5 hang with 0 on two switches of 100 and 50.
    GraphSketch sketch;
    sketch.machine("m");
    for (const char* gpu : {"g0", "g1", "g2", "g3", "g4", "g5"}) sketch.gpu(gpu);
    sketch.nvswitch("s").nvswitch("t");
    sketch.link("g0", "g1", LinkKind::nvlink, 25e9, 2).link("g1", "g2", LinkKind::nvlink, 25e9, 2);
    sketch.link("g0", "g3", LinkKind::nvlink, 25e9).link("g3", "g2", LinkKind::nvlink, 25e9);
    for (const char* gpu : {"g0", "g4", "g5"})
        sketch.link(gpu, "s", LinkKind::nvlink, 100e9).link(gpu, "t", LinkKind::nvlink, 50e9);
    sketch.link("g0", "g4", LinkKind::nvlink, 1e9);
    const Topology net = build_topology(sketch.cluster());
    REQUIRE(net.domains() == 1);
    const auto way = [&](std::uint32_t from, std::uint32_t to) {
        return shares(net, net.nvlink_route(at(0, from), at(0, to)));
    };
    CHECK(way(0, 1) == std::map<std::string, double>{{"g0 -> g1", 1}});
    CHECK(way(0, 4) == std::map<std::string, double>{{"g0 -> g4", 1}});
    CHECK(way(0, 2) == std::map<std::string, double>{{"g0 -> g1", 1}, {"g1 -> g2", 1}});
    const auto switched = way(0, 5);
    CHECK(switched.size() == 4);
    CHECK(switched.at("g0 -> s") == Approx(2.0 / 3));
    CHECK(switched.at("t -> g5") == Approx(1.0 / 3));
    CHECK_FALSE(net.type_of(DomainId{0}).instance.nvlink->multicast);  // not all GPUs hang on switches alone
    CHECK(net.links[net.nvlink_route(at(0, 0), at(0, 1))[0].link].rate == BytesPerSecond{50e9});  // two links as one
}

TEST_CASE("rails of a pod: what stays on a rail sees one leaf, what does not is spread over the spines") {
    GraphSketch sketch;
    for (const char* machine : {"a", "b"}) {
        add_machine(sketch, machine, 2);
        sketch.link(std::string(machine) + "g0", std::string(machine) + "g1", LinkKind::nvlink, 100e9);
    }
    for (const char* leaf : {"l0", "l1", "x", "y"}) sketch.network_switch(leaf);
    for (const char* machine : {"a", "b"})
        for (const char* rail : {"0", "1"})
            sketch.link(std::string(machine) + "n" + rail, std::string("l") + rail, LinkKind::network, 50e9);
    // l0 has two cables to x and one to y: three ways on from it.
    sketch.link("l0", "x", LinkKind::network, 50e9, 2).link("l0", "y", LinkKind::network, 50e9);
    sketch.link("l1", "x", LinkKind::network, 50e9).link("l1", "y", LinkKind::network, 50e9);
    Cluster cluster = sketch.cluster();
    const Topology net = build_topology(cluster);
    const auto same = shares(net, net.network_route(at(0, 0), 0, 0, at(1, 0), 0));
    CHECK(same ==
          std::map<std::string, double>{{"ag0 -> an0", 1}, {"an0 -> l0", 1}, {"l0 -> bn0", 1}, {"bn0 -> bg0", 1}});
    const auto across = shares(net, net.network_route(at(0, 0), 0, 1, at(1, 1), 0));
    CHECK(across.at("l0 -> x") == Approx(2.0 / 3));
    CHECK(across.at("y -> l1") == Approx(1.0 / 3));
    // By a NIC beside another GPU: over NVLink first.
    CHECK(shares(net, net.network_route(at(0, 0), 1, 1, at(1, 0), 0)).contains("ag0 -> ag1"));

    // Hashed flows take one way; over many flows each cable has its third.
    for (Nic& nic : cluster.graph->nics) nic.spreading = Spreading::hash;
    const Topology hashed = build_topology(cluster);
    int over_y = 0;
    for (std::uint64_t flow = 0; flow < 300; ++flow) {
        const Route route = hashed.network_route(at(0, 0), 0, 1, at(1, 1), flow);
        CHECK(route.size() == 6);
        for (const auto& [link, share] : route) CHECK(share == 1);
        over_y += shares(hashed, route).contains("l0 -> y");
    }
    CHECK(over_y > 70);
    CHECK(over_y < 130);
}

TEST_CASE("a graph that is cut says between what, and a fault slows the links of its device") {
    GraphSketch sketch;
    add_machine(sketch, "a", 1);
    add_machine(sketch, "b", 1);
    sketch.network_switch("l").network_switch("k");
    sketch.link("an0", "l", LinkKind::network, 50e9).link("bn0", "k", LinkKind::network, 50e9);
    Cluster cluster = sketch.cluster();
    CHECK_THROWS_WITH(build_topology(cluster).network_route(at(0, 0), 0, 0, at(1, 0), 0),
                      "no way leads from an0 to bn0 over the network");
    cluster.graph->links.push_back({.from = 4, .to = 5, .kind = LinkKind::network, .rate = {50e9}});
    cluster.faults = {{.kind = DeviceKind::nic, .instance = 1, .index = 0, .fraction = 0.5}};
    const Topology net = build_topology(cluster);
    CHECK(net.links[net.network_route(at(0, 0), 0, 0, at(1, 0), 0)[3].link].rate == BytesPerSecond{25e9});
    cluster.faults[0].index = 1;
    CHECK_THROWS_AS(build_topology(cluster), InputError);
}

TEST_CASE("rings of a mesh: as many as its links carry, through all GPUs, the same each time") {
    // A square with two links on two sides: 0 == 1, 2 == 3 double. NCCL counts 20 of the 25 GB/s. One ring and its
    // mirror at 20, since each needs 1 - 2 and 3 - 0; doubled, for they are few and fast? 20 < 25: no.
    GraphSketch sketch;
    sketch.compute_capability = 80;
    sketch.machine("m");
    for (const char* gpu : {"g0", "g1", "g2", "g3"}) sketch.gpu(gpu);
    sketch.link("g0", "g1", LinkKind::nvlink, 25e9, 2).link("g2", "g3", LinkKind::nvlink, 25e9, 2);
    sketch.link("g1", "g2", LinkKind::nvlink, 25e9).link("g3", "g0", LinkKind::nvlink, 25e9);
    const Topology net = build_topology(sketch.cluster());
    const RingSearch& alone = net.type_of(DomainId{0}).alone;
    REQUIRE(alone.paths.size() == 2);
    CHECK(alone.intra == BytesPerSecond{20e9});
    CHECK(alone.paths[0].gpus == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(alone.paths[1].gpus == std::vector<std::uint32_t>{0, 3, 2, 1});
}

TEST_CASE("a chain of GPUs without a ring has one path by number") {
    GraphSketch sketch;
    sketch.machine("m");
    for (const char* gpu : {"g0", "g1", "g2"}) sketch.gpu(gpu);
    sketch.link("g0", "g1", LinkKind::nvlink, 25e9).link("g1", "g2", LinkKind::nvlink, 25e9);
    const Topology net = build_topology(sketch.cluster());
    CHECK(net.type_of(DomainId{0}).alone.paths[0].gpus == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(net.nvlink_route(at(0, 2), at(0, 0)).size() == 2);
}

TEST_CASE("parts of a graph that do not fit together are refused") {
    GraphSketch sketch;
    add_machine(sketch, "a", 1);
    Cluster cluster = sketch.cluster();
    cluster.graph->links[0].to = 9;
    CHECK_THROWS_AS(build_topology(cluster), InputError);
    cluster = sketch.cluster();
    cluster.graph->links[0].rate = {0};
    CHECK_THROWS_AS(build_topology(cluster), InputError);
    cluster = sketch.cluster();
    cluster.graph->devices.clear();
    cluster.graph->links.clear();
    CHECK_THROWS_WITH(build_topology(cluster), Catch::Contains("a cluster needs a GPU"));
    sketch.machine("b").gpu("lone");
    CHECK_THROWS_WITH(build_topology(sketch.cluster()),
                      Catch::Contains("several NVLink domains need NICs") && Catch::Contains("none of lone"));
}

}  // namespace fmsim
