// The time of a call: by hand, against the engine, and beside other traffic.
#include <catch2/catch.hpp>

#include "moe/calls.hpp"

namespace fmsim {
namespace {

using test::all_of;
using test::call;
using test::net_of;
using test::predicted;

// Round figures: 2 domains of 8 GPUs, NICs of 50 GB/s, NVLink of 450.
Dispatcher round_figures() {
    Dispatcher dispatcher{.name = "round", .copies = Copies::each_expert};
    dispatcher.launch = {10_us, 20_us};
    dispatcher.nvlink_share = {0.5, 0.5};
    dispatcher.networks["InfiniBand"] = {
        .most_ranks = 16, .latency = {5_us, 5_us}, .each_peer = {1_us, 1_us}, .share = {0.8, 0.8}};
    return dispatcher;
}

}  // namespace

TEST_CASE("by hand: 1000 tokens of 14,336 bytes to 8 experts on 2 domains") {
    const Topology net = net_of("hgx-h100-8x400:2");
    Dispatcher dispatcher = round_figures();
    // half of 8 copies over the network, 57.344 MB at 40 GB/s = 1433.6 us; 10 + 5 us and 8 peers of 1 us before
    CHECK(expert_cost(net, all_of(net), call(1000), dispatcher).seconds == Approx(1456.6e-6).epsilon(1e-9));
    // 7/16 of them over NVLink, 50.176 MB at 225 GB/s = 223.004 us, when one leg follows the other
    dispatcher.window = 1000;
    CHECK(expert_cost(net, all_of(net), call(1000), dispatcher).seconds == Approx(1679.604e-6).epsilon(1e-6));
    dispatcher.window = 500;
    CHECK(expert_cost(net, all_of(net), call(1000), dispatcher).seconds == Approx(1568.102e-6).epsilon(1e-6));
    // messages of 3 us: 4000 of them take 12 ms of the NIC
    dispatcher.window = 0;
    dispatcher.networks["InfiniBand"].each_message = {3_us, 3_us};
    CHECK(expert_cost(net, all_of(net), call(1000), dispatcher).seconds == Approx(12023e-6).epsilon(1e-9));
    // 2 SMs that copy 10 GB/s each: 114.688 MB in 5734.4 us
    dispatcher.networks["InfiniBand"].each_message = {};
    dispatcher.each_sm = {{10e9}, {10e9}};
    dispatcher.sms = 2;
    CHECK(expert_cost(net, all_of(net), call(1000), dispatcher).seconds == Approx(5757.4e-6).epsilon(1e-9));
    CHECK(expert_cost(net, all_of(net), call(1000), dispatcher).sms == 2);
}

TEST_CASE("no share makes more of a link than it carries") {
    const Topology net = net_of("hgx-h100-8x400:2");
    Dispatcher dispatcher = round_figures();
    dispatcher.networks["InfiniBand"].share = {1, 1};
    const double carries = net.type_of(DomainId{0}).instance.nic->carries.value;
    CHECK(expert_cost(net, all_of(net), call(1000), dispatcher).seconds ==
          Approx(23e-6 + 57.344e6 / carries).epsilon(1e-9));
}

TEST_CASE("alone the engine says what the closed form does, in both fidelities, for every dispatcher that runs") {
    const std::vector<Dispatcher> dispatchers = Catalogue::shipped().dispatchers();
    for (const char* words : {"hgx-h100-8x400:1", "hgx-h100-8x400:2", "p5en.48xlarge:4", "p6-b300.48xlarge:2",
                              "p5.48xlarge:8", "gb200-nvl72:1"}) {
        const Topology net = net_of(words);
        for (const Dispatcher& dispatcher : dispatchers)
            for (const bool combine : {false, true})
                for (const std::uint32_t tokens : {0u, 1u, 128u, 4096u}) {
                    ExpertCall asked = call(tokens, "fp8", combine);
                    asked.experts = static_cast<std::uint32_t>(all_of(net).places.size()) * 4;
                    asked.dispatcher = dispatcher.name;
                    if (dispatcher.all_to_all || !refusal(net, all_of(net), asked, dispatcher).empty()) continue;
                    CAPTURE(words, dispatcher.name, combine, tokens);
                    const double alone = expert_cost(net, all_of(net), asked, dispatcher).seconds;
                    const Prediction by_engine = predicted(net, asked);
                    CHECK(seconds(by_engine.end) == Approx(alone).epsilon(1e-9));
                    CHECK(by_engine.calls[0].closed_form <= by_engine.calls[0].time());
                    CHECK(by_engine.calls[0].kind == asked.kind());
                    CHECK(by_engine.calls[0].algorithm == dispatcher.name);
                    if (tokens == 128) CHECK(predicted(net, asked, Fidelity::chunk).end == by_engine.end);
                }
    }
}

TEST_CASE("more tokens never take less time, nor do slower links") {
    const Topology net = net_of("p5en.48xlarge:4");
    Cluster slower = Catalogue::shipped().cluster("p5en.48xlarge:4");
    slower.faults.push_back({DeviceKind::nic, 1, 3, 0.5});
    const Topology broken = build_topology(slower);
    for (const Dispatcher& dispatcher : Catalogue::shipped().dispatchers()) {
        SimTime before;
        for (const std::uint32_t tokens : {1u, 10u, 100u, 1000u, 10000u}) {
            ExpertCall asked = call(tokens);
            asked.dispatcher = dispatcher.name;
            if (!refusal(net, all_of(net), asked, dispatcher).empty()) break;
            CAPTURE(dispatcher.name, tokens);
            const SimTime end = predicted(net, asked).end;
            CHECK(end >= before);
            CHECK(predicted(broken, asked).end >= end);
            before = end;
        }
    }
}

TEST_CASE("two exchanges at once share the NICs") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = net_of("p5en.48xlarge:4");
    PredictOptions options;
    options.dispatchers = std::make_shared<const std::vector<Dispatcher>>(catalogue.dispatchers());
    ExpertCall asked = call(4096);
    asked.dispatcher = "pplx";
    const auto end_of = [&](int streams) {
        Workload work = in_turn({});
        for (int i = 0; i < streams; ++i)
            work.jobs[0].programs[0].operations.push_back(
                {.name = std::to_string(i), .stream = std::to_string(i), .action = call_of(asked, 0)});
        return predict(net, all_of(net), work, catalogue.nccl(), options).end;
    };
    CHECK(seconds(end_of(2)) > 1.9 * seconds(end_of(1)));
    CHECK(seconds(end_of(2)) < 2.0 * seconds(end_of(1)));
}

TEST_CASE("NCCL's all-to-all of the copies is the all-to-all of that size") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = net_of("p5en.48xlarge:2");
    ExpertCall asked = call(4096);
    asked.dispatcher = "nccl";
    const Workload plain = in_turn({{"a", Collective::all_to_all, size_of(asked)}});
    CHECK(predicted(net, asked).end == predict(net, all_of(net), plain, catalogue.nccl(), {}).end);
}

TEST_CASE("groups that are alike fold, and the time is the same") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = net_of("p5en.48xlarge:8");
    PredictOptions options;
    options.dispatchers = std::make_shared<const std::vector<Dispatcher>>(catalogue.dispatchers());
    for (const char* dispatcher : {"uccl-normal", "pplx"})
        for (const TokenRouting routing : {TokenRouting::random, TokenRouting::skewed}) {
            ExpertCall asked = call(100);
            asked.dispatcher = dispatcher;
            asked.routing = routing;
            asked.skew = 0.1;
            Workload work = in_turn({});
            work.jobs[0].groups.push_back({.name = "ep", .size = 32});
            for (const bool combine : {false, true}) {
                asked.combine = combine;
                work.jobs[0].programs[0].operations.push_back(
                    {.name = std::to_string(combine), .action = call_of(asked, 1)});
            }
            options.fold = true;
            const Prediction folded = predict(net, all_of(net), work, catalogue.nccl(), options);
            options.fold = false;
            const Prediction whole = predict(net, all_of(net), work, catalogue.nccl(), options);
            CHECK(seconds(folded.end) == Approx(seconds(whole.end)).epsilon(1e-9));
            if (routing == TokenRouting::random) CHECK(folded.folding);
        }
}

}  // namespace fmsim
