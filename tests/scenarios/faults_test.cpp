// One EFA device slow or gone on 16 p5en (NVIDIA/nccl#1600, #527, #2157): what the whole job loses, by policy.
#include <utility>

#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

struct Result {
    double busbw;
    std::string busiest;
};

// Large enough for the network to be all that counts.
Result all_reduce(double fraction, RailPolicy policy, std::uint32_t instances = 16, std::uint32_t broken = 3,
                  std::uint32_t device = 5) {
    const Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = catalogue.cluster("p5en.48xlarge:16");
    cluster.rail_policy = policy;
    // The factors are of the value that the network binds: SMs are no limit here.
    for (const Protocol protocol : kProtocols) cluster.blocks[0].type.instance.gpu.channel_rate[protocol].value *= 100;
    if (fraction < 1) cluster.faults = {{DeviceKind::nic, broken, device, fraction}};
    const Topology net = build_topology(cluster);
    const Group group = group_of(linear_placement(net, instances * 8, 0));
    const Workload job = in_turn({{"call", Collective::all_reduce, Bytes{std::int64_t{1} << 36}}});
    PredictOptions options;
    options.pins.protocol = Protocol::simple;
    const Prediction p = predict(net, group, job, catalogue.nccl(), options);
    return {p.calls[0].busbw_gbps(), explain(net, p).calls[0].busiest};
}

}  // namespace

TEST_CASE("a device at half rate halves the collective for everybody when its traffic stays") {
    const double sound = all_reduce(1, RailPolicy::keep).busbw;
    const Result half = all_reduce(0.5, RailPolicy::keep);
    CHECK(half.busbw / sound == Approx(0.5).epsilon(0.02));
    CHECK_THAT(half.busiest, Catch::Contains("p5en.48xlarge[3]/nic5"));
}

TEST_CASE("spread over the instance's devices it costs 15.5/16, or 15/16 when it is gone") {
    const double sound = all_reduce(1, RailPolicy::even).busbw;
    CHECK(all_reduce(0.5, RailPolicy::even).busbw / sound == Approx(15.5 / 16).epsilon(0.01));
    CHECK(all_reduce(0, RailPolicy::even).busbw / sound == Approx(15.0 / 16).epsilon(0.01));
}

TEST_CASE("a neighbour that takes it over carries twice its load: half the rate") {
    const double sound = all_reduce(1, RailPolicy::neighbour).busbw;
    CHECK(all_reduce(0, RailPolicy::neighbour).busbw / sound == Approx(0.5).epsilon(0.02));
}

TEST_CASE("a device that is gone and whose traffic stays makes the job impossible, by name") {
    CHECK_THROWS_WITH(all_reduce(0, RailPolicy::keep),
                      Catch::Contains("p5en.48xlarge[3]/nic5") && Catch::Contains("down"));
}

TEST_CASE("a fault outside the job changes nothing") {
    const Result sound = all_reduce(1, RailPolicy::keep, 8);
    CHECK(all_reduce(0.5, RailPolicy::keep, 8, 12).busbw == sound.busbw);
}

TEST_CASE("which of the alike devices of which alike instance is slow does not matter") {
    const auto policy = GENERATE(RailPolicy::keep, RailPolicy::even, RailPolicy::neighbour);
    const double first = all_reduce(0.5, policy, 16, 0, 0).busbw;
    for (const auto& [instance, device] : {std::pair{0u, 15u}, {7u, 4u}, {15u, 9u}})
        CHECK(all_reduce(0.5, policy, 16, instance, device).busbw == Approx(first).epsilon(1e-9));
}

}  // namespace fmsim
