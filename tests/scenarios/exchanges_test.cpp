// All-to-all over few and many machines (NVIDIA/nccl-tests#130), and with PXN on and off (NVIDIA/nccl#1189, #1697,
// #1030, #2193).
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"
#include "toy/traffic.hpp"

namespace fmsim {
namespace {

Prediction all_to_all(const Topology& net, Bytes size, bool pxn = true, Fidelity fidelity = Fidelity::stream) {
    static const Nccl nccl = Catalogue::shipped().nccl();
    PredictOptions options{.fidelity = fidelity, .pins = {}, .fold = false};  // each link by itself
    options.pins.pxn = pxn;
    const Workload job = in_turn({{"call", Collective::all_to_all, size}});
    return predict(net, toy::everyone(net), job, nccl, options);
}

// Four machines of eight GPUs, each with a NIC on the leaf of its rail; leaf k of all four joins the spine at `over`:1.
Topology rails(double over) {
    Cluster cluster = Catalogue::shipped().cluster("hgx-h100-8x400:4");
    cluster.network = {
        .layers = {{.name = "leaf", .children = 4, .oversubscription = over, .uplinks = 4, .rail_optimized = true}}};
    return build_topology(cluster);
}

}  // namespace

TEST_CASE("all-to-all's busbw falls towards a NIC's rate from above as machines grow") {
    // Two EFA devices of 24.2 GB/s a GPU: B = 48.4 GB/s. Time = S (N-1)/N / B, busbw = B N/(N-1) (n-1)/n with n = 8N:
    // 90.75 (2), 62.5 (4), 54.4 (8), 51.2 (16).
    constexpr double kB = 48.4;
    const Bytes size{std::int64_t{8} << 30};
    double before = 1e9;
    for (const double machines : {2., 4., 8., 16.}) {
        const Topology net =
            build_topology(Catalogue::shipped().cluster("p5en.48xlarge:" + std::to_string(static_cast<int>(machines))));
        const CallPrediction call = all_to_all(net, size).calls.front();
        const double gpus = 8 * machines;
        CHECK(call.busbw_gbps() == Approx(kB * machines / (machines - 1) * (gpus - 1) / gpus).epsilon(0.005));
        CHECK(call.busbw_gbps() < before);
        CHECK(call.busbw_gbps() > kB);
        CHECK(call.time() >= call.closed_form);
        before = call.busbw_gbps();
    }
    const Topology alone = build_topology(Catalogue::shipped().cluster("p5en.48xlarge"));
    const Prediction inside = all_to_all(alone, size);
    CHECK(inside.calls[0].busbw_gbps() > 3 * 90);
    CHECK(explain(alone, inside).calls[0].limited_by == "NVLink");
}

TEST_CASE("what leaves and enters a machine in an all-to-all is 8 S (N-1)/N, to the byte") {
    const auto fidelity = GENERATE(Fidelity::stream, Fidelity::chunk);
    const bool pxn = GENERATE(true, false);
    const auto machines = GENERATE(2u, 3u, 4u);
    Cluster cluster = Catalogue::shipped().cluster("p5en.48xlarge:2");
    cluster.blocks[0].count = machines;
    const Topology net = build_topology(cluster);
    const std::int64_t size = 3 << 20;  // a multiple of the ranks: no byte is a fraction
    const Prediction p = all_to_all(net, Bytes{size}, pxn, fidelity);
    const double expected = 8.0 * static_cast<double>(size) * (machines - 1) / machines;
    for (std::uint32_t i = 0; i < machines; ++i) {
        CHECK(toy::bytes_out(net, p.lowered.system, {i}) == Approx(expected).epsilon(1e-12));
        CHECK(toy::bytes_in(net, p.lowered.system, {i}) == Approx(expected).epsilon(1e-12));
    }
}

TEST_CASE("with PXN no byte crosses rails; without it 7/8 of those between machines do") {
    const Topology net = rails(1);
    const std::int64_t size = 32 << 20;
    // 32 ranks, each 24/32 of its bytes to other machines, an eighth of them to a GPU on the same rail.
    const double between_machines = 32.0 * static_cast<double>(size) * 24 / 32;
    CHECK(toy::bytes_between_switches(net, all_to_all(net, Bytes{size}, true).lowered.system) == 0);
    // Up to the spine and down again: each byte that crosses rails uses two links.
    CHECK(toy::bytes_between_switches(net, all_to_all(net, Bytes{size}, false).lowered.system) ==
          Approx(2 * between_machines * 7 / 8).epsilon(1e-12));
}

TEST_CASE("on a 1:1 spine PXN costs a large all-to-all next to nothing, on a 1:4 spine it wins at all large sizes") {
    const Topology full = rails(1), quarter = rails(4);
    for (const std::int64_t size : {std::int64_t{16} << 20, std::int64_t{1} << 30}) {
        const double on = seconds(all_to_all(full, Bytes{size}, true).end);
        const double off = seconds(all_to_all(full, Bytes{size}, false).end);
        CHECK(on == Approx(off).epsilon(0.02));
        // No byte crosses rails, so that the spine cannot matter; without PXN 7/8 of them pass a quarter of the rate.
        CHECK(seconds(all_to_all(quarter, Bytes{size}, true).end) == Approx(on).epsilon(1e-9));
        CHECK(seconds(all_to_all(quarter, Bytes{size}, false).end) > 2.9 * on);
    }
    const Topology any = rails(1);
    const SimTime small = all_to_all(any, Bytes{8 << 10}, true).end;
    CHECK(small <= all_to_all(any, Bytes{8 << 10}, false).end);
    CHECK(small <= all_to_all(rails(4), Bytes{8 << 10}, false).end);
}

TEST_CASE("a send between hosts goes as fast as its channels copy: chunk by chunk, each with its signal") {
    // B200, one send leaves each host for the next. A channel copies 128 KiB and signals: at 27.26 GB/s x its share,
    // and 1.577 us, 18.3 GB/s. A public report (NCCL 2.28.9) has 34.2, 17.2 and 17.2 on 2, 8 and 32 hosts.
    const auto [hosts, channels, measured] =
        GENERATE(table<std::uint32_t, double, double>({{2, 2, 34.16}, {8, 1, 17.16}, {32, 1, 17.19}}));
    const Topology net = build_topology(Catalogue::shipped().cluster("hgx-b200-8x400:" + std::to_string(hosts)));
    PredictOptions options;
    options.pins.transfers_before_2_29 = true;
    const Workload job = in_turn({{"call", Collective::send_recv, Bytes{std::int64_t{8} << 30}}});
    const CallPrediction call =
        predict(net, toy::everyone(net), job, Catalogue::shipped().nccl(), options).calls.front();
    const Gpu& gpu = net.type_of(DomainId{0}).instance.gpu;
    const double chunk = 131072, copy = gpu.channel_rate[Protocol::simple].value * gpu.transfer_share[Protocol::simple];
    const double rate = chunk / (chunk / copy + seconds(gpu.unit_cost[Protocol::simple])) / 1e9;
    INFO(hosts << " hosts");
    CHECK(call.busbw_gbps() == Approx(channels * rate).epsilon(0.002));
    CHECK(call.busbw_gbps() == Approx(measured).epsilon(0.1));
}

TEST_CASE("chunk by chunk a send takes as long as all at once") {
    const Topology net = build_topology(Catalogue::shipped().cluster("hgx-b200-8x400:2"));
    const Nccl nccl = Catalogue::shipped().nccl();
    const Workload job = in_turn({{"call", Collective::send_recv, Bytes{32 << 20}}});
    PredictOptions options;
    options.pins.transfers_before_2_29 = true;
    const SimTime stream = predict(net, toy::everyone(net), job, nccl, options).calls.front().time();
    options.fidelity = Fidelity::chunk;
    const SimTime chunk = predict(net, toy::everyone(net), job, nccl, options).calls.front().time();
    CHECK(seconds(stream) == Approx(seconds(chunk)).epsilon(0.02));
}

}  // namespace fmsim
