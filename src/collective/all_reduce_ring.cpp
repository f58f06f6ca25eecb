// Ring all-reduce, as NCCL runs it: reduce-scatter round the ring, then all-gather round the ring.
//
//   ranks 0 -> 1 -> 2 -> 3 -> 0, chunks a b c d. Rank r sends in step 0 chunk r - 1, then what it received, reduced:
//
//   step       0   1   2 | 3   4   5
//   0 sends    d   c   b | a   d   c       the receiver adds in steps 0 to 2 and replaces in 3 to 5; what arrives in
//   1 sends    a   d   c | b   a   d       step 2 is complete once the receiver's own part is added
//   2 sends    b   a   d | c   b   a
//   3 sends    c   b   a | d   c   b
//
// Each hop carries 2(R-1) chunks a loop, so 2(R-1)/R of the channel's bytes. A channel with more than R chunks makes
// several loops; the next begins where the last chunk of the one before has left.
//
// Source: NCCL 2.30 (device/all_reduce.h, graph search results in the instance file). Closed form: edge bytes / rate.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "fmsim/collective.hpp"

namespace fmsim {
namespace {

// The path that channel `c` takes inside a domain. Where paths cross from one group of NICs to the next, neighbours
// change places on odd domains, so that every hop between domains stays on one rail.
const RingPath& path_in(const RingSearch& search, std::uint32_t channel, std::uint32_t domain) {
    const auto path = static_cast<std::uint32_t>(channel % search.paths.size());
    return search.paths[search.crosses_nics && domain % 2 == 1 ? path ^ 1u : path];
}

// The position of the rank on a GPU of a part.
std::uint32_t position_of(const Group& group, const Group::Part& part, std::uint32_t gpu) {
    const auto found =
        std::lower_bound(part.positions.begin(), part.positions.end(), gpu,
                         [&](std::uint32_t at, std::uint32_t wanted) { return group.places[at].gpu < wanted; });
    assert(found != part.positions.end());
    return *found;
}

std::vector<Hop> ring_hops(const Group& group, const GroupRings& rings, std::uint32_t channel) {
    std::vector<Hop> hops;
    for (std::uint32_t p = 0; p < group.parts.size(); ++p) {
        const Group::Part& part = group.parts[p];
        const RingPath& path = path_in(rings.of_part[p], channel, p);
        for (std::size_t i = 0; i + 1 < path.gpus.size(); ++i)
            hops.push_back(
                {.from = position_of(group, part, path.gpus[i]), .to = position_of(group, part, path.gpus[i + 1])});
        const auto next_part = static_cast<std::uint32_t>((p + 1) % group.parts.size());
        const RingPath& next = path_in(rings.of_part[next_part], channel, next_part);
        hops.push_back({.from = position_of(group, part, path.gpus.back()),
                        .to = position_of(group, group.parts[next_part], next.gpus.front()),
                        .leaves_domain = group.parts.size() > 1,
                        .leave_group = path.leave_group,
                        .enter_group = next.enter_group});
    }
    return hops;
}

// LL and LL128 pass on what a round of their threads moves, and a NIC sends the chunk when it is whole. Simple passes
// on slices, and a NIC sends each.
Loop loop_of(double chunk, const ProtocolShape& protocol, double slice_floor) {
    if (protocol.unit.count > 0) return {chunk, std::min(chunk, static_cast<double>(protocol.unit.count)), true};
    return {chunk, std::min(chunk, std::max(chunk / protocol.slices_a_chunk, slice_floor)), false};
}

std::vector<Loop> loops_of(Bytes bytes, std::uint32_t ranks, const PlanRequest& request) {
    const ProtocolShape& protocol = request.shape->protocols[request.protocol];
    const Bytes buffer = request.protocol == Protocol::simple ? request.simple_buffer : protocol.buffer;
    const double step = static_cast<double>(buffer.count) / request.shape->buffer_steps / protocol.wire_per_data;
    const auto alignment = static_cast<double>(protocol.alignment.count);
    // A hair is added before rounding down: 614400 / (16/15) must be 576000, not a bit less.
    const double most = std::floor(step * protocol.steps_a_chunk / alignment + 1e-9) * alignment;
    std::vector<Loop> loops;
    for (auto left = static_cast<double>(bytes.count); left > 0; left -= most * ranks)
        loops.push_back(loop_of(std::min(most, left / ranks), protocol, step / request.shape->slices_least_part));
    return loops;
}

}  // namespace

// A hair is taken off before rounding up: two halves are two units, however they were computed.
std::uint32_t Loop::units() const { return static_cast<std::uint32_t>(std::max(1.0, std::ceil(chunk / unit - 1e-9))); }

double Loop::unit_bytes(std::uint32_t unit_index) const {
    return unit_index + 1 < units() ? unit : chunk - unit * (units() - 1);
}

RingSend ring_all_reduce_send(std::uint32_t ranks, std::uint32_t hop, std::uint32_t step) {
    // The sender of hop h is at position h of the ring; step 0 sends the chunk before its own.
    return {.chunk = (hop + 2 * ranks - 1 - step) % ranks, .reduces = step + 1 < ranks};
}

std::uint32_t ring_channels(const Topology& topology, const Group& group) {
    const GroupRings rings = rings_of(topology, group);
    const auto doubled = 2 * rings.paths();
    // NCCL copies the channels once more where few fast ones would leave NVLink idle (connect.cc).
    const Gpu& gpu = topology.type_of(group.parts.front().domain).instance.gpu;
    const bool few_and_fast =
        gpu.compute_capability >= 90 && group.parts.size() > 1 && rings.of_part.front().intra > 45_GBps && doubled < 16;
    return few_and_fast ? 2 * doubled : doubled;
}

Schedule plan_ring_all_reduce(const Topology& topology, const Group& group, const PlanRequest& request) {
    const auto ranks = static_cast<std::uint32_t>(group.places.size());
    assert(ranks >= 2);
    const GroupRings rings = rings_of(topology, group);
    const ProtocolShape& protocol = request.shape->protocols[request.protocol];
    Schedule schedule{.collective = Collective::all_reduce,
                      .algorithm = "Ring",
                      .protocol = request.protocol,
                      .size = request.size,
                      .steps = 2 * (ranks - 1),
                      .chunks_in_flight = request.shape->buffer_steps / protocol.steps_a_chunk,
                      .wire_per_data = protocol.wire_per_data,
                      .launch = request.shape->launch[request.protocol],
                      .channels = {}};
    const auto parts =
        split_over_channels(request.size, 2, request.channels, request.protocol == Protocol::ll, *request.shape);
    for (std::uint32_t c = 0; c < parts.size(); ++c)
        schedule.channels.push_back(
            {.hops = ring_hops(group, rings, c), .bytes = parts[c], .loops = loops_of(parts[c], ranks, request)});
    return schedule;
}

}  // namespace fmsim
