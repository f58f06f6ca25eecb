// What a published table is compared with, where that is more than a collective's time.
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

double predicted_us(const Topology& net, Measurements table, std::int64_t size) {
    table.id = table.source = "t";
    table.cluster = "p5.48xlarge:2";
    table.rows = {{.size = {size}, .time_us = 1}};
    return *validate(table, net, Catalogue::shipped().nccl()).front().predicted_us;
}

TEST_CASE("a GPU's raw writes leave by its four NICs in turn, as fast as they are posted or sent") {
    Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge:2");
    Nic& nic = *cluster.blocks.front().type.instance.nic;
    nic.message_cost = 2_us;
    nic.carries = 10_GBps;
    const Topology net = build_topology(cluster);
    const Measurements writes{.collective = "rdma_write_stream"};
    CHECK(predicted_us(net, writes, 8) == Approx(2 / 4.));
    CHECK(predicted_us(net, writes, 20'000) == Approx(2 / 4.));
    CHECK(predicted_us(net, writes, 80'000) == Approx(8 / 4.));
}

TEST_CASE("a call that PyTorch made takes its own time on top of NCCL's") {
    const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    const double own = seconds(Catalogue::shipped().nccl().shape.torch_call) * 1e6;
    REQUIRE(own > 1);
    for (const std::int64_t size : {8LL, 1LL << 30})
        CHECK(predicted_us(net, {.collective = "all_reduce", .torch = true}, size) ==
              Approx(predicted_us(net, {.collective = "all_reduce"}, size) + own));
}

}  // namespace
}  // namespace fmsim
