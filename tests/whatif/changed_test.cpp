// What a change makes of a cluster.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/whatif.hpp"

namespace fmsim {
namespace {

Cluster p5en(const std::string& change) {
    return changed(Catalogue::shipped().cluster("p5en.48xlarge:16"), parse_change(change));
}
const InstanceType& type_of(const Cluster& cluster) { return cluster.blocks[0].type.instance; }

}  // namespace

TEST_CASE("a property changes where it stands, and nothing else does") {
    const Cluster sound = Catalogue::shipped().cluster("p5en.48xlarge:16");
    const InstanceType& before = type_of(sound);
    CHECK(type_of(p5en("efa.bandwidth*2")).nic->carries.value == before.nic->carries.value * 2);
    CHECK(type_of(p5en("nic.bandwidth*2")).nic->carries.value == before.nic->carries.value * 2);
    CHECK(type_of(p5en("nvlink.bandwidth=1TB/s")).nvlink->rate.value == 1e12);
    CHECK(type_of(p5en("gpu.memory_bandwidth+10%")).gpu.memory_rate.value ==
          Approx(before.gpu.memory_rate.value * 1.1));
    CHECK(type_of(p5en("gpu.flops.bf16*2")).gpu.peak.at("bf16").value == before.gpu.peak.at("bf16").value * 2);
    CHECK(type_of(p5en("gpu.flops.bf16*2")).gpu.peak.at("fp8") == before.gpu.peak.at("fp8"));
    const Cluster later = p5en("nvlink.latency.LL+1us");
    CHECK(type_of(later).nvlink->hop_latency[Protocol::ll] == before.nvlink->hop_latency[Protocol::ll] + 1_us);
    CHECK(type_of(later).nvlink->hop_latency[Protocol::simple] == before.nvlink->hop_latency[Protocol::simple]);
}

TEST_CASE("one device gets a fault, by instance and number or counted through the cluster") {
    const Fault nic = p5en("nic[3,7].speed=0.5").faults.at(0);
    CHECK(nic.kind == DeviceKind::nic);
    CHECK(nic.instance == 3);
    CHECK(nic.index == 7);
    CHECK(nic.fraction == 0.5);
    const Fault gpu = p5en("gpu[12].speed=0.8").faults.at(0);
    CHECK(gpu.kind == DeviceKind::gpu);
    CHECK(gpu.instance == 1);
    CHECK(gpu.index == 4);
    CHECK(p5en("nic[3,7].speed=1").faults.empty());
}

TEST_CASE("a NIC that is down is rebalanced, unless a policy is named") {
    CHECK(p5en("nic[3,7].down").rail_policy == RailPolicy::even);
    CHECK(p5en("nic[3,7].speed=0.5").rail_policy == RailPolicy::keep);
    const Cluster named = changed(Catalogue::shipped().cluster("p5en.48xlarge:16"),
                                  {parse_change("nic[3,7].down"), parse_change("rail_policy=neighbour")});
    CHECK(named.rail_policy == RailPolicy::neighbour);
}

TEST_CASE("changes are applied in order, each to what the one before left") {
    const Cluster cluster = changed(Catalogue::shipped().cluster("p5en.48xlarge:2"),
                                    {parse_change("efa.bandwidth=10GB/s"), parse_change("efa.bandwidth*3"),
                                     parse_change("nic[0,1].speed=0.5"), parse_change("nic[0,1].speed*0.5")});
    CHECK(type_of(cluster).nic->carries.value == 3e10);
    REQUIRE(cluster.faults.size() == 1);
    CHECK(cluster.faults[0].fraction == 0.25);
}

TEST_CASE("what the cluster lacks is refused by name") {
    CHECK_THROWS_WITH(p5en("infiniband.bandwidth*2"), Catch::Contains("the cluster has no infiniband"));
    CHECK_THROWS_WITH(p5en("nic[16,0].down"), Catch::Contains("16 instances") && Catch::Contains("number 16"));
    CHECK_THROWS_WITH(p5en("nic[0,16].down"), Catch::Contains("instance 0 has 16 nics"));
    CHECK_THROWS_WITH(p5en("gpu[128].speed=0.5"), Catch::Contains("the cluster has 128 gpus"));
    CHECK_THROWS_WITH(p5en("efa.latency.simple=1us"), Catch::Contains("did you mean \"Simple\"?"));
    CHECK_THROWS_WITH(p5en("efa.latency-1s"), Catch::Contains("expected more than no time"));
    CHECK_THROWS_WITH(p5en("efa.bandwidth*0"), Catch::Contains("expected more than 0"));
}

TEST_CASE("every fact of every machine, written as a change, sets what it says") {
    const Catalogue catalogue = Catalogue::shipped();
    for (const std::string& machine : catalogue.names()) {
        const Cluster cluster = catalogue.cluster(machine);
        const auto facts = facts_of(cluster);
        CHECK_FALSE(facts.empty());
        for (const ClusterFact& fact : facts) {
            CAPTURE(machine, fact.name, fact.value);
            CHECK(facts_of(changed(cluster, parse_change(fact.name + "=" + fact.value))) == facts);
            if (fact.name.ends_with("bandwidth"))
                CHECK(facts_of(changed(cluster, parse_change(fact.name + "*2"))) != facts);
        }
    }
}

TEST_CASE("a change touches the links of its kind, or those of its device") {
    const Topology net = build_topology(Catalogue::shipped().cluster("p5en.48xlarge:2"));
    const auto touched = [&](const std::string& text) {
        std::size_t count = 0;
        for (std::uint32_t i = 0; i < net.links.size(); ++i) count += touches(net, parse_change(text), LinkId{i});
        return count;
    };
    CHECK(touched("efa.bandwidth*2") == 2 * 16 * 2);  // instances, NICs, directions
    CHECK(touched("infiniband.bandwidth*2") == 0);
    CHECK(touched("nvlink.latency+1us") == 2 * 8 * 2);
    CHECK(touched("nic[1,3].down") == 4);  // the network and PCIe, both ways
    CHECK(touched("gpu.flops*2") == 0);
}

}  // namespace fmsim
