// The least of the estimates, what a tuner makes of it, and the channels and threads that the operation then gets.
//
// Source: NCCL 2.30 enqueue.cc; its example tuner plugin, whose file NCCL_TUNER_CONFIG_FILE names.
#include <algorithm>

#include <fmt/format.h>

#include "tuning_model.hpp"

namespace fmsim {
namespace {

// What a tuner says: an entry of the table that is to win, and a count of channels.
struct Verdict {
    PickedBy by{};
    const Candidate* wins{};  // null: NCCL's own choice stands
    std::uint32_t channels{};
};

const Candidate* find(const std::vector<Candidate>& table, AlgorithmKind algorithm, Protocol protocol) {
    for (const Candidate& row : table)
        if (row.algorithm == algorithm && row.protocol == protocol && row.refused.empty()) return &row;
    return nullptr;
}

bool matches(const TunerRule& rule, const Communicator& c, Collective collective, Bytes size) {
    // Classic kernels, one operation at a time, buffers that nobody registered.
    return rule.collective == collective && rule.least <= size && size <= rule.most &&
           rule.domains.value_or(c.domains) == c.domains && rule.ranks.value_or(c.ranks) == c.ranks &&
           rule.operations.value_or(1) == 1 && rule.registered.value_or(0) == 0;
}

// The plugin passes over rules for what NCCL does not allow, and answers with one channel where no rule says how many.
Verdict by_rules(const std::vector<TunerRule>& rules, const Communicator& c, Collective collective, Bytes size,
                 const std::vector<Candidate>& table) {
    Verdict verdict{.by = PickedBy::nccl, .channels = 1};
    for (const TunerRule& rule : rules) {
        if (!matches(rule, c, collective, size)) continue;
        const Candidate* row = find(table, rule.algorithm, rule.protocol);
        if (row == nullptr) continue;
        return {PickedBy::tuner_rules, row, rule.channels.value_or(1)};
    }
    return verdict;
}

Verdict verdict_of(const Communicator& c, Collective collective, Bytes size, const Nccl& nccl, const Pins& pins,
                   const std::vector<Candidate>& table) {
    if (pins.tuner_rules) return by_rules(*pins.tuner_rules, c, collective, size, table);
    if (!pins.aws_tuner) return {};
    const auto region = aws_region(c, collective, size, nccl, table);
    if (!region) return {};
    return {PickedBy::aws_tuner, find(table, region->algorithm, region->protocol), region->channels};
}

const Candidate& least(const std::vector<Candidate>& table, Collective collective) {
    const Candidate* best = nullptr;
    for (const Candidate& row : table)
        if (row.refused.empty() && (best == nullptr || row.believed_us < best->believed_us)) best = &row;
    if (best == nullptr)
        throw Infeasible(fmt::format("NCCL is left no algorithm and protocol for {}", name(collective)));
    return *best;
}

struct Block {
    std::uint32_t channels{};
    std::uint32_t threads{};
};

// Fewer channels, then fewer threads, while each thread would have too little to do.
Block fitted(const Communicator& c, const Candidate& row, Bytes size, const NcclThreads& rules) {
    const bool ring = row.algorithm == AlgorithmKind::ring, simple = row.protocol == Protocol::simple;
    std::int64_t channels = c.channels, threads = rules.most[row.protocol];
    if (ring && simple && gbps(c.ring.intra) * c.ring.channels <= rules.slow_ring_gbps) threads = rules.slow_ring;
    std::int64_t thread = rules.bytes_a_thread[row.protocol];
    if (ring && row.protocol == Protocol::ll) thread *= c.ranks;
    channels = std::clamp<std::int64_t>(size.count / (threads * thread), 1, channels);
    while (size.count < channels * threads * thread && threads % 128 == 0) threads /= 2;
    if (simple) threads += ring ? rules.ring_extra : rules.tree_extra;
    const std::int64_t all = ring ? std::max<std::int64_t>(threads, rules.least) : rules.tree;
    return {static_cast<std::uint32_t>(channels), static_cast<std::uint32_t>(all)};
}

Block block_of(const Communicator& c, const Candidate& row, Bytes size, const NcclThreads& rules) {
    switch (row.algorithm) {
        case AlgorithmKind::tree:
        case AlgorithmKind::ring:
            return fitted(c, row, size, rules);
        case AlgorithmKind::nvls:
        case AlgorithmKind::nvls_tree:
            return {c.nvls_channels, rules.nvls};
        case AlgorithmKind::pat:
            return {c.channels, rules.pat};
    }
    return {};
}

Pick pick_from(const std::vector<Candidate>& table, const Communicator& c, Collective collective, Bytes size,
               const Nccl& nccl, const Pins& pins) {
    const Candidate& by_nccl = least(table, collective);
    const Verdict verdict = verdict_of(c, collective, size, nccl, pins, table);
    const Candidate& row = verdict.wins != nullptr ? *verdict.wins : by_nccl;
    const Block block = block_of(c, row, size, nccl.threads);
    Pick pick{.algorithm = row.algorithm,
              .protocol = row.protocol,
              .channels = block.channels,
              .threads = block.threads,
              .believed_us = row.believed_us,
              .by = verdict.wins != nullptr ? verdict.by : PickedBy::nccl,
              .asked_channels = verdict.channels,
              .aws_chunks = pins.aws_tuner && !pins.tuner_rules && c.domains >= nccl.aws.least_domains};
    const bool multicast = row.algorithm == AlgorithmKind::nvls || row.algorithm == AlgorithmKind::nvls_tree;
    if (verdict.channels > 0) pick.channels = std::min(verdict.channels, multicast ? c.nvls_channels : c.channels);
    return pick;
}

}  // namespace

Pick pick(const Communicator& communicator, Collective collective, Bytes size, const Nccl& nccl, const Pins& pins) {
    if (!has_algorithms(collective))
        throw Infeasible(fmt::format("NCCL has no algorithms to choose from for {}", name(collective)));
    if (communicator.ranks < 2) throw Infeasible("a communicator of one rank has nothing to choose");
    return pick_from(estimates(communicator, collective, size, nccl, pins), communicator, collective, size, nccl, pins);
}

ChoiceExplained explain_choice(const Communicator& communicator, Collective collective, Bytes size, const Nccl& nccl,
                               const Pins& pins) {
    Pins alone = pins;
    alone.aws_tuner = false;
    alone.tuner_rules.reset();
    ChoiceExplained why{.candidates = estimates(communicator, collective, size, nccl, pins),
                        .by_nccl = pick(communicator, collective, size, nccl, alone),
                        .taken = pick(communicator, collective, size, nccl, pins),
                        .chunk = {}};
    const auto split = split_of(communicator, collective, why.taken, size, nccl);
    const bool gathers = collective == Collective::all_gather || collective == Collective::reduce_scatter;
    const Bytes first{split.empty() ? 0 : split.front().count * (gathers ? communicator.ranks : 1)};
    why.chunk = chunk_of(communicator, collective, why.taken, first, nccl);
    return why;
}

}  // namespace fmsim
