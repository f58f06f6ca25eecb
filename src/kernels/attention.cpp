// Attention in one kernel: blocks of queries over SMs, each past the keys it may see.
//
// A pair of query and key costs the products with K and V, 2 (qk_dim + v_dim) FLOPs, and an exponential, which other
// units compute and which hides behind the products only in part: the two times add, and the constants say how much of
// the exponential shows. So a head of 64 is slower a FLOP than one of 128. The backward pass has five products instead
// of two and recomputes the exponential.
//
// Without a mask all blocks are alike and go in whole waves. With one, their lengths differ, and SMs end at any time
// within the longest block: half of it is lost, which is what few heads feel. A step of keys on the diagonal counts
// whole, which is what makes short causal sequences slow.
//
// By hand, causal, 512 queries and keys, tile 128: blocks see 128, 256, 384, 512 keys, 1280 x 128 pairs of 512 x 512:
// 5/8, though only half of the pairs (and 256) count as work.
//
// Cost: a step a block of queries.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "machine.hpp"

namespace fmsim {
namespace {

constexpr double kRampDims = 2 * 128;

double real(std::int64_t n) { return static_cast<double>(n); }

const AttentionFacts& facts_of(const Attention& attention, const KernelFacts& facts) {
    const std::string& name = attention.implementation.empty() ? facts.usual_attention : attention.implementation;
    const auto found = facts.attention.find(name);
    if (found == facts.attention.end())
        throw Infeasible(fmt::format("attention by \"{}\" is not known for {} GPUs", printable(name), facts.name));
    return found->second;
}

// The keys that a block works through, in whole steps, and those of the block that has most.
struct Steps {
    double all{};
    double longest{};
};

Steps steps_of(const Attention& attention, double tile) {
    const auto whole = [&](double keys) { return std::ceil(keys / tile) * tile; };
    const double keys = real(attention.keys), queries = real(attention.queries);
    const double blocks = std::ceil(queries / tile);
    if (!attention.causal) return {blocks * whole(keys), whole(keys)};
    Steps steps;
    for (double block = 0; block < blocks; ++block) {
        // Up to its last query; the queries stand at the end of the keys.
        const double last = std::min((block + 1) * tile, queries) + keys - queries;
        double seen = std::max(last, 0.0);
        if (attention.window > 0) seen = std::min(seen, real(attention.window) + tile);
        steps.all += whole(seen);
        steps.longest = std::max(steps.longest, whole(seen));
    }
    return steps;
}

}  // namespace

double pairs(const Attention& attention) {
    const double queries = real(attention.queries), keys = real(attention.keys);
    if (!attention.causal) return queries * keys;
    // Query i of q sees keys - queries + i + 1, at most the window: a triangle, then a strip.
    const double before = std::max(keys - queries, 0.0);
    const double rows = std::min(queries, keys);
    const double window = attention.window > 0 ? real(attention.window) : keys;
    const double rising = std::clamp(window - before, 0.0, rows);
    return rising * before + rising * (rising + 1) / 2 + (rows - rising) * std::min(window, keys);
}

double flops_a_pair(const Attention& attention) {
    const double qk = real(attention.qk_dim), v = real(attention.v_dim);
    // Forward: S = QK', O = PV. Backward: S again, dQ, dK; dP, dV.
    return attention.pass == Pass::forward ? 2 * (qk + v) : 2 * (3 * qk + 2 * v);
}

double compute_seconds(const Attention& attention, const Machine& machine) {
    const AttentionFacts& facts = facts_of(attention, machine.facts);
    const double heads = real(attention.batch) * real(attention.heads);
    const double tile = facts.tile;
    const double blocks = heads * std::ceil(real(attention.queries) / tile);
    if (blocks == 0 || attention.keys == 0) return 0;
    const double forward = 2 * real(attention.qk_dim + attention.v_dim);
    double pair = forward / (machine.sm_peak("bf16") * facts.matmul) + 1 / facts.pairs_a_second;
    // What a block loads and stores grows with the head; the constant is for one of 128.
    double ramp = seconds(facts.ramp) * real(attention.qk_dim + attention.v_dim) / kRampDims;
    if (attention.pass == Pass::backward) {
        const double slower = flops_a_pair(attention) / forward / facts.backward;
        pair *= slower;
        ramp *= slower;
    }
    const Steps steps = steps_of(attention, tile);
    const double key = pair * tile;  // a block's queries with one key
    if (!attention.causal) return waves(blocks, machine.sms) * (steps.longest * key + ramp);
    const double work = heads * steps.all * key + blocks * ramp;
    const double longest = steps.longest * key + ramp;
    return std::max(work / machine.sms + longest / 2, longest);
}

}  // namespace fmsim
