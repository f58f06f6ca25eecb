// NVLink SHARP: the NVSwitch adds and multicasts.
//
// Some ranks of a domain are heads; each head has a block of the data. A loop of an all-reduce, 3 ranks, heads 0 and 1:
//
//   every rank copies blocks 0 and 1 into the multicast buffer
//   head 0 reads the sum of block 0 through the switch, head 1 that of block 1        (gather)
//   each writes its sum to all ranks through the switch                               (multicast)
//   every rank copies both blocks out
//
// A GPU's NVLink so carries S (1 + 1/H) out and in, instead of a ring's 2 S (R-1)/R. An all-gather has only the
// multicasts, of each rank's own block, a reduce-scatter only the gathers.
//
// Over several domains (NVLSTree) the heads of equal number form double binary trees: sums climb, are added on the way
// to what the domain's gather gave, come down, and each head multicasts in its domain.
// Source: NCCL 2.30 (device/all_reduce.h, transport/nvls.cc, graph/trees.cc).
#include "nvls.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "cut.hpp"

namespace fmsim {
namespace {

using Ids = std::vector<std::uint32_t>;

Ids numbers(std::uint32_t count) {
    Ids all(count);
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

std::uint32_t heads_of(const Group& group, const NcclShape& shape) {
    std::size_t least = shape.most_nvls_heads;
    for (const Group::Part& part : group.parts) least = std::min(least, part.positions.size());
    return static_cast<std::uint32_t>(least);
}

// The hops and transfers of one channel, as they are added.
struct Drawing {
    std::vector<Hop> hops;
    std::shared_ptr<Pattern> pattern = std::make_shared<Pattern>();

    std::uint32_t add(const Hop& hop, double chunks, bool adds, Ids needs, Ids blocks) {
        hops.push_back(hop);
        return pattern->add({.hop = static_cast<std::uint32_t>(hops.size() - 1), .chunks = chunks, .adds = adds},
                            std::move(needs), std::move(blocks));
    }
    // Each rank of a part copies blocks within its GPU.
    Ids copies(const Group::Part& part, std::uint32_t blocks, const Ids& needs) {
        Ids made;
        for (const std::uint32_t rank : part.positions)
            made.push_back(add({.from = rank, .to = rank, .way = Way::local}, blocks, false, needs, numbers(blocks)));
        return made;
    }
    std::uint32_t gather(std::uint32_t part, std::uint32_t head, std::uint32_t block, Ids needs) {
        return add({.from = head, .to = head, .way = Way::gather, .part = part}, 1, true, std::move(needs), {block});
    }
    std::uint32_t multicast(std::uint32_t part, std::uint32_t head, std::uint32_t block, Ids needs) {
        return add({.from = head, .to = head, .way = Way::multicast, .part = part}, 1, false, std::move(needs),
                   {block});
    }
};

// The channels are alike: in one domain all take the same hops.
Schedule alike_channels(Collective collective, const PlanRequest& request, const Drawing& drawing,
                        const std::vector<ChannelData>& split, std::uint32_t blocks) {
    Schedule schedule = begin_schedule(collective, "NVLS", request);
    for (const ChannelData& data : split)
        schedule.channels.push_back({.hops = drawing.hops,
                                     .steps = drawing.pattern,
                                     .bytes = data.bytes,
                                     .loops = loops_of(data.exact / blocks, request, {})});
    return schedule;
}

bool multicasts(const Topology& topology, const Group& group) {
    return std::all_of(group.parts.begin(), group.parts.end(), [&](const Group::Part& part) {
        const InstanceType& type = topology.type_of(part.domain).instance;
        return type.nvlink && type.nvlink->multicast;
    });
}

// The network between the domains, of one head's tree.
class HeadTree {
public:
    HeadTree(const Topology& topology, const Group& group, std::uint32_t tree, std::uint32_t head)
        : topology_(topology), group_(group), tree_(tree), head_(head) {}

    std::uint32_t parts() const { return static_cast<std::uint32_t>(group_.parts.size()); }
    TreeNode node(std::uint32_t part) const { return tree_node(tree_, parts(), part); }
    std::uint32_t rank(std::uint32_t part) const { return group_.parts[part].positions[head_]; }
    Hop hop(std::uint32_t from, std::uint32_t to) const {
        return {.from = rank(from),
                .to = rank(to),
                .way = Way::network,
                .leave_group = nics_beside(from),
                .enter_group = nics_beside(to)};
    }
    // Parts so that each comes after its parent.
    Ids downwards() const {
        Ids order;
        for (std::uint32_t p = 0; p < parts(); ++p)
            if (node(p).parent < 0) order.push_back(p);
        for (std::size_t i = 0; i < order.size(); ++i)
            for (const std::int64_t child : node(order[i]).children)
                if (child >= 0) order.push_back(static_cast<std::uint32_t>(child));
        return order;
    }

private:
    std::uint32_t nics_beside(std::uint32_t part) const {
        return topology_.type_of(group_.parts[part].domain).nic_group_of(group_.places[rank(part)].gpu);
    }
    const Topology& topology_;
    const Group& group_;
    std::uint32_t tree_, head_;
};

// One head's block: gathered in each domain, up the tree, down again, multicast in each. `out` gets the multicasts.
void draw_head(Drawing& drawing, const HeadTree& tree, std::uint32_t block, const std::vector<Ids>& copied_in,
               std::vector<Ids>& out) {
    const Ids order = tree.downwards();
    std::vector<Ids> ready(tree.parts());  // what a part's head waits for before it sends up
    for (std::size_t i = order.size(); i-- > 0;) {
        const std::uint32_t p = order[i];
        ready[p].push_back(drawing.gather(p, tree.rank(p), block, copied_in[p]));
        if (const std::int64_t parent = tree.node(p).parent; parent >= 0) {
            const auto above = static_cast<std::uint32_t>(parent);
            ready[above].push_back(drawing.add(tree.hop(p, above), 1, true, ready[p], {block}));
        }
    }
    for (const std::uint32_t p : order) {
        if (const std::int64_t parent = tree.node(p).parent; parent >= 0) {
            const auto above = static_cast<std::uint32_t>(parent);
            ready[p] = {drawing.add(tree.hop(above, p), 1, false, ready[above], {block})};
        }
        out[p].push_back(drawing.multicast(p, tree.rank(p), block, ready[p]));
    }
}

Drawing draw_tree(const Topology& topology, const Group& group, std::uint32_t tree, std::uint32_t heads) {
    Drawing drawing;
    std::vector<Ids> copied_in, out(group.parts.size());
    for (const Group::Part& part : group.parts) copied_in.push_back(drawing.copies(part, heads, {}));
    for (std::uint32_t head = 0; head < heads; ++head)
        draw_head(drawing, HeadTree(topology, group, tree, head), head, copied_in, out);
    for (std::size_t p = 0; p < group.parts.size(); ++p) drawing.copies(group.parts[p], heads, out[p]);
    return drawing;
}

}  // namespace

Schedule plan_nvls_all_reduce(const Topology&, const Group& group, const PlanRequest& request) {
    const Group::Part& part = group.parts.front();
    const std::uint32_t heads = heads_of(group, *request.shape);
    Drawing drawing;
    const Ids copied_in = drawing.copies(part, heads, {});
    Ids out;
    for (std::uint32_t head = 0; head < heads; ++head) {
        const std::uint32_t sum = drawing.gather(0, part.positions[head], head, copied_in);
        out.push_back(drawing.multicast(0, part.positions[head], head, {sum}));
    }
    drawing.copies(part, heads, out);
    return alike_channels(Collective::all_reduce, request, drawing, split_whole(request, 2), heads);
}

Schedule plan_nvls_all_gather(const Topology&, const Group& group, const PlanRequest& request) {
    const Group::Part& part = group.parts.front();
    const auto ranks = static_cast<std::uint32_t>(part.positions.size());
    Drawing drawing;
    Ids out;
    for (const std::uint32_t rank : part.positions) {
        const std::uint32_t in = drawing.add({.from = rank, .to = rank, .way = Way::local}, 1, false, {}, {rank});
        out.push_back(drawing.multicast(0, rank, rank, {in}));
    }
    drawing.copies(part, ranks, out);
    return alike_channels(Collective::all_gather, request, drawing, split_by_rank(request, ranks), 1);
}

Schedule plan_nvls_reduce_scatter(const Topology&, const Group& group, const PlanRequest& request) {
    const Group::Part& part = group.parts.front();
    const auto ranks = static_cast<std::uint32_t>(part.positions.size());
    Drawing drawing;
    const Ids copied_in = drawing.copies(part, ranks, {});
    for (const std::uint32_t rank : part.positions) {
        const std::uint32_t sum = drawing.gather(0, rank, rank, copied_in);
        drawing.add({.from = rank, .to = rank, .way = Way::local}, 1, false, {sum}, {rank});
    }
    return alike_channels(Collective::reduce_scatter, request, drawing, split_by_rank(request, ranks), 1);
}

Schedule plan_nvls_tree_all_reduce(const Topology& topology, const Group& group, const PlanRequest& request) {
    const std::uint32_t heads = heads_of(group, *request.shape);
    const std::array trees{draw_tree(topology, group, 0, heads), draw_tree(topology, group, 1, heads)};
    Schedule schedule = begin_schedule(Collective::all_reduce, "NVLSTree", request);
    for (const ChannelData& data : split_whole(request, 2)) {
        const Drawing& drawing = trees[schedule.channels.size() % 2];
        schedule.channels.push_back({.hops = drawing.hops,
                                     .steps = drawing.pattern,
                                     .bytes = data.bytes,
                                     .loops = loops_of(data.exact / heads, request, {})});
    }
    return schedule;
}

std::string nvls_refuses(const Topology& topology, const Group& group, const NcclShape&) {
    if (group.parts.size() > 1) return "NVLS stays inside one NVLink domain; NVLSTree goes over several";
    if (!multicasts(topology, group)) return "NVLS needs NVSwitches that reduce and multicast";
    return {};
}

std::string nvls_refuses_gather(const Topology& topology, const Group& group, const NcclShape& shape) {
    if (auto why = nvls_refuses(topology, group, shape); !why.empty()) return why;
    if (group.places.size() > shape.most_nvls_heads)  // each rank has to be one
        return fmt::format("NVLS gathers and scatters over at most {} ranks", shape.most_nvls_heads);
    return {};
}

std::string nvls_tree_refuses(const Topology& topology, const Group& group, const NcclShape&) {
    if (group.parts.size() < 2) return "NVLSTree needs two or more NVLink domains; in one it is NVLS";
    const auto alone = [](const Group::Part& part) { return part.positions.size() < 2; };
    if (std::any_of(group.parts.begin(), group.parts.end(), alone))
        return "NVLSTree needs two or more GPUs in each NVLink domain";
    if (!multicasts(topology, group)) return "NVLSTree needs NVSwitches that reduce and multicast";
    return {};
}

}  // namespace fmsim
