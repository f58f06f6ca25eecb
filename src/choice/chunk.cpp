// How much of a channel's data goes at once, and how the data are split over channels for a pick.
//
// By hand, tree LL128 on 4 p5.48xlarge with 1 MiB on a channel: a step holds 4915200 / 8 x 15/16 = 576000 bytes, depth
// 1 + 2 + 0.8 = 3.8. 1 MiB / 576000 = 1 < 64 x 3.8 / 8 = 30 -> 288000 -> 144000 -> 72000 (3, 7 < 30; 131072 is the
// floor); then below 16 x 3.8 / 8 = 7.6 down to 32768: 14 is enough. 72000 in whole lines of a warp, 1920, is 71040.
//
// Source: NCCL 2.30 enqueue.cc.
#include <algorithm>

#include "chunk_rules.hpp"
#include "tuning_model.hpp"

namespace fmsim {
namespace {

bool gathers(Collective collective) {
    return collective == Collective::all_gather || collective == Collective::reduce_scatter;
}

// What a connection's buffer gives: a step, or a ring's chunk of several; flags do not count.
std::int64_t buffer_chunk(const Communicator& communicator, Collective collective, const Pick& pick,
                          const NcclShape& shape) {
    const ProtocolShape& protocol = shape.protocols[pick.protocol];
    const std::int64_t step = communicator.fifo[pick.protocol].count / shape.buffer_steps;
    const bool many = pick.algorithm == AlgorithmKind::ring && pick.protocol == Protocol::simple &&
                      (collective == Collective::all_reduce || gathers(collective));
    const auto data = static_cast<std::int64_t>(static_cast<double>(step) / protocol.wire_per_data);
    return data * (many ? protocol.steps_a_chunk : 1);
}

// Down to the size of each step in turn, while the channel has too few such chunks.
std::int64_t step_down(std::int64_t chunk, double on_channel, double heads, const std::vector<ChunkStep>& steps) {
    for (const ChunkStep& step : steps)
        if (on_channel < step.bytes_a_chunk * heads * static_cast<double>(chunk) && chunk > step.above)
            chunk = step.above;
    return chunk;
}

std::int64_t pat_chunk(std::int64_t chunk, std::int64_t on_channel, Collective collective, const NcclChunks& rules) {
    const std::int64_t wanted = collective == Collective::all_gather ? rules.pat_gather : rules.pat_scatter;
    while (chunk * wanted > on_channel && chunk > rules.pat_floor) chunk /= 2;
    return chunk;
}

std::int64_t by_nccl(const Communicator& c, Collective collective, const Pick& pick, std::int64_t on_channel,
                     const Nccl& nccl) {
    const std::int64_t chunk = buffer_chunk(c, collective, pick, nccl.shape);
    const auto bytes = static_cast<double>(on_channel);
    switch (pick.algorithm) {
        case AlgorithmKind::ring:
            return chunk;
        case AlgorithmKind::tree:
            if (pick.protocol != Protocol::ll128) return chunk;
            return tree_ll128_chunk(chunk, on_channel, c.domains, c.ranks_a_domain(), nccl.chunks);
        case AlgorithmKind::nvls:
            return step_down(std::min(chunk, c.nvls_chunk.count), bytes, c.nvls_heads, nccl.chunks.nvls);
        case AlgorithmKind::nvls_tree:
            return step_down(std::min({chunk, c.nvls_chunk.count, c.nvls_tree_chunk.count}), bytes, c.nvls_heads,
                             nccl.chunks.nvls_tree);
        case AlgorithmKind::pat:
            return pat_chunk(chunk, on_channel, collective, nccl.chunks);
    }
    return chunk;
}

}  // namespace

std::int64_t tree_ll128_chunk(std::int64_t chunk, std::int64_t on_channel, std::uint32_t domains,
                              std::uint32_t ranks_a_domain, const NcclChunks& rules) {
    const double depth = 1 + floor_log2(domains) + rules.tree_ranks_weight * ranks_a_domain;
    for (const ChunkStep& step : rules.tree_ll128)
        while (static_cast<double>(on_channel / chunk) < step.bytes_a_chunk * depth / ranks_a_domain &&
               chunk > step.above)
            chunk /= 2;
    return chunk;
}

Bytes chunk_of(const Communicator& communicator, Collective collective, const Pick& pick, Bytes on_channel,
               const Nccl& nccl) {
    std::int64_t chunk = by_nccl(communicator, collective, pick, on_channel.count, nccl);
    if (pick.aws_chunks) {
        const std::int64_t most = buffer_chunk(communicator, collective, pick, nccl.shape);
        chunk = std::min(most, aws_chunk(communicator, collective, pick, on_channel.count, chunk, nccl.aws));
    }
    const std::int64_t alignment = nccl.shape.protocols[pick.protocol].alignment.count;
    return {chunk / alignment * alignment};
}

std::vector<Bytes> split_of(const Communicator& communicator, Collective collective, const Pick& pick, Bytes size,
                            const Nccl& nccl) {
    const std::int64_t ranks = communicator.ranks;
    const Bytes part{gathers(collective) ? size.count / ranks : size.count};
    const double traffic = gathers(collective)                    ? static_cast<double>(ranks)
                           : collective == Collective::all_reduce ? 2
                                                                  : 1;
    return split_over_channels(part, traffic, pick.channels, pick.protocol == Protocol::ll, nccl.shape);
}

}  // namespace fmsim
