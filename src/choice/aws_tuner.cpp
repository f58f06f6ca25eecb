// The AWS plugin's tuner: regions over bytes and ranks in which it takes another algorithm than NCCL would, and its
// rules on channels and chunks.
//
// A region is a polygon in the plane of the binary logarithms. A point is in it when a ray to a far corner crosses its
// outline an odd number of times, or when it lies on the outline. The first region that has the point wins; one whose
// algorithm is not allowed is passed over.
//
// Source: aws-ofi-nccl, tuner. Left out: its analytic tuner, which is off by default.
#include <algorithm>
#include <cmath>

#include "chunk_rules.hpp"
#include "tuning_model.hpp"

namespace fmsim {
namespace {

struct Point {
    double x{}, y{};
};

double cross(Point a, Point b, Point c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

bool crosses(Point a, Point b, Point c, Point d) {
    return (cross(a, b, c) > 0) != (cross(a, b, d) > 0) && (cross(c, d, a) > 0) != (cross(c, d, b) > 0);
}

double distance(Point p, Point a, Point b) {
    const double dx = b.x - a.x, dy = b.y - a.y;
    const double length = dx * dx + dy * dy;
    const double along = length == 0 ? 0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0);
    return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

Point on_plane(double bytes, double ranks, const AwsTuner& aws) {
    return {std::log2(bytes == 0 ? aws.zero_bytes : bytes), std::log2(ranks)};
}

bool contains(const Region& region, Point p, const AwsTuner& aws) {
    const Point far = on_plane(aws.most_bytes, aws.most_ranks, aws);
    bool inside = false;
    for (std::size_t i = 0; i < region.corners.size(); ++i) {
        const auto& from = region.corners[i];
        const auto& to = region.corners[(i + 1) % region.corners.size()];
        const Point a = on_plane(from[0], from[1], aws), b = on_plane(to[0], to[1], aws);
        if (distance(p, a, b) < aws.on_edge) return true;
        if (crosses(p, far, a, b)) inside = !inside;
    }
    return inside;
}

const RegionTable* table_of(const Communicator& c, Collective collective, const AwsTuner& aws) {
    if (c.aws_tuner.empty() || c.domains < aws.least_domains) return nullptr;
    for (const RegionTable& table : aws.tables)
        if (table.machine == c.aws_tuner && table.ranks_a_domain == c.ranks_a_domain() &&
            table.collective == collective)
            return &table;
    return nullptr;
}

bool allowed(const std::vector<Candidate>& candidates, const Region& region) {
    return std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& row) {
        return row.algorithm == region.algorithm && row.protocol == region.protocol && row.refused.empty();
    });
}

// Of tree LL128 the count of channels with the largest chunk; of equals the larger count.
std::uint32_t tree_channels(const Communicator& c, Bytes size, const Nccl& nccl) {
    const AwsTuner::TreeChannels& rule = nccl.aws.tree_channels;
    if (c.aws_tuner != rule.machine || c.ranks_a_domain() != rule.ranks_a_domain || size < rule.least ||
        size > rule.most)
        return 0;
    const ProtocolShape& shape = nccl.shape.protocols[Protocol::ll128];
    const auto whole = static_cast<std::int64_t>(static_cast<double>(c.fifo[Protocol::ll128].count) /
                                                 nccl.shape.buffer_steps / shape.wire_per_data);
    std::uint32_t best = 0;
    std::int64_t largest = 0;
    for (const std::uint32_t count : rule.counts) {
        const std::int64_t chunk =
            tree_ll128_chunk(whole, size.count / count, c.domains, c.ranks_a_domain(), nccl.chunks);
        if (chunk < largest) continue;
        largest = chunk;
        best = count;
    }
    return best;
}

std::uint32_t pat_channels(const Communicator& c, Bytes size, const AwsTuner& aws) {
    const AwsTuner::PatChannels& rule = aws.pat_channels;
    if (c.aws_tuner != rule.machine || c.ranks_a_domain() != rule.ranks_a_domain || size > rule.most) return 0;
    for (const auto& [bytes, channels] : rule.up_to)
        if (size.count <= bytes.count * c.domains) return channels;
    return 0;
}

std::uint32_t channels_for(const Communicator& c, Collective collective, const Region& region, Bytes size,
                           const Nccl& nccl) {
    if (region.algorithm == AlgorithmKind::pat) return pat_channels(c, size, nccl.aws);
    const bool tree_ll128 = region.algorithm == AlgorithmKind::tree && region.protocol == Protocol::ll128;
    return tree_ll128 && collective == Collective::all_reduce ? tree_channels(c, size, nccl) : 0;
}

std::int64_t aws_tree_chunk(const Communicator& c, std::int64_t on_channel, const AwsTuner::Chunks& rule) {
    const std::int64_t depth = 1 + floor_log2(c.domains);
    const auto half_depth = static_cast<std::int64_t>(rule.tree_half_depth * static_cast<double>(depth));
    std::int64_t chunk = rule.tree;
    if (on_channel / chunk < 2 * depth * depth) chunk /= 2;
    if (on_channel / chunk < half_depth) chunk /= 2;
    while (on_channel / chunk < depth + 1 && chunk > rule.tree_floor) chunk /= 2;
    return chunk;
}

std::int64_t aws_pat_chunk(const Communicator& c, std::int64_t on_channel, const AwsTuner::Chunks& rule) {
    const std::int64_t domains = c.domains;
    const bool many = domains >= rule.many_domains;
    const std::int64_t first = many ? rule.pat_first_many : std::min(domains, rule.pat_first_few) + 1;
    const std::int64_t most = many ? rule.pat_many : rule.pat_few;
    std::int64_t chunk = most;
    while (on_channel / chunk < first && chunk > most / 2) chunk /= 2;
    while (on_channel / chunk < std::min(domains, rule.pat_second) && chunk > rule.pat_second_floor) chunk /= 2;
    while (on_channel / chunk < std::min(domains, rule.pat_third) && chunk > rule.pat_third_floor) chunk /= 2;
    return chunk;
}

}  // namespace

std::optional<RegionPick> aws_region(const Communicator& communicator, Collective collective, Bytes size,
                                     const Nccl& nccl, const std::vector<Candidate>& candidates) {
    const RegionTable* table = table_of(communicator, collective, nccl.aws);
    if (table == nullptr) return std::nullopt;
    const Point point = on_plane(static_cast<double>(size.count), communicator.ranks, nccl.aws);
    for (const Region& region : table->regions)
        if (allowed(candidates, region) && contains(region, point, nccl.aws))
            return RegionPick{region.algorithm, region.protocol,
                              channels_for(communicator, collective, region, size, nccl)};
    return std::nullopt;
}

std::int64_t aws_chunk(const Communicator& communicator, Collective collective, const Pick& pick,
                       std::int64_t on_channel, std::int64_t chunk, const AwsTuner& aws) {
    const AwsTuner::Chunks& rule = aws.chunks;
    if (communicator.aws_tuner != rule.machine || communicator.ranks_a_domain() != rule.ranks_a_domain) return chunk;
    if (collective == Collective::all_reduce && pick.algorithm == AlgorithmKind::tree &&
        pick.protocol == Protocol::ll128)
        return aws_tree_chunk(communicator, on_channel, rule);
    if (collective == Collective::all_gather && pick.algorithm == AlgorithmKind::pat)
        return aws_pat_chunk(communicator, on_channel, rule);
    return chunk;
}

}  // namespace fmsim
