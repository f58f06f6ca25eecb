// Equal messages by the kinds of their ends, against every message placed by itself.
#include "exchange.hpp"

#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

struct Case {
    const char* machine;
    std::uint32_t per_domain;  // 0: all
    bool uneven;               // the last machine but one lends fewer GPUs
    bool broken_nic;
};

Cluster cluster_of(const Case& one) {
    Cluster cluster = Catalogue::shipped().cluster(one.machine);
    if (one.broken_nic) cluster.faults.push_back({DeviceKind::nic, 1, 1, 0.5});
    return cluster;
}

void check_alike(const std::vector<LevelFlow>& quick, const std::vector<LevelFlow>& slow) {
    REQUIRE(quick.size() == slow.size());
    for (std::size_t l = 0; l < quick.size(); ++l) {
        INFO("level " << l);
        CHECK(quick[l].work == Approx(slow[l].work).epsilon(1e-12));
        CHECK(quick[l].rate_limit == Approx(slow[l].rate_limit).epsilon(1e-12));
        CHECK(std::abs(quick[l].delay.fs - slow[l].delay.fs) <= 1);
        REQUIRE(quick[l].uses.size() == slow[l].uses.size());
        for (std::size_t u = 0; u < quick[l].uses.size(); ++u) {
            REQUIRE(quick[l].uses[u].resource == slow[l].uses[u].resource);
            CHECK(quick[l].uses[u].weight == Approx(slow[l].uses[u].weight).epsilon(1e-12));
        }
    }
}

}  // namespace

TEST_CASE("an all-to-all by kinds of machines is the one by messages") {
    static const Nccl nccl = Catalogue::shipped().nccl();
    const Case one = GENERATE(values<Case>({{"p5en.48xlarge:1", 0, false, false},
                                            {"p5en.48xlarge:5", 0, false, false},
                                            {"p5en.48xlarge:5", 0, true, true},
                                            {"p5.48xlarge:3", 3, true, false},
                                            {"hgx-h100-8x400:7", 1, false, false},
                                            {"hgx-h100-4x400:4", 0, true, true},
                                            {"u-p6e-gb200x72:2", 36, true, false}}));
    const bool pxn = GENERATE(true, false);
    const Protocol protocol = GENERATE(Protocol::simple, Protocol::ll);
    const Topology net = build_topology(cluster_of(one));
    Placement places = linear_placement(net, 0, one.per_domain);
    if (one.uneven)
        std::erase_if(places, [&](GpuPlace place) { return place.domain.value + 2 == net.domains() && place.gpu > 0; });
    const Group group = group_of(places);
    const TransferShape shape{.protocol = protocol, .wire_per_data = 1, .parts = 2, .chunk = {131'072}};
    const Schedule schedule = toy::plan("SendRecv", Collective::all_to_all, net, group,
                                        {.size = {1'000'003},
                                         .protocol = protocol,
                                         .channels = 8,
                                         .inside = shape,
                                         .between = shape,
                                         .pxn = pxn,
                                         .shape = &nccl.shape,
                                         .simple_buffer = {8 << 20}});
    INFO(one.machine << " " << one.per_domain << (pxn ? " PXN" : ""));
    const std::vector<LevelFlow> quick = level_flows(net, group, schedule);
    check_alike(quick, level_flows_by_message(net, group, schedule));
    if (one.per_domain != 1) CHECK(quick[0].work > 0);
    if (net.domains() > 1) CHECK(quick[2].work > 0);
}

}  // namespace fmsim
