// Whole scenarios: what a job takes, and inputs that make no sense.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

Workload job_of(const std::vector<Bytes>& sizes) {
    std::vector<Call> calls;
    for (const Bytes size : sizes) calls.push_back({"call " + to_text(size), Collective::all_reduce, size});
    return in_turn(calls);
}

}  // namespace

TEST_CASE("4 GPUs at 1 GB/s reduce 4 MB in 6 ms") {
    // 6 steps of 1 MB at 1 byte a nanosecond; the closed form says 2 x 3/4 x 4 MB / 1 GB/s
    const Topology net = build_topology(toy::cluster({.gpus = 4}));
    PredictOptions options;
    options.pins.algorithm = "Ring";
    const Prediction p = predict(net, toy::everyone(net), job_of({Bytes{4'000'000}}), toy::nccl(), options);
    CHECK(p.calls[0].time().fs == 6'000'000'000'000);
    CHECK(p.calls[0].closed_form == p.calls[0].time());
    CHECK(p.calls[0].algbw_gbps() == Approx(4.0 / 6));
    CHECK(p.calls[0].busbw_gbps() == Approx(1));
}

TEST_CASE("calls run one after another and take as long as each alone") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge:2"));
    const auto fidelity = GENERATE(Fidelity::stream, Fidelity::chunk);
    const PredictOptions options{.fidelity = fidelity, .pins = {}};
    const Prediction both =
        predict(net, toy::everyone(net), job_of({Bytes{1000}, Bytes{0}, Bytes{1 << 25}}), catalogue.nccl(), options);
    for (const CallPrediction& call : both.calls) {
        const Prediction alone = predict(net, toy::everyone(net), job_of({call.call.size}), catalogue.nccl(), options);
        CHECK(call.time() == alone.end);
    }
    CHECK(both.calls[1].started == both.calls[0].ended);
    CHECK(both.calls[2].ended == both.end);
}

TEST_CASE("nothing to reduce takes no time and no channel") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge:2"));
    const Prediction p = predict(net, toy::everyone(net), job_of({Bytes{0}}), catalogue.nccl(), {});
    CHECK(p.calls[0].time().fs == 0);
    CHECK(p.calls[0].channels == 0);
    CHECK(p.calls[0].busbw_gbps() == 0);
}

TEST_CASE("a job, a group or an instance that makes no sense is refused") {
    const Topology net = build_topology(toy::cluster({.gpus = 4}));
    CHECK_THROWS_WITH(predict(net, toy::everyone(net), job_of({}), toy::nccl(), {}),
                      "/programs/0/operations: expected at least one operation");
    CHECK_THROWS_AS(predict(net, toy::everyone(net), job_of({Bytes{1}, Bytes{1}}), toy::nccl(), {}),
                    InputError);  // one name twice
    CHECK_THROWS_AS(predict(net, toy::everyone(net), job_of({Bytes{-1}}), toy::nccl(), {}), InputError);
    const Topology single = build_topology(toy::cluster({.gpus = 1}));
    CHECK_THROWS_WITH(predict(single, toy::everyone(single), job_of({Bytes{1}}), toy::nccl(), {}),
                      "a collective needs at least 2 GPUs; found 1");
}

TEST_CASE("numbering the alike GPUs of an instance the other way round changes nothing") {
    // The same ring found under another numbering of the GPUs costs the same.
    Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge:2");
    const Nccl nccl = Catalogue::shipped().nccl();
    const SimTime before =
        predict(build_topology(cluster), toy::everyone(build_topology(cluster)), job_of({Bytes{1 << 26}}), nccl, {})
            .end;
    DomainType& type = cluster.blocks[0].type;
    for (RingSearch* search : {&type.alone, &type.several})
        for (RingPath& path : search->paths) {
            for (std::uint32_t& gpu : path.gpus) gpu = 7 - gpu;
            path.enter_group = 7 - path.enter_group;
            path.leave_group = 7 - path.leave_group;
        }
    CHECK(predict(build_topology(cluster), toy::everyone(build_topology(cluster)), job_of({Bytes{1 << 26}}), nccl, {})
              .end == before);
}

}  // namespace fmsim
