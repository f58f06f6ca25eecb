// Tree all-reduce: a binary tree over the domains, a chain inside each; sums climb to the root and come down again.
//
//   4 domains of 3 GPUs, tree 0:   0            chains:  g0 - g1 - g2    (all of a domain's network hops end at g0;
//                                  |                                      before Hopper those to children at g1)
//                                  2
//                                 / \                                    tree 1 is the mirror image, so that a domain
//                                1   3                                   that is inner in one is a leaf in the other
//
// Channels of the first half take tree 0, the others tree 1. Each hop carries all of the channel's bytes once up and
// once down; both ways run at once, with a part of the SM's threads each.
// Source: NCCL 2.30 (graph/trees.cc, graph/connect.cc, device/all_reduce.h runTreeSplit).
#include "tree.hpp"

#include <algorithm>
#include <bit>

#include "cut.hpp"

namespace fmsim {
namespace {

// Node r's parent clears the lowest set bit b and sets the next; where that is beyond the end it only clears.
TreeNode first_tree(std::int64_t count, std::int64_t r) {
    TreeNode node;
    if (r == 0) {
        if (count > 1)
            node.children[1] = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
        return node;
    }
    const std::int64_t bit = r & -r;
    node.parent = (r ^ bit) | (bit << 1);
    if (node.parent >= count) node.parent = r ^ bit;
    if (bit > 1) node.children[0] = r - bit / 2;
    for (std::int64_t step = bit / 2; step > 0 && node.children[1] < 0; step /= 2)
        if (r + step < count) node.children[1] = r + step;
    return node;
}

}  // namespace

TreeNode tree_node(std::uint32_t tree, std::uint32_t count, std::uint32_t r) {
    const std::int64_t n = count;
    if (tree == 0) return first_tree(n, r);
    // Mirrored when the number is even, shifted by one when it is odd.
    const bool mirror = n % 2 == 0;
    const auto there = [&](std::int64_t x) { return x < 0 ? x : mirror ? n - 1 - x : (x + 1) % n; };
    TreeNode node = first_tree(n, mirror ? n - 1 - r : (r + n - 1) % n);
    node.parent = there(node.parent);
    for (std::int64_t& child : node.children) child = there(child);
    return node;
}

namespace {

// The chain of a channel in one part: all its ranks by GPU, from the one beside the channel's NICs on.
struct Chain {
    std::vector<std::uint32_t> positions;
    std::uint32_t nic_group{};
};

Chain chain_in(const Topology& topology, const Group& group, const GroupRings& rings, std::uint32_t p,
               std::uint32_t channel) {
    const Group::Part& part = group.parts[p];
    const DomainType& type = topology.type_of(part.domain);
    const auto& paths = rings.of_part[p].paths;
    Chain chain{.positions = part.positions, .nic_group = paths[channel % paths.size()].enter_group};
    if (group.parts.size() == 1 || type.groups() == 0) return chain;
    const std::uint32_t first = chain.nic_group * type.gpus() / type.groups();
    const auto begin = std::find_if(chain.positions.begin(), chain.positions.end(),
                                    [&](std::uint32_t at) { return group.places[at].gpu >= first; });
    std::rotate(chain.positions.begin(), begin == chain.positions.end() ? chain.positions.begin() : begin,
                chain.positions.end());
    return chain;
}

// The rank in a part that a child of the part in the tree is tied to. From Hopper on all network hops end at the first
// GPU of the chain; NCCL balances older ones by giving the children to the second.
std::uint32_t tied_to(const Topology& topology, const Group& group, const Chain& chain, std::uint32_t p,
                      std::size_t child) {
    const Gpu& gpu = topology.type_of(group.parts[p].domain).instance.gpu;
    const bool balanced = gpu.compute_capability < 90 && child == 0 && chain.positions.size() > 1;
    return chain.positions[balanced ? 1 : 0];
}

// The parent of each rank in one channel, and the hop between them.
struct RankTree {
    std::vector<std::int64_t> parent;  // of a position
    std::vector<Hop> up;               // of a position: to its parent
    std::uint32_t root{};
};

RankTree rank_tree(const Topology& topology, const Group& group, const GroupRings& rings, std::uint32_t channel,
                   std::uint32_t tree) {
    RankTree ranks{.parent = std::vector<std::int64_t>(group.places.size(), -1),
                   .up = std::vector<Hop>(group.places.size())};
    const auto parts = static_cast<std::uint32_t>(group.parts.size());
    std::vector<Chain> chains;
    for (std::uint32_t p = 0; p < parts; ++p) chains.push_back(chain_in(topology, group, rings, p, channel));
    for (std::uint32_t p = 0; p < parts; ++p) {
        const auto& chain = chains[p].positions;
        for (std::size_t i = 1; i < chain.size(); ++i) {
            ranks.parent[chain[i]] = chain[i - 1];
            ranks.up[chain[i]] = {.from = chain[i], .to = chain[i - 1]};
        }
        const TreeNode node = tree_node(tree, parts, p);
        if (node.parent < 0) {
            ranks.root = chain[0];
            continue;
        }
        const auto above = static_cast<std::uint32_t>(node.parent);
        const std::size_t child = tree_node(tree, parts, above).children[0] == p ? 0 : 1;
        const std::uint32_t to = tied_to(topology, group, chains[above], above, child);
        ranks.parent[chain[0]] = to;
        ranks.up[chain[0]] = {.from = chain[0],
                              .to = to,
                              .way = Way::network,
                              .leave_group = chains[p].nic_group,
                              .enter_group = chains[above].nic_group};
    }
    return ranks;
}

// Ranks so that each comes after its parent.
std::vector<std::uint32_t> downwards(const RankTree& tree) {
    std::vector<std::vector<std::uint32_t>> children(tree.parent.size());
    for (std::uint32_t r = 0; r < tree.parent.size(); ++r)
        if (tree.parent[r] >= 0) children[static_cast<std::size_t>(tree.parent[r])].push_back(r);
    std::vector<std::uint32_t> order{tree.root};
    for (std::size_t i = 0; i < order.size(); ++i)
        order.insert(order.end(), children[order[i]].begin(), children[order[i]].end());
    return order;
}

// Hop 2i climbs from the i-th rank of the order (the root left out) to its parent, hop 2i + 1 comes down again.
Channel tree_channel(const RankTree& tree, double up_share, double down_share) {
    Channel channel;
    std::vector<std::uint32_t> children(tree.parent.size());
    for (const std::int64_t parent : tree.parent)
        if (parent >= 0) ++children[static_cast<std::size_t>(parent)];
    const auto order = downwards(tree);
    std::vector<std::uint32_t> hop_of(tree.parent.size());
    for (std::uint32_t i = 1; i < order.size(); ++i) {
        Hop up = tree.up[order[i]];
        const auto tree_parent = static_cast<std::size_t>(tree.parent[order[i]]);
        up.sm_share = up_share;
        up.fan = std::max(1u, children[order[i]]);
        Hop down{.from = up.to,
                 .to = up.from,
                 .way = up.way,
                 .leave_group = up.enter_group,
                 .enter_group = up.leave_group,
                 .sm_share = down_share,
                 .fan = children[tree_parent]};
        hop_of[order[i]] = static_cast<std::uint32_t>(channel.hops.size());
        channel.hops.push_back(up);
        channel.hops.push_back(down);
    }
    auto pattern = std::make_shared<Pattern>();
    std::vector<std::vector<std::uint32_t>> arrived(tree.parent.size());  // transfers into a rank from below
    for (std::size_t i = order.size() - 1; i > 0; --i) {
        const std::uint32_t rank = order[i];
        const std::uint32_t sent = pattern->add({.hop = hop_of[rank], .adds = true}, arrived[rank], {0});
        arrived[static_cast<std::size_t>(tree.parent[rank])].push_back(sent);
    }
    std::vector<std::vector<std::uint32_t>> whole(tree.parent.size());  // what a rank waits for to send the sum down
    whole[tree.root] = arrived[tree.root];
    for (std::size_t i = 1; i < order.size(); ++i) {
        const std::uint32_t rank = order[i];
        whole[rank] = {
            pattern->add({.hop = hop_of[rank] + 1}, whole[static_cast<std::size_t>(tree.parent[rank])], {0})};
    }
    channel.steps = std::move(pattern);
    return channel;
}

}  // namespace

Schedule plan_tree_all_reduce(const Topology& topology, const Group& group, const PlanRequest& request) {
    const GroupRings rings = rings_of(topology, group);
    Schedule schedule = begin_schedule(Collective::all_reduce, "Tree", request);
    for (const ChannelData& data : split_whole(request, 2)) {
        const auto c = static_cast<std::uint32_t>(schedule.channels.size());
        Channel channel = tree_channel(rank_tree(topology, group, rings, c, c / rings.paths() % 2),
                                       request.shape->tree_up_share[request.protocol],
                                       request.shape->tree_down_share[request.protocol]);
        channel.bytes = data.bytes;
        channel.loops = loops_of(data.exact, request, {});
        schedule.channels.push_back(std::move(channel));
    }
    return schedule;
}

}  // namespace fmsim
