// Predictions beside published measurements: how far they may be. The tables keep their source.
#include <catch2/catch.hpp>

#include "toy/toy.hpp"
#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"

namespace fmsim {

TEST_CASE("two p5 instances: a ring is within a factor of 2 everywhere and within 25 % from 256 MiB on") {
    const std::string file = FMSIM_SOURCE_DIR "/docs/measurements/p5-2node-allreduce-awsome.json";
    const Measurements measured = parse_measurements(read_file(file), file);
    REQUIRE(measured.rows.size() == 32);
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster(measured.cluster));
    for (const MeasuredRow& row : measured.rows) {
        const Job job{.name = "job", .calls = {{"call", parse_collective(measured.collective), row.size}}};
        const CallPrediction call = predict(net, toy::everyone(net), job, catalogue.nccl(), {}).calls.front();
        INFO(row.size.count << " bytes: " << microseconds(call.time()) << " us, measured " << row.time_us);
        CHECK(microseconds(call.time()) < 2 * row.time_us);
        CHECK(microseconds(call.time()) > row.time_us / 2);
        if (row.size >= Bytes{256 << 20}) CHECK(std::abs(error_percent(call.time(), row.time_us)) < 25);
        CHECK(call.busbw_gbps(16) <= 400);
    }
}

}  // namespace fmsim
