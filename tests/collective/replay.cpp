#include "replay.hpp"

namespace fmsim {

Contents replay_ring_all_reduce(const std::vector<Hop>& hops) {
    const auto ranks = static_cast<std::uint32_t>(hops.size());
    Contents holds(ranks, std::vector(ranks, std::vector<int>(ranks)));
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        for (auto& chunk : holds[rank]) chunk[rank] = 1;
    for (std::uint32_t step = 0; step < 2 * (ranks - 1); ++step) {
        const Contents before = holds;  // all ranks send at once
        for (std::uint32_t hop = 0; hop < ranks; ++hop) {
            const RingSend send = ring_all_reduce_send(ranks, hop, step);
            auto& target = holds[hops[hop].to][send.chunk];
            const auto& source = before[hops[hop].from][send.chunk];
            for (std::uint32_t rank = 0; rank < ranks; ++rank)
                target[rank] = send.reduces ? target[rank] + source[rank] : source[rank];
        }
    }
    return holds;
}

Contents each_rank_once(std::uint32_t ranks) { return Contents(ranks, std::vector(ranks, std::vector<int>(ranks, 1))); }

}  // namespace fmsim
