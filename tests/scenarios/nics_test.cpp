// More NICs a machine, same number of GPUs (NVIDIA/nccl#569): 8 GPUs as 8 x 1, 4 x 2 and 2 x 4, a NIC of 7.7 GB/s a
// GPU, all-reduce of 1.6 GB. Measured: 363, 173 and 132 ms: the time halves, then a second limit shows.
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

// All GPUs and NICs of a machine on one PCIe switch, without GPUDirect: what leaves goes by the host.
Topology machines(std::uint32_t count, std::uint32_t gpus, BytesPerSecond host) {
    Cluster cluster =
        toy::cluster({.instances = count, .gpus = gpus, .nvlink = 150_GBps, .nic = BytesPerSecond{7.7e9}});
    DomainType& type = cluster.blocks[0].type;
    type.instance.gpudirect = false;
    type.instance.pcie_host = host;
    type.instance.switches.assign(1, {});
    for (std::uint32_t g = 0; g < gpus; ++g) {
        type.instance.switches[0].gpus.push_back(g);
        type.instance.switches[0].nics.push_back(g);
    }
    type.several = default_search(type.instance, 1, false);
    type.several_graphs.ring->channels = static_cast<std::uint32_t>(type.several.paths.size());
    return build_topology(cluster);
}

struct Result {
    double milliseconds;
    std::string limited_by;
};
Result all_reduce(const Topology& net) {
    const Workload job = in_turn({{"call", Collective::all_reduce, Bytes{1'600'000'000}}});
    PredictOptions options;
    options.pins.protocol = Protocol::simple;
    const Prediction p = predict(net, toy::everyone(net), job, toy::nccl(), options);
    return {microseconds(p.end) / 1000, explain(net, p).calls[0].limited_by};
}

}  // namespace

TEST_CASE("with a NIC a GPU as the only limit, twice the GPUs a machine halve the time") {
    // 2 x 7/8 x 1.6 GB / 7.7 GB/s = 363.6 ms, and so many rings at once as machines have NICs
    const BytesPerSecond no_limit = 1000_GBps;
    CHECK(all_reduce(machines(8, 1, no_limit)).milliseconds == Approx(363.6).epsilon(0.01));
    CHECK(all_reduce(machines(4, 2, no_limit)).milliseconds == Approx(363.6 / 2).epsilon(0.01));
    CHECK(all_reduce(machines(2, 4, no_limit)).milliseconds == Approx(363.6 / 4).epsilon(0.01));
    CHECK(std::abs(all_reduce(machines(4, 2, no_limit)).milliseconds / 173 - 1) < 0.1);
}

TEST_CASE("a host that passes 21.2 GB/s in and out takes over at four GPUs a machine, and is named") {
    // What leaves and what enters both go up to the host and down again: each way carries twice 21.2 GB/s.
    const BytesPerSecond host{2 * 21.2e9};
    CHECK(all_reduce(machines(8, 1, host)).limited_by == "wire");
    CHECK(all_reduce(machines(4, 2, host)).limited_by == "wire");
    const Result four = all_reduce(machines(2, 4, host));
    CHECK(four.limited_by == "PCIe");
    CHECK(std::abs(four.milliseconds / 132 - 1) < 0.1);
}

}  // namespace fmsim
