// GPUDirect off (NVIDIA/nccl#1579, #1412, #489, #465): data go from NIC to host memory and from there to the GPU.
//
//   2 x 8 GPUs, four NICs of 200 Gb/s   all-reduce of 1 GiB: 93 GB/s with it, 33 without
//   hosts with a coherent link          13 to 20 % less without: host memory is nearly as near as the GPU's
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

Cluster machine(std::string_view words, bool gpudirect) {
    Cluster cluster = Catalogue::shipped().cluster(std::string(words));
    for (DomainBlock& block : cluster.blocks) block.type.instance.gpudirect = gpudirect;
    return cluster;
}

CallPrediction call(const Cluster& cluster, Collective collective, std::int64_t mib) {
    static const Nccl nccl = Catalogue::shipped().nccl();
    const Topology net = build_topology(cluster);
    const Workload job = in_turn({{"call", collective, Bytes{mib << 20}}});
    return predict(net, toy::everyone(net), job, nccl, {}).calls.front();
}

}  // namespace

TEST_CASE("two hosts with four NICs: most of the line with GPUDirect, far less without") {
    const double on = call(machine("hgx-a100-4x200:2", true), Collective::all_reduce, 1024).busbw_gbps();
    const double off = call(machine("hgx-a100-4x200:2", false), Collective::all_reduce, 1024).busbw_gbps();
    CHECK(on == Approx(93).epsilon(0.2));
    // The links of the host alone leave two thirds; what its memory and its root ports add is in no table (33 GB/s).
    CHECK(off / on < 0.7);
    CHECK(off / on > 0.3);
}

TEST_CASE("a coherent link to the host's memory leaves 80 % or more") {
    Cluster with = machine("hgx-a100-4x200:2", true), without = machine("hgx-a100-4x200:2", false);
    for (Cluster* cluster : {&with, &without})
        for (DomainBlock& block : cluster->blocks) {
            block.type.instance.pcie_gpu = 450_GBps;
            block.type.instance.pcie_host = 450_GBps;
        }
    for (const Collective collective : {Collective::all_reduce, Collective::all_gather, Collective::all_to_all})
        CHECK(call(without, collective, 1024).busbw_gbps() >= 0.8 * call(with, collective, 1024).busbw_gbps());
}

TEST_CASE("turning it off makes nothing faster, and changes nothing inside an instance") {
    const auto collective = GENERATE(Collective::all_reduce, Collective::all_gather, Collective::all_to_all);
    for (const char* two : {"p5.48xlarge:2", "p5en.48xlarge:2", "hgx-h100-8x400:2"})
        for (const std::int64_t mib : {1, 64, 1024}) {
            INFO(two << ", " << mib << " MiB");
            CHECK(call(machine(two, false), collective, mib).time() >=
                  call(machine(two, true), collective, mib).time());
        }
    CHECK(call(machine("p5.48xlarge:1", false), collective, 64).time() ==
          call(machine("p5.48xlarge:1", true), collective, 64).time());
}

}  // namespace fmsim
