// Bytes against closed forms, with and without de-duplication.
#include <catch2/catch.hpp>

#include "moe/calls.hpp"

namespace fmsim {
namespace {

using test::all_of;
using test::call;
using test::net_of;
using test::sum;

// C(n, k), exact below 2^53 for what is asked here of it as a ratio.
double choose(int n, int k) {
    double product = 1;
    for (int i = 0; i < k; ++i) product = product * (n - i) / (i + 1);
    return product;
}

constexpr double kToken = 14336;  // 7168 elements of bf16

}  // namespace

TEST_CASE("a token weighs its elements and scales") {
    CHECK(token_bytes(call(1, "bf16")) == 14336);
    CHECK(token_bytes(call(1, "fp8")) == 7168 + 56 * 4);
    CHECK(token_bytes(call(1, "nvfp4")) == 3584 + 448);
    ExpertCall odd = call(1, "fp8");
    odd.hidden = 129;  // a block that is not full has a scale too
    CHECK(token_bytes(odd) == 129 + 8);
    CHECK(size_of(call(4096, "fp8")) == Bytes{234881024});  // as the published tables count it
    CHECK_THROWS_AS(token_bytes(call(1, "int3")), InputError);
}

TEST_CASE("a copy an expert: tokens x top_k x (1 - 1/domains) over the network, whatever the routing") {
    const Topology net = net_of("p5en.48xlarge:4");
    for (const TokenRouting routing : kTokenRoutings) {
        ExpertCall asked = call(64);
        asked.routing = routing;
        const TokenTraffic traffic = traffic_of(all_of(net), asked, Copies::each_expert);
        if (routing == TokenRouting::skewed) continue;
        CHECK(sum(traffic.network) == 32 * 64 * 8 * kToken * 3 / 4);
        CHECK(sum(traffic.nvlink) == 32 * 64 * 8 * kToken * 7 / 32);
        CHECK(busiest_bytes(traffic.network, all_of(net)) == 64 * 8 * kToken * 3 / 4);
    }
}

TEST_CASE("a copy a domain: each domain is missed with C(E - E/D, k) / C(E, k)") {
    for (const int domains : {2, 4, 8}) {
        const Topology net = net_of("hgx-h100-8x400:" + std::to_string(domains));
        const TokenTraffic traffic = traffic_of(all_of(net), call(4096), Copies::each_domain);
        const double hit = 1 - choose(256 - 256 / domains, 8) / choose(256, 8);
        CHECK(busiest_bytes(traffic.network, all_of(net)) ==
              Approx(4096 * kToken * (domains - 1) * hit).epsilon(1e-12));
        // Over NVLink all copies for ranks go on, but for those whose GPU is the one that they came to.
        const double ranks = 8 * domains, on_rank = 1 - choose(256 - 256 / (8 * domains), 8) / choose(256, 8);
        CHECK(busiest_bytes(traffic.nvlink, all_of(net)) ==
              Approx(4096 * kToken * ranks * on_rank * 7 / 8).epsilon(1e-12));
        CHECK(traffic.copied == Approx(4096 * kToken * ranks * on_rank).epsilon(1e-12));
        CHECK(traffic.staged == Approx(4096 * kToken * domains * hit).epsilon(1e-12));
    }
}

TEST_CASE("node-limited routing: limit / D of the domains, and their experts only") {
    const Topology net = net_of("hgx-h800-8x400:8");
    ExpertCall asked = call(4096);
    asked.limit = 4;
    const TokenTraffic traffic = traffic_of(all_of(net), asked, Copies::each_domain);
    const double hit = 0.5 * (1 - choose(128 - 32, 8) / choose(128, 8));
    CHECK(busiest_bytes(traffic.network, all_of(net)) == Approx(4096 * kToken * 7 * hit).epsilon(1e-12));
}

TEST_CASE("balanced routing reaches as many ranks and domains as it can") {
    const Topology net = net_of("hgx-h100-8x400:4");
    ExpertCall asked = call(100);
    asked.routing = TokenRouting::balanced;
    CHECK(busiest_bytes(traffic_of(all_of(net), asked, Copies::each_domain).network, all_of(net)) == 100 * kToken * 3);
    CHECK(sum(traffic_of(all_of(net), asked, Copies::each_rank).nvlink) == 32 * 100 * kToken * 8 * 7 / 32);
    asked.limit = 2;
    CHECK(busiest_bytes(traffic_of(all_of(net), asked, Copies::each_domain).network, all_of(net)) ==
          100 * kToken * 2 * 3 / 4);
}

TEST_CASE("what comes back goes the same ways in the other direction") {
    const Topology net = net_of("p5en.48xlarge:3");
    for (const Copies copies : kCopies) {
        ExpertCall out = call(32);
        out.experts = 24 * 8;
        ExpertCall back = out;
        back.combine = true;
        const TokenTraffic there = traffic_of(all_of(net), out, copies), home = traffic_of(all_of(net), back, copies);
        CHECK(sum(there.network) == sum(home.network));
        CHECK(sum(there.nvlink) == sum(home.nvlink));
        for (std::size_t i = 0; i < there.network.size(); ++i) {
            CHECK(there.network[i].from == home.network[i].to);
            CHECK(there.network[i].to == home.network[i].from);
        }
    }
}

TEST_CASE("copies never get more: an expert each, a rank each, a domain each") {
    const Topology net = net_of("hgx-h100-8x400:8");
    for (const std::uint32_t top_k : {1u, 2u, 8u, 64u}) {
        ExpertCall asked = call(100);
        asked.top_k = top_k;
        const double experts = sum(traffic_of(all_of(net), asked, Copies::each_expert).network);
        const double ranks = sum(traffic_of(all_of(net), asked, Copies::each_rank).network);
        const double domains = sum(traffic_of(all_of(net), asked, Copies::each_domain).network);
        CHECK(ranks <= experts * (1 + 1e-12));
        CHECK(domains <= ranks * (1 + 1e-12));
        if (top_k == 1) CHECK(domains == Approx(experts).epsilon(1e-12));
    }
}

}  // namespace fmsim
