// Predictions beside published measurements: how far they may be. The tables keep their source.
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

PredictOptions ring() {
    PredictOptions options;
    options.pins.algorithm = "Ring";
    return options;
}

}  // namespace

TEST_CASE("two p5 instances: a ring is within a factor of 2 everywhere and within 25 % from 256 MiB on") {
    const std::string file = FMSIM_SOURCE_DIR "/docs/measurements/p5-2node-allreduce-awsome.json";
    const Measurements measured = parse_measurements(read_file(file), file);
    REQUIRE(measured.rows.size() == 32);
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster(measured.cluster));
    for (const MeasuredRow& row : measured.rows) {
        const Workload job = in_turn({{"call", parse_collective(measured.collective), row.size}});
        const CallPrediction call = predict(net, toy::everyone(net), job, catalogue.nccl(), ring()).calls.front();
        INFO(row.size.count << " bytes: " << microseconds(call.time()) << " us, measured " << row.time_us);
        CHECK(microseconds(call.time()) < 2 * row.time_us);
        CHECK(microseconds(call.time()) > row.time_us / 2);
        if (row.size >= Bytes{256 << 20}) CHECK(std::abs(error_percent(call.time(), row.time_us)) < 25);
        CHECK(call.busbw_gbps() <= 400);
    }
}

TEST_CASE("two p5 instances as NCCL chooses: within 40 % everywhere and 15 % on the whole") {
    const std::string file = FMSIM_SOURCE_DIR "/docs/measurements/p5-2node-allreduce-awsome.json";
    const Measurements measured = parse_measurements(read_file(file), file);
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster(measured.cluster));
    std::vector<double> errors;
    for (const MeasuredRow& row : measured.rows) {
        const Workload job = in_turn({{"call", parse_collective(measured.collective), row.size}});
        const CallPrediction call = predict(net, toy::everyone(net), job, catalogue.nccl(), {}).calls.front();
        INFO(row.size.count << " bytes: " << microseconds(call.time()) << " us, measured " << row.time_us);
        CHECK(call.time() >= call.closed_form);
        errors.push_back(error_percent(call.time(), row.time_us));
        CHECK(std::abs(errors.back()) < 40);
    }
    CHECK(summarise(errors).mean_percent < 15);
}

TEST_CASE("rings that were pinned: the mean error is what docs/models/ring.md says") {
    const auto [id, percent] = GENERATE(table<std::string, double>({
        {"h100-ib2-2node-allreduce-ring-ctas24", 14.5},
        {"a100-oci-2node-allreduce-nccl2.25.1", 3.3},
        {"p5en-4node-allreduce-ring-nccl2.27.7", 5.4},
        {"b200-podA-8node-allreduce-ring", 21.3},
        {"h200-1node-allreduce-ring-16g", 0.5},
    }));
    const std::string file = FMSIM_SOURCE_DIR "/docs/measurements/" + id + ".json";
    const Measurements measured = parse_measurements(read_file(file), file);
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster(measured.cluster));
    std::vector<double> errors;
    for (const MeasuredRow& row : measured.rows) {
        const Workload job = in_turn({{"call", Collective::all_reduce, row.size}});
        const CallPrediction call = predict(net, toy::everyone(net), job, catalogue.nccl(), ring()).calls.front();
        errors.push_back(error_percent(call.time(), row.time_us));
    }
    INFO(id);
    CHECK(summarise(errors).mean_percent == Approx(percent).margin(0.06));
}

}  // namespace fmsim
