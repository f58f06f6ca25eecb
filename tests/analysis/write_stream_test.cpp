// Raw writes of published tables: what an interface takes for one of many.
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

double predicted_us(const Topology& net, std::int64_t size, bool to_any_rail) {
    Measurements table{.id = "w",
                       .cluster = "p5.48xlarge:2",
                       .collective = "rdma_write_stream",
                       .source = "s",
                       .rows = {{.size = {size}, .time_us = 1}}};
    table.to_any_rail = to_any_rail;
    return *validate(table, net, Catalogue::shipped().nccl()).front().predicted_us;
}

TEST_CASE("a GPU's writes take its four interfaces in turn; of eight peers on any rail one is on the sender's") {
    //  same rail: (work on the write + bytes / rate) / 4       any: x (1/8 + 7/8 / share)
    Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge:2");
    Nic& nic = *cluster.blocks.front().type.instance.nic;
    nic.write_cost = 2_us;
    nic.carries = 10_GBps;
    nic.across_rails = 0.5;
    const Topology net = build_topology(cluster);
    CHECK(predicted_us(net, 80'000, false) == Approx((2 + 8) / 4.));
    CHECK(predicted_us(net, 80'000, true) == Approx((2 + 8) / 4. * (1 / 8. + 7 / 8. / 0.5)));
    CHECK(predicted_us(net, 8, false) == Approx(0.5).epsilon(0.001));
}

}  // namespace
}  // namespace fmsim
