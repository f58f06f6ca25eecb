// Two p5 instances beat the line rate of their own NICs (aws-samples/awsome-distributed-training, NVIDIA/nccl#946,
// #812, nccl-tests#22, #196, #290): nccl-tests counts 2 (n-1)/n bytes a byte of buffer, but a tree sends each byte
// once.
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

const Topology& two_p5() {
    static const Topology net = build_topology(Catalogue::shipped().cluster("p5.48xlarge:2"));
    return net;
}

Prediction all_reduce(Bytes size, const std::string& algorithm = {}) {
    static const Nccl nccl = Catalogue::shipped().nccl();
    PredictOptions options;
    if (!algorithm.empty()) options.pins.algorithm = algorithm;
    const Workload job = in_turn({{"call", Collective::all_reduce, size}});
    return predict(two_p5(), toy::everyone(two_p5()), job, nccl, options);
}

}  // namespace

TEST_CASE("the public curve: within 20 % from 64 MiB on, within a factor of 1.5 below") {
    const std::string file = FMSIM_SOURCE_DIR "/docs/measurements/p5-2node-allreduce-awsome.json";
    const Measurements measured = parse_measurements(read_file(file), file);
    for (const MeasuredRow& row : measured.rows) {
        const double us = microseconds(all_reduce(row.size).calls.front().time());
        INFO(row.size.count << " bytes: " << us << " us, measured " << row.time_us);
        const double factor = row.size >= Bytes{std::int64_t{64} << 20} ? 1.2 : 1.5;
        CHECK(us < row.time_us * factor);
        CHECK(us > row.time_us / (factor == 1.5 ? 1.5 : 1.25));  // 20 % of the measured one
    }
}

TEST_CASE("the figures that people quote of it") {
    for (const std::int64_t bytes : {8, 64, 512, 2048}) {  // 65 to 75 us, flat
        const double us = microseconds(all_reduce(Bytes{bytes}).calls.front().time());
        CHECK(us > 65 / 1.5);
        CHECK(us < 75 * 1.5);
    }
    const auto [mib, busbw] = GENERATE(
        table<std::int64_t, double>({{1, 16}, {8, 77}, {64, 209}, {256, 343}, {1024, 437}, {8192, 479}, {16384, 487}}));
    INFO(mib << " MiB");
    const double predicted = all_reduce(Bytes{mib << 20}).calls.front().busbw_gbps();
    const double factor = mib >= 64 ? 1.2 : 1.5;
    CHECK(predicted > busbw / factor);
    CHECK(predicted < busbw * factor);
}

TEST_CASE("bus bandwidth grows with size, passes the line rate as NCCL chooses, and stays below a tree's bound") {
    double before = 0;
    for (std::int64_t size = 8; size <= std::int64_t{1} << 34; size *= 2) {
        const double busbw = all_reduce(Bytes{size}).calls.front().busbw_gbps();
        INFO(size << " bytes");
        CHECK(busbw > before * 0.97);
        CHECK(busbw < 750);  // 2 (n-1)/n x 400
        before = busbw;
    }
    CHECK(before > 400);
}

TEST_CASE("at the top NVLink holds it, not EFA; a pinned ring is held by the channels or EFA, at most 400 GB/s") {
    const Bytes large{std::int64_t{16} << 30};
    CHECK(explain(two_p5(), all_reduce(large)).calls[0].limited_by == "NVLink");
    const Prediction ring = all_reduce(large, "Ring");
    CHECK(ring.calls[0].busbw_gbps() <= 400);
    CHECK(explain(two_p5(), ring).calls[0].limited_by != "NVLink");
}

}  // namespace fmsim
