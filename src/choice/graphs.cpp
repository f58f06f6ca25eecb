// NCCL's channel search, as rules. Its own results for AWS machines are in the catalogue; these rules give the same.
//
// By hand, 8 x H100, 370.8 GB/s of NVLink a GPU, 8 devices of 48 GB/s:
//   alone, ring     6 x 60 = 360 of 370.8, as much as any other speed; few and fast, so twice as many: 12 x 30
//   several, ring   8 x 48 = 384; each GPU begins one ring, whose data come from its NIC: 7/8 of 384 on NVLink
//   several, tree   as many channels; their intra speed rises to what 370.8 x 8/7 and twice the network carry: 48
//   NVLS            a head takes all GPUs' parts and its own: 9 x 40 = 360; the network's part rises to 48
//
// Source: NCCL 2.30 graph/search.cc and its results; the rule for NVLS is inferred from them.
#include "graphs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuning_model.hpp"

namespace fmsim {
namespace {

// Speeds are products and quotients of decimal figures.
constexpr double kRoundOff = 1e-9;
std::uint32_t fits(double room, double speed) {
    return static_cast<std::uint32_t>(std::floor(std::min(room / speed + kRoundOff, 1e6)));
}

struct Found {
    std::uint32_t channels{};
    double speed{};
    double total() const { return channels * speed; }
};

// The most that channels of one speed carry; of equals the fewest and fastest, then doubled at half the speed where
// NCCL does so.
template <class Channels>
Found most(const std::vector<double>& speeds, std::uint32_t compute_capability, const NcclSearch& rules,
           Channels channels) {
    Found best;
    for (const double speed : speeds) {
        const Found found{std::min<std::uint32_t>(channels(speed), rules.most_ring_channels), speed};
        if (found.total() > best.total() * (1 + kRoundOff)) best = found;
    }
    const bool enough =
        compute_capability >= 90 && best.speed < rules.hopper_few_gbps && best.channels > rules.hopper_few_channels;
    if (best.speed < rules.twice_from_gbps || enough || 2 * best.channels > rules.most_ring_channels) return best;
    return {2 * best.channels, best.speed / 2};
}

double fastest(const std::vector<double>& speeds, double at_most) {
    for (const double speed : speeds)
        if (speed <= at_most * (1 + kRoundOff)) return speed;
    return 0;
}

BytesPerSecond rate(double gbps) { return {gbps * 1e9}; }

struct Rules {
    const PartLinks& links;
    const NcclSearch& search;
    bool alone() const { return links.devices == 0; }
    std::size_t row() const { return generation(links.compute_capability); }
    const std::vector<double>& speeds() const { return alone() ? search.intra_gbps[row()] : search.inter_gbps[row()]; }
    PathType between_gpus() const {
        if (links.gpus == 1) return PathType::loc;
        return links.nvlink_gbps > 0 ? PathType::nvl : PathType::phb;
    }
    // Of g GPUs in a row only g - 1 hops are NVLink.
    double chain_room() const {
        if (links.gpus == 1) return std::numeric_limits<double>::infinity();
        return links.nvlink_gbps * links.gpus / (links.gpus - 1.0);
    }

    GraphSearch ring() const {
        const Found found = most(speeds(), links.compute_capability, search, [&](double speed) {
            if (alone()) return fits(links.nvlink_gbps, speed);
            return std::min(links.devices * fits(links.device_gbps, speed), fits(chain_room(), speed));
        });
        return {.channels = std::max(1u, found.channels),
                .intra = rate(found.speed),
                .inter = rate(found.speed),
                .intra_type = between_gpus(),
                .inter_type = links.ring_to_nic,
                .pattern = GraphPattern::ring,
                .same_channels = links.gpus == 1 || (alone() && links.same_order),
                .net_latency = {}};
    }

    GraphSearch tree(const GraphSearch& ring) const {
        GraphSearch tree = ring;
        const bool simpler = !alone() && links.compute_capability >= 90;
        tree.pattern = simpler ? GraphPattern::tree : GraphPattern::balanced_tree;
        tree.inter_type = links.tree_to_nic;
        if (!alone()) {
            const double room = std::min(chain_room() / ring.channels, 2 * gbps(ring.inter));
            tree.intra = rate(std::max(gbps(ring.intra), fastest(speeds(), room)));
        }
        return tree;
    }

    std::optional<GraphSearch> nvls() const {
        const std::uint32_t heads = std::min(links.gpus, search.most_heads);
        if (!links.multicast || links.compute_capability < 90 || links.gpus < 2) return std::nullopt;
        const double net = alone() ? std::numeric_limits<double>::infinity() : links.device_gbps;
        const double intra = fastest(speeds(), std::min(links.nvlink_gbps / (heads + 1.0), net));
        if (intra == 0) return std::nullopt;
        return GraphSearch{.channels = heads,
                           .intra = rate(intra),
                           .inter = rate(fastest(speeds(), std::min(2 * intra, net))),
                           .intra_type = PathType::nvl,
                           .inter_type = links.tree_to_nic,
                           .pattern = GraphPattern::nvls,
                           .same_channels = false,
                           .net_latency = {}};
    }
};

}  // namespace

PublishedGraphs graphs_by_rule(const PartLinks& links, const NcclSearch& search) {
    const Rules rules{links, search};
    const GraphSearch ring = rules.ring();
    return {.ring = ring, .tree = rules.tree(ring), .nvls = rules.nvls()};
}

}  // namespace fmsim
