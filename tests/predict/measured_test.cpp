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

TEST_CASE("a pinned ring on two p5 instances stays at or below the line rate") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge:2"));
    for (std::int64_t size = 8; size <= std::int64_t{1} << 34; size *= 4) {
        const Workload job = in_turn({{"call", Collective::all_reduce, Bytes{size}}});
        CHECK(predict(net, toy::everyone(net), job, catalogue.nccl(), ring()).calls.front().busbw_gbps() <= 400);
    }
}

TEST_CASE("two p5 instances as NCCL chooses: within 25 % everywhere and 8 % on the whole") {
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
        CHECK(std::abs(errors.back()) < 25);
    }
    CHECK(summarise(errors).mean_percent < 8);
}

TEST_CASE("rings that were pinned: the mean error is what docs/models/ring.md says") {
    const auto [id, percent] = GENERATE(table<std::string, double>({
        {"h100-ib2-2node-allreduce-ring-ctas24", 14.3},
        {"a100-oci-2node-allreduce-nccl2.25.1", 2.5},
        {"p5en-4node-allreduce-ring-nccl2.27.7", 3.9},
        {"b200-podA-8node-allreduce-ring", 15.7},
        {"h200-1node-allreduce-ring-16g", 2.0},
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
