#include "replay.hpp"

#include <algorithm>

namespace fmsim {
namespace {

using Block = std::vector<int>;

struct Send {
    Hop hop;
    bool adds{};
    std::vector<std::uint32_t> blocks;
    std::vector<std::uint32_t> needs;
};

std::vector<Send> sends_of(Collective collective, const Channel& channel) {
    std::vector<Send> sends;
    if (const auto* ring = std::get_if<RingSteps>(&channel.steps)) {
        const auto ranks = static_cast<std::uint32_t>(channel.hops.size());
        for (std::uint32_t step = 0; step < ring->steps; ++step)
            for (std::uint32_t hop = 0; hop < ranks; ++hop) {
                const RingSend send = ring_send(collective, ranks, hop, step);
                std::vector<std::uint32_t> needs;
                if (step > 0) needs.push_back((step - 1) * ranks + (hop + ranks - 1) % ranks);
                // A ring sends its chunks in order, and a rank's part of a chunk is read before it is replaced.
                if (step > 0) needs.push_back((step - 1) * ranks + hop);
                // A ring counts chunks by its own positions; of a gather or scatter each is a rank's own.
                sends.push_back({channel.hops[hop], send.reduces, {channel.hops[send.chunk].from}, needs});
            }
        return sends;
    }
    Pattern of_all;
    const auto* turning = std::get_if<std::shared_ptr<const TurningSteps>>(&channel.steps);
    if (turning != nullptr)
        of_all = turned(**turning, static_cast<std::uint32_t>(channel.hops.size()) / (*turning)->hops);
    const Pattern& pattern = turning != nullptr ? of_all : *std::get<std::shared_ptr<const Pattern>>(channel.steps);
    for (std::size_t t = 0; t < pattern.transfers.size(); ++t) {
        const auto blocks = pattern.carries.of(t), needs = pattern.needs.of(t);
        sends.push_back({channel.hops[pattern.transfers[t].hop],
                         pattern.transfers[t].adds,
                         {blocks.begin(), blocks.end()},
                         {needs.begin(), needs.end()}});
    }
    return sends;
}

std::uint32_t blocks_of(Collective collective, const Group& group, const std::vector<Send>& sends) {
    std::uint32_t count = collective == Collective::all_gather || collective == Collective::reduce_scatter
                              ? static_cast<std::uint32_t>(group.places.size())
                              : 0;
    for (const Send& send : sends)
        for (const std::uint32_t block : send.blocks) count = std::max(count, block + 1);
    return count;
}

void perform(const Send& send, const Group& group, Contents& holds) {
    for (const std::uint32_t block : send.blocks) {
        if (send.hop.way == Way::local) continue;
        if (send.hop.way == Way::gather) {
            Block sum(group.places.size());
            for (const std::uint32_t rank : group.parts[send.hop.part].positions)
                for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += holds[rank][block][i];
            // What a head has got from other domains is already in its own sum; the domain's parts come on top.
            holds[send.hop.to][block] = sum;
        } else if (send.hop.way == Way::multicast) {
            for (const std::uint32_t rank : group.parts[send.hop.part].positions)
                holds[rank][block] = holds[send.hop.from][block];
        } else {
            Block& target = holds[send.hop.to][block];
            const Block& source = holds[send.hop.from][block];
            for (std::size_t i = 0; i < target.size(); ++i) target[i] = send.adds ? target[i] + source[i] : source[i];
        }
    }
}

}  // namespace

Contents replay(Collective collective, const Group& group, const Channel& channel, std::uint32_t root,
                std::mt19937& random) {
    const std::vector<Send> sends = sends_of(collective, channel);
    const auto ranks = static_cast<std::uint32_t>(group.places.size());
    Contents held(ranks, std::vector(blocks_of(collective, group, sends), Block(ranks)));
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        for (std::uint32_t block = 0; block < held[rank].size(); ++block) {
            const bool own = collective == Collective::all_gather  ? block == rank
                             : collective == Collective::broadcast ? rank == root
                                                                   : true;
            held[rank][block][rank] = own ? 1 : 0;
        }
    std::vector<std::size_t> waiting(sends.size());
    std::vector<std::vector<std::size_t>> later(sends.size());
    std::vector<std::size_t> ready;
    for (std::size_t s = 0; s < sends.size(); ++s) {
        waiting[s] = sends[s].needs.size();
        for (const std::uint32_t need : sends[s].needs) later[need].push_back(s);
        if (waiting[s] == 0) ready.push_back(s);
    }
    while (!ready.empty()) {
        std::swap(ready[random() % ready.size()], ready.back());
        const std::size_t now = ready.back();
        ready.pop_back();
        perform(sends[now], group, held);
        for (const std::size_t s : later[now])
            if (--waiting[s] == 0) ready.push_back(s);
    }
    return held;
}

bool holds(Collective collective, const Contents& contents, std::uint32_t root) {
    const auto ranks = static_cast<std::uint32_t>(contents.size());
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        for (std::uint32_t block = 0; block < contents[rank].size(); ++block) {
            if (collective == Collective::reduce && rank != root) continue;
            if (collective == Collective::reduce_scatter && rank != block) continue;
            for (std::uint32_t from = 0; from < ranks; ++from) {
                const int wanted = collective == Collective::all_gather  ? from == block
                                   : collective == Collective::broadcast ? from == root
                                                                         : 1;
                if (contents[rank][block][from] != wanted) return false;
            }
        }
    return true;
}

}  // namespace fmsim
