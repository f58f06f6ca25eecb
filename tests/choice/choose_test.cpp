// The choice of protocol and channels against NCCL's own tuning model for p5 instances.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fmsim/choice.hpp"
#include "fmsim/formats.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

struct P5 {
    Nccl nccl = Catalogue::shipped().nccl();
    Topology net;
    Group group;
    explicit P5(std::uint32_t count) {
        Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge");
        cluster.blocks[0].count = count;
        net = build_topology(cluster);
        group = toy::everyone(net);
    }
    Choice choose(Bytes size, const Pins& pins = {}) const {
        return fmsim::choose(Collective::all_reduce, size, net, group, nccl, pins);
    }
};

// The least of latency + size / bandwidth, with the latencies and bandwidths that NCCL computed.
Protocol least(const nlohmann::json& system, std::int64_t size, std::int64_t ranks) {
    Protocol best{};
    double least_us = 1e300;
    for (const Protocol protocol : kProtocols) {
        const auto& row = system.at("latency_us_bandwidth_GBps").at(std::string(name(protocol)));
        double latency = row[0];
        const std::int64_t part = size / (system.at("coll_channels").get<std::int64_t>() * ranks);
        if (protocol == Protocol::simple && system.at("domains") > 1 && part >= 64) latency *= 1.4;
        const double time = latency + static_cast<double>(size) / (1000 * row[1].get<double>());
        if (time >= least_us) continue;
        least_us = time;
        best = protocol;
    }
    return best;
}

}  // namespace

TEST_CASE("among rings NCCL's tuning model picks the protocol") {
    const auto examples = nlohmann::json::parse(std::ifstream(FMSIM_SOURCE_DIR "/tests/data/nccl-p5-rings.json"));
    Pins ring;
    ring.algorithm = "Ring";
    ring.aws_tuner = false;
    for (const auto& system : examples.at("systems")) {
        const P5 p5(system.at("domains"));
        for (std::int64_t size = 8; size <= (std::int64_t{1} << 35); size = size * 3 / 2) {
            INFO(p5.net.domains() << " instances, " << size << " bytes");
            CHECK(p5.choose(Bytes{size}, ring).protocol == least(system, size, p5.net.gpus()));
        }
    }
}

TEST_CASE("small operations take fewer channels, as NCCL counts them") {
    const auto examples = nlohmann::json::parse(std::ifstream(FMSIM_SOURCE_DIR "/tests/data/nccl-p5-rings.json"));
    for (const auto& system : examples.at("systems")) {
        const P5 p5(system.at("domains"));
        for (const auto& row : system.at("rows")) {
            const Bytes size{row.at("bytes").get<std::int64_t>()};
            Pins pins;
            pins.algorithm = "Ring";
            pins.protocol = parse_protocol(row.at("protocol").get<std::string>());
            INFO(p5.net.domains() << " instances, " << size.count << " bytes");
            CHECK(p5.choose(size, pins).channels == row.at("channels"));
        }
    }
}

TEST_CASE("what the user pins is taken") {
    const P5 p5(2);
    Pins pins;
    pins.algorithm = "Ring";
    pins.protocol = Protocol::simple;
    pins.most_channels = 3;
    const Choice choice = p5.choose(Bytes{1 << 30}, pins);
    CHECK(choice.protocol == Protocol::simple);
    CHECK(choice.channels == 3);
    CHECK(choice.algorithm->name == "Ring");
}

TEST_CASE("an algorithm that does not exist is refused with those that do") {
    Pins pins;
    pins.algorithm = "Rong";
    CHECK_THROWS_WITH(P5(2).choose(Bytes{8}, pins), "--algo: expected an algorithm of all_reduce: Ring, Tree, NVLS, NVLSTree; found Rong");
}

}  // namespace fmsim
