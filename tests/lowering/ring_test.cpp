// Rings in both fidelities, against closed forms and against each other.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

constexpr Bytes operator""_MiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 20}; }

SimTime time_of(const Topology& net, const Nccl& nccl, Bytes size, Fidelity fidelity, Protocol protocol,
                std::uint32_t channels = 64) {
    PredictOptions options{.fidelity = fidelity, .pins = {}};
    options.pins.algorithm = "Ring";
    options.pins.protocol = protocol;
    options.pins.most_channels = channels;
    const Workload job = in_turn({{"ring", Collective::all_reduce, size}});
    return predict(net, toy::everyone(net), job, nccl, options).end;
}

// GPUs of eight with NVLink at 450 GB/s and a NIC of 50 GB/s each: one ring, as other simulators were measured on it.
Topology eights(std::uint32_t gpus) {
    return build_topology(toy::cluster({.instances = gpus / 8, .gpus = 8, .nvlink = 450_GBps, .nic = 50_GBps}));
}

double relative(SimTime a, SimTime b) { return std::abs(static_cast<double>(a.fs) / static_cast<double>(b.fs) - 1); }

}  // namespace

TEST_CASE("a ring of whole chunks ends when its slowest hop has passed 2(R-1) chunks") {
    // 8 GPUs: 14 x (1 GiB / 8) / 450 GB/s = 4.175 662 648 9 ms. More: 2(R-1) x (1 GiB / R) / 50 GB/s.
    const auto [gpus, fs] = GENERATE(table<std::uint32_t, std::int64_t>(
        {{8, 4'175'662'648'880}, {64, 42'278'584'320'000}, {512, 42'865'786'880'000}}));
    const Topology net = eights(gpus);
    const SimTime chunk = time_of(net, toy::nccl(), 1024_MiB, Fidelity::chunk, Protocol::simple, 1);
    // 14 roundings of the 8-GPU hop, which takes no whole number of femtoseconds.
    CHECK(std::abs(chunk.fs - fs) <= (gpus == 8 ? 14 : 0));
}

TEST_CASE("a stream of a ring ends with the chunks of the same ring") {
    const auto gpus = GENERATE(8u, 64u, 512u);
    const Topology net = eights(gpus);
    for (const auto& [size, tolerance] : {std::pair{1_MiB, 0.05}, {64_MiB, 0.01}, {1024_MiB, 0.01}}) {
        const SimTime stream = time_of(net, toy::nccl(2), size, Fidelity::stream, Protocol::simple, 1);
        const SimTime chunk = time_of(net, toy::nccl(2), size, Fidelity::chunk, Protocol::simple, 1);
        CHECK(relative(stream, chunk) < tolerance);
    }
}

TEST_CASE("both fidelities agree on p5 instances with all channels, latencies and protocols") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    const auto count = GENERATE(1u, 2u, 3u);
    Cluster cluster = catalogue.cluster("p5.48xlarge");
    cluster.blocks[0].count = count;
    const Topology net = build_topology(cluster);
    for (const Protocol protocol : kProtocols)
        // What a slice costs its SM leaves links to the others in `chunk`; in `stream` all wait at once.
        for (const auto& [size, tolerance] : {std::pair{1_MiB, 0.01}, {16_MiB, 0.015}, {64_MiB, 0.05}}) {
            if (protocol == Protocol::ll && size > 1_MiB) continue;  // many small transfers, and nobody does that
            const SimTime stream = time_of(net, nccl, size, Fidelity::stream, protocol);
            const SimTime chunk = time_of(net, nccl, size, Fidelity::chunk, protocol);
            INFO(count << " instances, " << name(protocol) << ", " << to_text(size));
            CHECK(relative(stream, chunk) < tolerance);
        }
}

TEST_CASE("latencies add up along the ring when there is next to nothing to send") {
    // 2 x 2 GPUs, NVLink hops of 1 us, network hops of 10 us, 4 bytes at 1 GB/s: 6 steps of 1 ns; the longest chain
    // of 6 hops has 3 of each kind.
    //   3 x 10 us + 3 x 1 us + 6 ns
    const Topology net =
        build_topology(toy::cluster({.instances = 2, .gpus = 2, .nvlink_latency = 1_us, .nic_latency = 10_us}));
    for (const Fidelity fidelity : {Fidelity::stream, Fidelity::chunk})
        CHECK(time_of(net, toy::nccl(), Bytes{4}, fidelity, Protocol::simple, 1).fs == 33'006'000'000);
}

TEST_CASE("a ring with a slow SM runs at its pace") {
    // 4 GPUs, 1 GB/s links, SMs of 0.5 GB/s: 6 steps x 1 MiB / 0.5 GB/s.
    const Topology net = build_topology(toy::cluster({.gpus = 4, .sm = BytesPerSecond{5e8}}));
    const SimTime expected = Bytes{6 << 20} / BytesPerSecond{5e8};
    for (const Fidelity fidelity : {Fidelity::stream, Fidelity::chunk})
        CHECK(relative(time_of(net, toy::nccl(), 4_MiB, fidelity, Protocol::simple, 1), expected) < 1e-9);
}

TEST_CASE("every cut carries 2(R-1)/R of the size, in both fidelities") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge:3"));
    const auto fidelity = GENERATE(Fidelity::stream, Fidelity::chunk);
    const auto protocol = GENERATE(Protocol::ll128, Protocol::simple);
    PredictOptions options{.fidelity = fidelity, .pins = {}};
    options.pins.algorithm = "Ring";
    options.pins.protocol = protocol;
    const Workload job = in_turn({{"ring", Collective::all_reduce, Bytes{12'345'678}}});
    const Prediction p = predict(net, toy::everyone(net), job, catalogue.nccl(), options);

    std::vector<double> leaves(3);
    for (std::uint32_t i = 0; i < p.lowered.system.activities(); ++i)
        for (const auto& [resource, weight] : p.lowered.system.uses.of(i)) {
            const Link& link = net.links[LinkId{resource.value}];
            if (link.kind == LinkKind::network && net.devices[link.from].kind == DeviceKind::nic)
                leaves[net.devices[link.from].instance.value] += weight * p.lowered.system.work[ActivityId{i}];
        }
    const double wire = protocol == Protocol::ll128 ? 16.0 / 15 : 1;
    for (const double bytes : leaves) CHECK(bytes == Approx(2.0 * 23 / 24 * 12'345'678 * wire).epsilon(1e-9));
}

TEST_CASE("with everything pinned, more bytes, less capacity or more latency never make a stream faster") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    const Cluster cluster = catalogue.cluster("p5.48xlarge:2");
    const auto protocol = GENERATE(Protocol::ll, Protocol::ll128, Protocol::simple);
    // Small operations take fewer channels: all 16 are only sure from 16 MiB on.
    const auto [channels, least] = GENERATE(table<std::uint32_t, std::int64_t>({{1, 1}, {16, 16 << 20}}));
    const auto time = [&](const Cluster& on, Bytes size) {
        return time_of(build_topology(on), nccl, size, Fidelity::stream, protocol, channels);
    };
    SimTime before{};
    const std::int64_t most = protocol == Protocol::ll ? 1 << 26 : 1 << 29;  // LL needs many small units for more
    for (std::int64_t size = least; size < most; size = size * 3 / 2 + 1) {
        const SimTime now = time(cluster, Bytes{size});
        CHECK(now >= before);
        before = now;

        Cluster worse = cluster;
        worse.blocks[0].type.instance.nic->carries.value *= 0.9;
        CHECK(time(worse, Bytes{size}) >= now);
        worse = cluster;
        worse.blocks[0].type.instance.nvlink->efficiency *= 0.7;
        CHECK(time(worse, Bytes{size}) >= now);
        worse = cluster;
        worse.blocks[0].type.instance.nic->hop_latency[protocol] =
            worse.blocks[0].type.instance.nic->hop_latency[protocol] + 3_us;
        CHECK(time(worse, Bytes{size}) >= now);
    }
}

TEST_CASE("no ring is faster than its closed form") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    const auto words = GENERATE("p5.48xlarge:1", "p5.48xlarge:2", "p5.48xlarge:7");
    const Topology net = build_topology(catalogue.cluster(words));
    for (std::int64_t size = 1; size < (std::int64_t{1} << 35); size = size * 5 + 3) {
        const Workload job = in_turn({{"ring", Collective::all_reduce, Bytes{size}}});
        PredictOptions options;
        options.pins.algorithm = "Ring";
        const CallPrediction call = predict(net, toy::everyone(net), job, nccl, options).calls.front();
        CHECK(call.time() >= call.closed_form);
    }
}

}  // namespace fmsim
