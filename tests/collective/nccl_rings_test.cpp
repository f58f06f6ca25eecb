// Rings, splits and chunks against what NCCL's own functions produced for p5 instances.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fmsim/collective.hpp"
#include "fmsim/formats.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

nlohmann::json examples() {
    return nlohmann::json::parse(std::ifstream(FMSIM_SOURCE_DIR "/tests/data/nccl-p5-rings.json"));
}

Topology p5(std::uint32_t count) {
    Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge");
    cluster.blocks[0].count = count;
    return build_topology(cluster);
}

Schedule plan(const Topology& net, const Nccl& nccl, Bytes size, Protocol protocol, std::uint32_t channels) {
    return toy::plan("Ring", Collective::all_reduce, net, toy::everyone(net),
                     {.size = size,
                      .protocol = protocol,
                      .channels = channels,
                      .shape = &nccl.shape,
                      .simple_buffer = net.cluster.blocks[0].type.instance.simple_buffer});
}

std::vector<std::uint32_t> from_rank_zero(const Channel& channel) {
    std::vector<std::uint32_t> order;
    for (const Hop& hop : channel.hops) order.push_back(hop.from);
    std::rotate(order.begin(), std::find(order.begin(), order.end(), 0u), order.end());
    return order;
}

}  // namespace

TEST_CASE("rings visit the ranks in NCCL's order") {
    const Nccl nccl = Catalogue::shipped().nccl();
    const nlohmann::json all = examples();
    for (const auto& example : all.at("rings")) {
        const Topology net = p5(example.at("domains"));
        const Schedule ring = plan(net, nccl, Bytes{1 << 30}, Protocol::simple, 16);
        const auto& orders = example.at("orders");
        for (std::size_t c = 0; c < orders.size(); ++c)
            CHECK(from_rank_zero(ring.channels[c]) == orders[c].get<std::vector<std::uint32_t>>());
    }
}

TEST_CASE("channels, parts and chunks are NCCL's") {
    const Nccl nccl = Catalogue::shipped().nccl();
    const nlohmann::json all = examples();
    for (const auto& system : all.at("systems")) {
        const Topology net = p5(system.at("domains"));
        CHECK(communicator_of(net, toy::everyone(net), nccl).channels == system.at("coll_channels"));
        for (const auto& row : system.at("rows")) {
            const Bytes size{row.at("bytes").get<std::int64_t>()};
            INFO(net.domains() << " instances, " << size.count << " bytes");
            const Protocol protocol = parse_protocol(row.at("protocol").get<std::string>());
            const Schedule ring = plan(net, nccl, size, protocol, row.at("channels"));
            CHECK(ring.channels.front().bytes.count == row.at("first"));
            CHECK(ring.channels.size() == row.at("channels"));
            if (ring.channels.size() > 1) CHECK(ring.channels.back().bytes.count == row.at("last"));
            if (ring.channels.size() > 2) CHECK(ring.channels[1].bytes.count == row.at("middle"));
            if (ring.channels.front().loops.size() > 1)
                CHECK(ring.channels.front().loops.front().chunk == row.at("chunk").get<double>());
        }
    }
}

}  // namespace fmsim
