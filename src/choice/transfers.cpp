// Send and receive: how one transfer is cut into parts, which channels they take, and in which order a rank deals with
// its peers.
//
// By hand, 1 MiB between two p5.48xlarge, 16 ranks, 16 channels, 4 a peer, chunk 512 KiB: 4 x 16 > 16 -> 1 channel,
// parts of 256 KiB to 512 KiB. 1 MiB on one channel is too much for a part, so 2 channels of 512 KiB; over the network
// the chunk of so short a transfer is a half, 256 KiB.
//
// Source: NCCL 2.30 enqueue.cc, init.cc (the schedule).
#include <algorithm>
#include <bit>
#include <numeric>

#include "tuning_model.hpp"

namespace fmsim {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// As NCCL keeps it: a float with a few bits of mantissa, rounded down.
std::int64_t kept(std::int64_t value, std::int64_t mantissa_bits) {
    const std::int64_t spare = std::int64_t{floor_log2(static_cast<std::uint64_t>(value))} - mantissa_bits;
    return spare <= 0 ? value : (value >> spare) << spare;
}

std::uint32_t reversed(std::uint32_t value, std::uint32_t bits) {
    std::uint32_t result = 0;
    for (std::uint32_t bit = 0; bit < bits; ++bit) result |= (value >> bit & 1u) << (bits - 1 - bit);
    return result;
}

// x (x + 1) / 2 modulo the next power of two visits each number once.
std::vector<std::uint32_t> triangular_order(std::uint32_t count) {
    const std::uint32_t power = std::bit_ceil(count);
    std::vector<std::uint32_t> order;
    std::uint32_t at = 0;
    for (std::uint32_t x = 0; x < power; ++x) {
        at = (at + x) & (power - 1);
        if (at < count) order.push_back(at);
    }
    return order;
}

}  // namespace

TransferPlan plan_transfer(const Communicator& c, Bytes size, bool between_domains, const Nccl& nccl) {
    const NcclTransfers& rules = nccl.transfers;
    const std::int64_t chunk = c.p2p_chunk.count, bytes = size.count;
    const bool many = c.domains > 1;
    std::int64_t most_channels = c.p2p_channels_per_peer;
    while (most_channels * c.ranks > c.p2p_channels && most_channels > 1) most_channels /= 2;
    const std::int64_t least = chunk / (many ? rules.part_divisor_many : rules.part_divisor_alone);
    const std::int64_t most = many ? chunk : chunk * rules.part_factor_alone;
    std::int64_t channels = std::min(most_channels, std::max<std::int64_t>(1, ceil_div(bytes, least)));
    std::int64_t part = std::max(least, ceil_div(bytes, channels));
    while (part > most && channels <= c.p2p_channels_per_peer / 2) {
        channels *= 2;
        part = ceil_div(bytes, channels);
    }
    TransferPlan plan{.channels = static_cast<std::uint32_t>(channels), .protocol = Protocol::simple};
    if (!between_domains && bytes <= channels * rules.ll_a_channel.count) plan.protocol = Protocol::ll;
    if (!between_domains && c.transfers_before_2_29 && bytes <= c.p2p_channels * rules.ll_a_channel.count) {
        plan.protocol = Protocol::ll;
        channels = most_channels;
        plan.channels = static_cast<std::uint32_t>(channels);
    }
    const std::int64_t aligned = rules.part_alignment.count;
    plan.part = {ceil_div(ceil_div(bytes, channels), aligned) * aligned};
    if (plan.protocol == Protocol::ll) {
        const ProtocolShape& ll = nccl.shape.protocols[Protocol::ll];
        plan.chunk = {static_cast<std::int64_t>(static_cast<double>(c.fifo[Protocol::ll].count) /
                                                nccl.shape.buffer_steps / ll.wire_per_data)};
        return plan;
    }
    std::int64_t cut = chunk;
    if (between_domains && bytes < chunk * rules.small_chunks) cut = bytes < chunk ? chunk / 4 : chunk / 2;
    plan.chunk = {kept(cut, rules.mantissa_bits)};
    return plan;
}

std::vector<TransferRound> transfer_rounds(const Communicator& c, std::uint32_t rank, const Nccl& nccl) {
    const std::uint32_t local = c.ranks_a_domain();
    const std::uint32_t group = c.domains == 1 ? local : std::gcd(nccl.transfers.schedule_group, local);
    const std::uint32_t groups = c.ranks / group, batch = nccl.transfers.peers_a_batch;
    const std::uint32_t batches = (group + batch - 1) / batch, bits = floor_log2(c.p2p_channels);
    const std::uint32_t own_group = rank / group, own = rank % group;
    std::vector<TransferRound> rounds;
    std::uint32_t index = 0;
    for (const std::uint32_t delta : triangular_order(groups)) {
        for (std::uint32_t d = 0; d < group; ++d) {
            const std::uint32_t block =
                c.domains == 1 ? static_cast<std::uint32_t>(rounds.size()) : index * batches + d / batch;
            rounds.push_back({.send_to = (own_group + delta) % groups * group + (own + d) % group,
                              .receive_from = (own_group + groups - delta) % groups * group + (own + group - d) % group,
                              .base_channel = reversed(block % c.p2p_channels, bits)});
        }
        ++index;
    }
    return rounds;
}

}  // namespace fmsim
