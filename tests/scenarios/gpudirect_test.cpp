// GPUDirect off (NVIDIA/nccl#1579, #1412, #489, #465): data go from NIC to host memory and from there to the GPU.
//
//   2 x 8 GPUs, four NICs of 200 Gb/s   all-reduce of 1 GiB: 93 GB/s with it, 33 without
//   hosts with a coherent link          13 to 20 % less without: host memory is nearly as near as the GPU's
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
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

TEST_CASE("two hosts with four NICs: 93 GB/s with GPUDirect, 33 without") {
    const double on = call(machine("hgx-a100-4x200:2", true), Collective::all_reduce, 1024).busbw_gbps();
    const double off = call(machine("hgx-a100-4x200:2", false), Collective::all_reduce, 1024).busbw_gbps();
    CHECK(on == Approx(93).epsilon(0.1));
    // Of one case of an unnamed host, so within a fifth. Both directions of a root port carry 35 GB/s, and each byte
    // passes twice on either host, as it is sent and as it is received: 4 ports x 35 / 4 = 35 GB/s.
    CHECK(off == Approx(33).epsilon(0.2));
    CHECK(off <= 35);
}

TEST_CASE("what binds without GPUDirect is the root port, and memory where that has less to give") {
    Cluster cluster = machine("hgx-a100-4x200:2", false);
    InstanceType& type = cluster.blocks[0].type.instance;
    const auto limit = [&] {
        const Topology net = build_topology(cluster);
        static const Nccl nccl = Catalogue::shipped().nccl();
        const Workload job = in_turn({{"call", Collective::all_reduce, Bytes{std::int64_t{1} << 30}}});
        return plain_name(net,
                          reasons_of(net, predict(net, toy::everyone(net), job, nccl, {}), 1).saturated[0].resource);
    };
    CHECK(limit().ends_with("root port"));
    // A socket's two NICs send and receive 8.75 GB/s each; all of it is written once and read once: 70 GB/s.
    type.numa_memory = 35_GBps;
    CHECK(limit().ends_with("memory"));
    CHECK(call(cluster, Collective::all_reduce, 1024).busbw_gbps() == Approx(35. / 2).epsilon(0.1));
}

// Its hosts: Grace, where the GPU's way to host memory carries 346 GB/s in both directions and the memory 512. Neither
// binds NICs of 25 GB/s, so what these cost is not in the model: measured are 0.83 of the rate with GPUDirect
// (all-reduce, 79.7 of 96.1 GB/s), 0.87 (all-gather) and 0.88 (all-to-all).
TEST_CASE("a coherent link to the host's memory leaves 80 % or more") {
    Cluster with = Catalogue::shipped().cluster("gb200-host:2");
    const Cluster line = Catalogue::shipped().cluster("hgx-a100-4x200:2");
    with.blocks[0].type.instance.nic = line.blocks[0].type.instance.nic;
    Cluster without = with;
    without.blocks[0].type.instance.gpudirect = false;
    for (const auto& [collective, measured] :
         {std::pair{Collective::all_reduce, 0.83}, {Collective::all_gather, 0.87}, {Collective::all_to_all, 0.88}}) {
        const double kept = call(without, collective, 1024).busbw_gbps() / call(with, collective, 1024).busbw_gbps();
        CHECK(kept >= 0.8);
        CHECK(kept <= 1);
        CHECK(kept == Approx(measured).epsilon(0.21));
    }
}

TEST_CASE("turning it off makes nothing faster, and changes nothing inside an instance") {
    const auto collective = GENERATE(Collective::all_reduce, Collective::all_gather, Collective::all_to_all);
    for (const char* two :
         {"p4d.24xlarge:2", "p5.48xlarge:2", "p5en.48xlarge:2", "hgx-a100-4x200:2", "hgx-h100-8x400:2", "gb200-host:2"})
        for (const std::int64_t mib : {1, 64, 1024}) {
            INFO(two << ", " << mib << " MiB");
            CHECK(call(machine(two, false), collective, mib).time() >=
                  call(machine(two, true), collective, mib).time());
        }
    for (const char* one : {"p5.48xlarge:1", "p5en.48xlarge:1", "hgx-a100-4x200:1"})
        CHECK(call(machine(one, false), collective, 64).time() == call(machine(one, true), collective, 64).time());
}

}  // namespace fmsim
