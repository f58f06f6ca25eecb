// PAT: all-gather and reduce-scatter in log2(R) dimensions instead of R - 1 ring steps.
//
// In dimension i rank r sends to r - 2^i (a scatter to r + 2^i). A gather begins with the farthest:
//
//   4 ranks   dimension 1: r sends its own block to r - 2
//             dimension 0: r sends its own and the one it got to r - 1
//
// Blocks x ahead of a rank arrive in the dimension of x's lowest set bit. Small blocks travel together, as many as half
// a buffer step holds, so a small gather has log2(R) messages a rank; large ones travel alone, R - 1 a rank. A scatter
// is a gather run backwards. Source: NCCL 2.30 (device/all_gather.h, collectives.h: PatAGAlgorithm). Left out: the
// order in which NCCL's look-ahead takes the messages of several dimensions.
//
// Every rank does the same, counted from itself: the steps are those of one rank (TurningSteps), R - 1 at most.
#include "pat.hpp"

#include <algorithm>
#include <bit>

#include "cut.hpp"

namespace fmsim {
namespace {

using Ids = std::vector<std::uint32_t>;

// What one rank sends in one dimension at once, as blocks ahead of its own.
struct PatMessage {
    std::uint32_t dimension{};
    Ids ahead;
};

std::uint32_t dimensions_of(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

// NCCL deals the blocks of a dimension out to its messages in turn, counted as if the ranks were a power of two.
std::vector<PatMessage> messages_of(std::uint32_t ranks, std::uint32_t together) {
    std::vector<PatMessage> messages;
    const std::uint32_t full = std::bit_ceil(ranks);
    for (std::uint32_t i = dimensions_of(ranks); i-- > 0;) {
        const std::uint32_t step = 1u << i;
        const std::uint32_t blocks = full / (2 * step);
        const std::uint32_t count = (blocks + together - 1) / together;
        for (std::uint32_t message = 0; message < count; ++message) {
            PatMessage made{i, {}};
            // Of the sender: what is x ahead of the receiver is x - 2^i ahead of it.
            for (std::uint32_t k = message; k < blocks; k += count)
                if (step + 2 * step * k < ranks) made.ahead.push_back(2 * step * k);
            if (!made.ahead.empty()) messages.push_back(std::move(made));
        }
    }
    return messages;
}

// Every rank does the same, so one rank's messages are all there is to find. A gather's sender has blocks ahead of it
// and moves them one step further ahead of the receiver, a scatter's the other way round.
std::shared_ptr<const TurningSteps> steps_of(std::uint32_t ranks, std::uint32_t together, bool scatters) {
    std::vector<PatMessage> messages = messages_of(ranks, together);
    if (scatters) std::reverse(messages.begin(), messages.end());
    auto made = std::make_shared<TurningSteps>();
    made->hops = dimensions_of(ranks);
    std::vector<std::vector<TurningSteps::Need>> arrivals(ranks);  // of a rank, of a block so far ahead
    for (const PatMessage& message : messages) {
        const std::uint32_t step = 1u << message.dimension;
        std::vector<TurningSteps::Need> needs;
        Ids blocks;
        for (const std::uint32_t ahead : message.ahead) {
            blocks.push_back(scatters ? ahead + step : ahead);
            needs.insert(needs.end(), arrivals[blocks.back()].begin(), arrivals[blocks.back()].end());
        }
        std::sort(needs.begin(), needs.end());
        needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
        const auto number = static_cast<std::uint32_t>(made->transfers.size());
        for (const std::uint32_t ahead : message.ahead)
            arrivals[scatters ? ahead : ahead + step].push_back({number, scatters ? ranks - step : step});
        made->transfers.push_back(
            {.hop = message.dimension, .chunks = static_cast<double>(blocks.size()), .adds = scatters});
        made->needs.append(needs);
        made->carries.append(blocks);
    }
    return made;
}

// Where the group is some parts of a larger one, all alike, any other part can stand for the one at a hop's end.
std::vector<Hop> hops_of(const Topology& topology, const Group& group, std::uint32_t ranks, bool scatters) {
    const auto drawn = static_cast<std::uint32_t>(group.places.size());
    const auto nics = [&](std::uint32_t rank) {
        return topology.type_of(group.places[rank].domain).nic_group_of(group.places[rank].gpu);
    };
    std::vector<Hop> hops;
    for (std::uint32_t rank = 0; rank < drawn; ++rank)
        for (std::uint32_t step = 1; step < ranks; step *= 2) {
            const std::uint32_t by = drawn < ranks ? 1 : scatters ? step : ranks - step;
            const std::uint32_t to = (rank + by) % drawn;
            hops.push_back(
                {.from = rank, .to = to, .way = Way::network, .leave_group = nics(rank), .enter_group = nics(to)});
        }
    return hops;
}

// Blocks of `block` bytes that go together in one message.
std::uint32_t together(double block, double chunk, std::uint32_t ranks) {
    std::uint32_t count = 1;
    while (chunk / (block * count) >= 2 && count < ranks / 2) count *= 2;
    return count;
}

Schedule plan_pat(Collective collective, const Topology& topology, const Group& group, const PlanRequest& request) {
    const auto ranks = request.ranks > 0 ? request.ranks : static_cast<std::uint32_t>(group.places.size());
    const bool scatters = collective == Collective::reduce_scatter;
    const std::vector<Hop> hops = hops_of(topology, group, ranks, scatters);
    Schedule schedule = begin_schedule(collective, "PAT", request);
    schedule.one_lane_a_rank = true;
    std::uint32_t known_together = 0;
    std::shared_ptr<const TurningSteps> steps;
    for (const ChannelData& data : split_by_rank(request, ranks)) {
        std::vector<Loop> loops = loops_of(data.exact, request, {});
        const std::uint32_t count = together(loops.front().chunk, most_chunk(request, {}), ranks);
        if (count != known_together) steps = steps_of(ranks, count, scatters);
        known_together = count;
        schedule.channels.push_back({.hops = hops, .steps = steps, .bytes = data.bytes, .loops = std::move(loops)});
    }
    return schedule;
}

}  // namespace

Schedule plan_pat_all_gather(const Topology& topology, const Group& group, const PlanRequest& request) {
    return plan_pat(Collective::all_gather, topology, group, request);
}
Schedule plan_pat_reduce_scatter(const Topology& topology, const Group& group, const PlanRequest& request) {
    return plan_pat(Collective::reduce_scatter, topology, group, request);
}

std::string pat_refuses(const Topology&, const Group& group, const NcclShape&) {
    if (group.parts.size() == group.places.size() && group.parts.size() > 1) return {};
    return "PAT runs over one GPU a domain";
}

}  // namespace fmsim
