// Skewed routing: drawn tokens are counted, so bytes are whole; without skew they come out as expected.
#include <catch2/catch.hpp>

#include "moe/calls.hpp"

namespace fmsim {
namespace {

using test::all_of;
using test::call;
using test::net_of;

ExpertCall skewed(double skew, std::uint64_t seed, std::uint32_t tokens) {
    ExpertCall asked = call(tokens);
    asked.routing = TokenRouting::skewed;
    asked.skew = skew;
    asked.seed = seed;
    return asked;
}

}  // namespace

TEST_CASE("each token has top_k experts, and bytes are whole tokens on each way") {
    const Topology net = net_of("p5en.48xlarge:2");
    for (const double skew : {0.0, 0.5, 4.0})
        for (const std::uint32_t limit : {0u, 1u}) {
            ExpertCall asked = skewed(skew, 7, 50);
            asked.limit = limit;
            const TokenCounts counts(all_of(net), asked);
            for (std::uint32_t from = 0; from < 16; ++from) {
                double experts = 0, most = 0;
                for (std::uint32_t to = 0; to < 16; ++to) {
                    experts += counts.to_experts(from, to);
                    CHECK(counts.to_rank(from, to) <= counts.to_experts(from, to));
                    most += counts.to_rank(from, to);
                }
                CHECK(experts == 50 * 8);
                const double domains = counts.to_part(from, 0) + counts.to_part(from, 1);
                CHECK(domains <= most);
                if (limit == 1) CHECK(domains == 50);
            }
            for (const Copies copies : kCopies)
                for (const Message& message : traffic_of(all_of(net), asked, copies).network)
                    CHECK(static_cast<std::int64_t>(message.bytes) % 14336 == 0);
        }
}

TEST_CASE("no skew is random routing, within what draws differ") {
    const Topology net = net_of("hgx-h100-8x400:4");
    const double drawn = test::sum(traffic_of(all_of(net), skewed(0, 3, 500), Copies::each_domain).network);
    const double expected = test::sum(traffic_of(all_of(net), call(500), Copies::each_domain).network);
    CHECK(drawn == Approx(expected).epsilon(0.01));
}

TEST_CASE("the same seed draws the same, another one others; more skew makes a busier rank") {
    const Topology net = net_of("p5en.48xlarge:2");
    const auto busiest = [&](double skew, std::uint64_t seed) {
        return busiest_bytes(traffic_of(all_of(net), skewed(skew, seed, 200), Copies::each_expert).network,
                             all_of(net));
    };
    CHECK(busiest(1, 1) == busiest(1, 1));
    CHECK(busiest(1, 1) != busiest(1, 2));
    CHECK(busiest(1, 1) > busiest(0.01, 1));
}

TEST_CASE("a skewed call takes longer than an even one, by every dispatcher and by NCCL") {
    const Topology net = net_of("p5en.48xlarge:2");
    for (const char* dispatcher : {"uccl-normal", "pplx", "deepep-v2", "nccl"}) {
        ExpertCall even = call(2000), uneven = skewed(0.05, 1, 2000);
        even.dispatcher = uneven.dispatcher = dispatcher;
        CHECK(test::predicted(net, even).end < test::predicted(net, uneven).end);
    }
}

}  // namespace fmsim
