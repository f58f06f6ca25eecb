// Reasons on machines where they can be worked out by hand.
#include <cmath>

#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

Prediction ring_on(const Topology& net, Bytes size) {
    PredictOptions options;
    options.pins.algorithm = "Ring";
    return predict(net, toy::everyone(net), in_turn({{"call", Collective::all_reduce, size}}), toy::nccl(), options);
}

const Lever& lever_of(const Reasons& reasons, Cause cause) {
    for (const Lever& lever : reasons.levers)
        if (lever.cause == cause) return lever;
    throw std::logic_error("no lever");
}

}  // namespace

TEST_CASE("a ring of 4 over NVLink at 1 GB/s with 1 us a hop spends 6 ms on bytes and 6 us on hops") {
    // 6 steps of 1 MB at 1 byte a nanosecond, each after the hop of the one before; the last arrives 1 us later
    const Topology net = build_topology(toy::cluster({.gpus = 4, .nvlink_latency = 1_us}));
    const Prediction p = ring_on(net, Bytes{4'000'000});
    const Reasons why = reasons_of(net, p);
    CHECK(p.end == SimTime{6'006'000'000'000});
    CHECK(why.spent[Cause::nvlink] == Approx(6e-3));
    CHECK(why.spent[Cause::nvlink_latency] == Approx(6e-6).epsilon(1e-6));
    CHECK(why.slopes[Cause::nvlink] == Approx(6e-3));
    CHECK(why.slopes[Cause::nvlink_latency] == Approx(6e-6).epsilon(1e-6));
    CHECK(why.slopes.kinks == 0);
    CHECK(why.levers.front().cause == Cause::nvlink);
    REQUIRE_FALSE(why.saturated.empty());
    CHECK(why.saturated[0].busy == Approx(6e-3 / 6.006e-3).epsilon(1e-6));
    CHECK(why.saturated[0].alike == 8);  // 4 GPUs, both ways
    CHECK(plain_name(net, why.saturated[0].resource) == "toy #0, GPU 0, NVLink, transmit");
}

TEST_CASE("what cannot matter says so, with the bytes it carries") {
    const Topology net = build_topology(toy::cluster({.gpus = 4}));
    const Reasons why = reasons_of(net, ring_on(net, Bytes{4'000'000}));
    const Lever& network = lever_of(why, Cause::network);
    CHECK(network.no_effect);
    CHECK(network.amount == 0);
    CHECK(lever_of(why, Cause::nvlink).amount == Approx(2 * 4 * 6e6));
}

TEST_CASE("a NIC that is three times as fast as it has to be gets no further than NVLink lets it") {
    // 2 x 2 GPUs, a ring over all: NICs at 1 GB/s, NVLink at 3; each carries the same bytes. So the NIC counts until
    // it is three times as fast, and NVLink from there on.
    const Topology net = build_topology(toy::cluster({.instances = 2, .gpus = 2, .nvlink = 3_GBps, .nic = 1_GBps}));
    const Reasons why = reasons_of(net, ring_on(net, Bytes{4'000'000}));
    const Lever& nic = lever_of(why, Cause::network);
    CHECK(nic.slope == Approx(seconds(why.path.back().to)).epsilon(0.3));
    CHECK(nic.room == Approx(3).epsilon(0.02));
    CHECK(nic.then == Cause::nvlink);
}

TEST_CASE("two equal links in a row are a kink: a little less of one costs, a little more brings nothing") {
    const Topology net = build_topology(toy::cluster({.instances = 2, .gpus = 2, .nvlink = 1_GBps, .nic = 1_GBps}));
    const Lever nic = lever_of(reasons_of(net, ring_on(net, Bytes{4'000'000})), Cause::network);
    CHECK(nic.kink);
    CHECK(nic.dearer > 1.5 * nic.cheaper);
}

TEST_CASE("links are busy in the spans in which they carry bytes") {
    const Topology net = build_topology(toy::cluster({.gpus = 4}));
    const Reasons why = reasons_of(net, ring_on(net, Bytes{4'000'000}), 10);
    REQUIRE(why.use.size() == 1);
    CHECK(why.use[0].kind == "NVLink");
    for (const double part : why.use[0].busiest) CHECK(part == Approx(1));
}

}  // namespace fmsim
