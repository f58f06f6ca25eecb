// What a dispatcher cannot run, and calls that make no sense: each with its reason.
#include <catch2/catch.hpp>

#include "moe/calls.hpp"

namespace fmsim {
namespace {

using test::all_of;
using test::call;
using test::net_of;
using test::predicted;

std::string refused(const std::string& cluster, const std::string& dispatcher) {
    const Topology net = net_of(cluster);
    const auto dispatchers = Catalogue::shipped().dispatchers();
    return refusal(net, all_of(net), call(128), find(dispatchers, dispatcher));
}

}  // namespace

TEST_CASE("DeepEP's kernels stop at 64 and 160 ranks on EFA") {
    CHECK(refused("p5en.48xlarge:8", "deepep-low-latency").empty());
    CHECK(refused("p5en.48xlarge:9", "deepep-low-latency") ==
          "deepep-low-latency runs on at most 64 ranks over EFA; the group has 72");
    CHECK(refused("p6-b300.48xlarge:20", "deepep-normal").empty());
    CHECK(refused("p6-b300.48xlarge:21", "deepep-normal") ==
          "deepep-normal runs on at most 160 ranks over EFA; the group has 168");
    CHECK(refused("hgx-h100-8x400:32", "deepep-low-latency").empty());
    CHECK(refused("p5.48xlarge:16", "uccl-low-latency") ==
          "uccl-low-latency runs on at most 64 ranks over EFA; the group has 128");
}

TEST_CASE("networks and domains that a dispatcher does not know") {
    CHECK(refused("p4d.24xlarge:2", "uccl-low-latency") ==
          "uccl-low-latency is not known to run on EFA (efa-v1); it is on efa-v2, efa-v3, efa-v4");
    CHECK(refused("hgx-h100-8x400:2", "uccl-normal") ==
          "uccl-normal is not known to run on InfiniBand (infiniband-400g); it is on EFA, efa-v2");
    CHECK(refused("p5en.48xlarge:2", "hybrid-ep") ==
          "hybrid-ep is not known to run on EFA (efa-v3); it is on InfiniBand, RoCE");
    CHECK(refused("gb200-nvl72:1", "deepep-normal") ==
          "deepep-normal has kernels for at most 8 GPUs of one NVLink domain; gb200-nvl72 has 72 here");
    CHECK(refused("gb200-nvl72:2", "trtllm-nvlink") ==
          "trtllm-nvlink runs within one NVLink domain; the group is on 2");
    CHECK(refused("gb200-nvl72:2", "nccl").empty());
    CHECK_THROWS_AS(predicted(net_of("p5en.48xlarge:32"), call(128)), Infeasible);
}

TEST_CASE("calls that make no sense name the place") {
    const auto says = [&](ExpertCall asked) {
        try {
            predicted(net_of("p5en.48xlarge:3"), asked);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    ExpertCall asked = call(128);
    CHECK_THAT(says(asked), Catch::Contains("/moe_dispatch/experts: expected a multiple of the 24 ranks"));
    asked.experts = 240;
    asked.top_k = 241;
    CHECK_THAT(says(asked), Catch::Contains("/moe_dispatch/top_k: expected 1 to 240"));
    asked.top_k = 100;
    asked.limit = 1;
    CHECK_THAT(says(asked), Catch::Contains("/moe_dispatch/limit: expected domains with at least 100 experts"));
    asked.limit = 0;
    asked.dispatcher = "deepep-norml";
    CHECK_THAT(says(asked), Catch::Contains("did you mean \"deepep-normal\"?"));
    asked.dispatcher = "deepep-normal";
    asked.sms = 1000;
    CHECK_THROWS_AS(says(asked), Infeasible);
    asked.sms = 0;
    asked.skew = -1;
    CHECK_THAT(says(asked), Catch::Contains("expected a skew of 0 or more"));
    asked.skew = 0;
    CHECK(says(asked) == "accepted");
    asked.tokens = 10'000'000;
    asked.routing = TokenRouting::skewed;
    CHECK_THROWS_AS(says(asked), LimitReached);
}

}  // namespace fmsim
