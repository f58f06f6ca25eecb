// What users see over sizes: two nodes beat their own network (aws-samples/awsome-distributed-training, NCCL issue
// 946), protocols change with size (aws-ofi-nccl PR 900), latency is what hurts decode (inference-sim issue 1661), and
// a constant moves the bands that it should and no others.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

struct Answer {
    double us{};
    double busbw{};
    std::string algorithm;
    std::string protocol;
    std::string limited_by;
};

Answer ask(const Cluster& cluster, Collective collective, std::int64_t bytes, const Pins& pins = {}) {
    const Topology net = build_topology(cluster);
    PredictOptions options;
    options.pins = pins;
    const Prediction p = predict(net, group_of(linear_placement(net, 0, 0)),
                                 in_turn({{"call", collective, {bytes}}}), Catalogue::shipped().nccl(), options);
    const CallPrediction& call = p.calls[0];
    return {microseconds(call.time()), call.busbw_gbps(), call.algorithm, std::string(name(call.protocol)),
            explain(net, p).calls[0].limited_by};
}
Cluster cluster(std::string_view words) { return Catalogue::shipped().cluster(words); }

constexpr std::int64_t kMiB = std::int64_t{1} << 20, kGiB = std::int64_t{1} << 30;

}  // namespace

TEST_CASE("two p5 beat their own network where NCCL chooses, and not as a ring") {
    // The public curve, GB/s of bus.
    const std::map<std::int64_t, double> published{{kMiB, 16},  {8 * kMiB, 77},  {64 * kMiB, 209}, {256 * kMiB, 343},
                                                   {kGiB, 437}, {8 * kGiB, 479}, {16 * kGiB, 487}};
    double before = 0;
    for (const auto& [bytes, busbw] : published) {
        const Answer answer = ask(cluster("p5.48xlarge:2"), Collective::all_reduce, bytes);
        INFO(bytes);
        CHECK(answer.busbw < busbw * (bytes >= 64 * kMiB ? 1.2 : 1.5));
        CHECK(answer.busbw > busbw / (bytes >= 64 * kMiB ? 1.2 : 1.5));
        CHECK(answer.busbw > before * 0.97);
        CHECK(answer.busbw <= 750);  // 2 (n-1)/n x 400: each node sends its data once
        before = answer.busbw;
    }
    CHECK(before > 400);
    Pins ring;
    set_nccl_variable("NCCL_ALGO=Ring", ring);
    CHECK(ask(cluster("p5.48xlarge:2"), Collective::all_reduce, 16 * kGiB, ring).busbw <= 400);
    CHECK(ask(cluster("p5.48xlarge:2"), Collective::all_reduce, 16 * kGiB).limited_by != "EFA");
}

TEST_CASE("an all-gather of 128 p5en ranks goes from LL over LL128 to Simple, and larger never takes less") {
    const std::map<std::string, int> order{{"LL", 0}, {"LL128", 1}, {"Simple", 2}};
    int last = 0;
    double us = 0;
    for (std::int64_t bytes = 4096; bytes <= 8 * kGiB; bytes *= 8) {
        const Answer answer = ask(cluster("p5en.48xlarge:16"), Collective::all_gather, bytes);
        CHECK(answer.algorithm == "Ring");
        CHECK(order.at(answer.protocol) >= last);
        CHECK(answer.us >= us);
        last = order.at(answer.protocol);
        us = answer.us;
    }
    CHECK(last == 2);
}

TEST_CASE("latency, not bytes, is what a small all-reduce between nodes pays") {
    // 0.79 MB over 16 GPUs of two nodes; the bytes alone take 2 x 15/16 x 0.79 MB / 352 GB/s = 4 us.
    const Answer answer = ask(cluster("p5.48xlarge:2"), Collective::all_reduce, 790'000);
    CHECK(answer.limited_by == "latency");
    CHECK(answer.us > 20);
}

TEST_CASE("EFA with 10 % less moves what EFA binds, and nothing else") {
    const auto change = [](Collective collective, std::int64_t bytes, const char* machines) {
        Cluster slower = cluster(machines);
        const double before = ask(slower, collective, bytes).us;
        slower.blocks[0].type.instance.nic->carries.value *= 0.9;
        return ask(slower, collective, bytes).us / before;
    };
    CHECK(change(Collective::all_to_all, kGiB, "p5.48xlarge:2") == Approx(1 / 0.9).epsilon(0.02));
    CHECK(change(Collective::all_reduce, 1024, "p5.48xlarge:2") == Approx(1).epsilon(0.002));
    CHECK(change(Collective::all_reduce, kGiB, "p5.48xlarge:1") == 1);
}

}  // namespace fmsim
