// Attention: pairs counted one by one, FLOPs by closed form, and the toy GPU by hand.
#include <catch2/catch.hpp>

#include "kernels/toy_gpu.hpp"

namespace fmsim {
namespace {

using test::toy_facts;
using test::toy_gpu;
using test::toy_time;

// Each query and key asked whether they meet.
double counted_pairs(const Attention& a) {
    double pairs = 0;
    for (std::int64_t query = 0; query < a.queries; ++query)
        for (std::int64_t key = 0; key < a.keys; ++key) {
            const std::int64_t last = query + a.keys - a.queries;
            const bool seen = !a.causal || (key <= last && (a.window == 0 || key > last - a.window));
            pairs += seen ? 1 : 0;
        }
    return pairs;
}

TEST_CASE("the pairs that a mask leaves are those counted one by one") {
    for (const std::int64_t queries : {0, 1, 2, 5, 8, 13})
        for (const std::int64_t keys : {1, 5, 8, 21})
            for (const std::int64_t window : {0, 1, 3, 8, 40})
                for (const bool causal : {false, true}) {
                    const Attention a{.heads = 1,
                                      .kv_heads = 1,
                                      .queries = queries,
                                      .keys = keys,
                                      .qk_dim = 1,
                                      .v_dim = 1,
                                      .causal = causal,
                                      .window = causal ? window : 0};
                    INFO(queries << " queries, " << keys << " keys, window " << window << (causal ? ", causal" : ""));
                    CHECK(flops_of(a) == 4 * counted_pairs(a));
                }
}

TEST_CASE("FLOPs are those of the closed forms") {
    // 4 s^2 d a head forward, 2.5 times that backward; half and the diagonal with a mask.
    Attention a{.batch = 2,
                .heads = 16,
                .kv_heads = 16,
                .queries = 4096,
                .keys = 4096,
                .qk_dim = 128,
                .v_dim = 128,
                .causal = false};
    const double full = 4.0 * 4096 * 4096 * 128 * 16 * 2;
    CHECK(flops_of(a) == full);
    a.pass = Pass::backward;
    CHECK(flops_of(a) == 2.5 * full);
    a.causal = true;
    CHECK(flops_of(a) == 2.5 * full * 4097 / (2 * 4096));
    // Latent attention: forward 2 (192 + 128) a pair, backward 2 (3 x 192 + 2 x 128).
    Attention latent{.heads = 1, .kv_heads = 1, .queries = 10, .keys = 10, .qk_dim = 192, .v_dim = 128};
    CHECK(flops_of(latent) == 55 * 640);
    latent.pass = Pass::backward;
    CHECK(flops_of(latent) == 55 * 1664);
}

// A pair costs 4 x 64 FLOP / 0.5 TFLOP/s = 0.512 ns and 1 ns for its exponential: 1.512 ns.
const Attention kToy{.heads = 4, .kv_heads = 4, .queries = 512, .keys = 512, .qk_dim = 64, .v_dim = 64};

TEST_CASE("without a mask blocks of queries go in whole waves") {
    // 4 heads x 4 blocks on 4 SMs: 4 waves of 128 x 512 pairs.
    Attention full = kToy;
    full.causal = false;
    CHECK(microseconds(toy_time(full).compute) == Approx(4 * 128 * 512 * 1.512e-3));
    full.queries = 513;  // 20 blocks
    CHECK(microseconds(toy_time(full).compute) == Approx(5 * 128 * 512 * 1.512e-3));
}

TEST_CASE("with a mask the diagonal counts whole, and SMs end within the longest block") {
    // Blocks of 128, 256, 384, 512 keys: 1280 x 128 pairs a head; an SM has 4 x 1280 / 4 = 1280, and half of 512.
    CHECK(microseconds(toy_time(kToy).compute) == Approx((1280 + 256) * 128 * 1.512e-3));
    Attention one_head = kToy;
    one_head.heads = 1;  // 320 a SM and 256: more than the longest, 512
    CHECK(microseconds(toy_time(one_head).compute) == Approx((320 + 256) * 128 * 1.512e-3));
    Attention last = one_head;
    last.queries = 128;  // one block at the end of the keys
    CHECK(microseconds(toy_time(last).compute) == Approx(512 * 128 * 1.512e-3));
}

TEST_CASE("the backward pass costs its FLOPs at its own speed") {
    Attention backward = kToy;
    backward.pass = Pass::backward;
    CHECK(seconds(toy_time(backward).compute) == Approx(2.5 / 0.8 * seconds(toy_time(kToy).compute)));
}

TEST_CASE("a window bounds what a block works through") {
    Attention window = kToy;
    window.window = 128;  // blocks see at most 256 keys: 128, 256, 256, 256
    CHECK(microseconds(toy_time(window).compute) == Approx((896 + 128) * 128 * 1.512e-3));
    CHECK(toy_time(window).compute < toy_time(kToy).compute);
    window.window = 4096;
    CHECK(toy_time(window).compute == toy_time(kToy).compute);
}

TEST_CASE("grouped queries read fewer keys and values, and take as many FLOPs") {
    Attention grouped = kToy;
    grouped.kv_heads = 1;
    CHECK(flops_of(grouped) == flops_of(kToy));
    CHECK(toy_time(grouped).compute == toy_time(kToy).compute);
    // Q 4 x 512 x 64 x 2 B = 262144; K and V together 512 x 128 x 2 B = 131072 a head; O as Q; 4 B a query.
    CHECK(bytes_of(kToy) == Traffic{{262144 + 4 * 131072}, {262144 + 4 * 512 * 4}});
    CHECK(bytes_of(grouped) == Traffic{{262144 + 131072}, {262144 + 4 * 512 * 4}});
    grouped.pass = Pass::backward;  // also O, dO and the logarithms; dQ, dK, dV
    CHECK(bytes_of(grouped) == Traffic{{3 * 262144 + 131072 + 8192}, {262144 + 131072}});
}

TEST_CASE("a ramp grows with what a block loads and stores") {
    KernelFacts facts = toy_facts();
    facts.attention.at("plain").ramp = from_seconds(1e-6);
    Attention full = kToy;
    full.causal = false;
    const SimTime longer = time_of(full, toy_gpu(), facts).compute - toy_time(full).compute;
    CHECK(microseconds(longer) == Approx(4 * 0.5));  // 4 waves; heads of 64, half of 128
}

TEST_CASE("an implementation that the generation lacks is refused by name") {
    Attention other = kToy;
    other.implementation = "flash_attention_9";
    CHECK_THROWS_WITH(toy_time(other), "attention by \"flash_attention_9\" is not known for toy GPUs");
    other.implementation = "plain";
    CHECK(toy_time(other) == toy_time(kToy));
}

TEST_CASE("no keys or no queries are no work") {
    Attention none = kToy;
    none.queries = 0;
    CHECK(toy_time(none).compute == SimTime{});
    none = kToy;
    none.keys = 0;
    CHECK(toy_time(none).compute == SimTime{});
    CHECK(flops_of(none) == 0);
}

}  // namespace
}  // namespace fmsim
