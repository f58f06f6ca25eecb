#include "cut.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace fmsim {
namespace {

// LL and LL128 pass on what a round of their threads moves, and a NIC sends the chunk when it is whole. Simple passes
// on slices, and a NIC sends each.
Loop loop_of(double chunk, const ProtocolShape& protocol, std::uint32_t slices, double slice_floor) {
    if (protocol.unit.count > 0) return {chunk, std::min(chunk, static_cast<double>(protocol.unit.count)), true};
    return {chunk, std::min(chunk, std::max(chunk / slices, slice_floor)), false};
}

// Data of one step of a connection's buffer.
double step_of(const PlanRequest& request) {
    const ProtocolShape& protocol = request.shape->protocols[request.protocol];
    const Bytes buffer = request.protocol == Protocol::simple ? request.simple_buffer : protocol.buffer;
    return static_cast<double>(buffer.count) / request.shape->buffer_steps / protocol.wire_per_data;
}

}  // namespace

Schedule begin_schedule(Collective collective, std::string_view algorithm, const PlanRequest& request) {
    return {.collective = collective,
            .algorithm = algorithm,
            .protocol = request.protocol,
            .size = request.size,
            .chunks_in_flight = request.shape->buffer_steps,
            .wire_per_data = request.shape->protocols[request.protocol].wire_per_data,
            .one_lane_a_rank = false,
            .launch = request.launch + request.shape->launch[request.protocol],
            .channels = {},
            .exchange = {}};
}

std::vector<ChannelData> split_whole(const PlanRequest& request, double traffic_per_byte) {
    std::vector<ChannelData> split;
    for (const Bytes bytes : split_over_channels(request.size, traffic_per_byte, request.channels,
                                                 request.protocol == Protocol::ll, *request.shape))
        split.push_back({bytes, static_cast<double>(bytes.count)});
    return split;
}

std::vector<ChannelData> split_by_rank(const PlanRequest& request, std::uint32_t ranks) {
    const std::int64_t part = (request.size.count + ranks - 1) / ranks;
    const double exact = static_cast<double>(request.size.count) / ranks;
    std::vector<ChannelData> split;
    for (const Bytes bytes :
         split_over_channels({part}, ranks, request.channels, request.protocol == Protocol::ll, *request.shape))
        split.push_back({bytes, static_cast<double>(bytes.count) * (exact / static_cast<double>(part))});
    return split;
}

double most_chunk(const PlanRequest& request, const Cut& cut) {
    const double wanted =
        request.chunk.count > 0 ? static_cast<double>(request.chunk.count) : step_of(request) * cut.steps_a_chunk;
    const auto alignment = static_cast<double>(request.shape->protocols[request.protocol].alignment.count);
    // A hair is added before rounding down: 614400 / (16/15) must be 576000, not a bit less.
    return std::max(alignment, std::floor(wanted / alignment + 1e-9) * alignment);
}

std::vector<Loop> loops_of(double data, const PlanRequest& request, const Cut& cut) {
    const ProtocolShape& protocol = request.shape->protocols[request.protocol];
    const double step = step_of(request), most = most_chunk(request, cut);
    std::vector<Loop> loops;
    for (double left = data; left > 0; left -= most)
        loops.push_back(
            loop_of(std::min(most, left), protocol, cut.slices_a_chunk, step / request.shape->slices_least_part));
    return loops;
}

std::uint32_t chunks_in_flight(const PlanRequest& request, const Cut& cut) {
    return request.shape->buffer_steps / cut.steps_a_chunk;
}

// Where paths cross from one group of NICs to the next, neighbours change places on odd domains, so that every hop
// between domains stays on one rail.
const RingPath& path_in(const RingSearch& search, std::uint32_t channel, std::uint32_t part) {
    const auto path = static_cast<std::uint32_t>(channel % search.paths.size());
    return search.paths[search.crosses_nics && part % 2 == 1 ? path ^ 1u : path];
}

std::uint32_t position_of(const Group& group, const Group::Part& part, std::uint32_t gpu) {
    const auto found =
        std::lower_bound(part.positions.begin(), part.positions.end(), gpu,
                         [&](std::uint32_t at, std::uint32_t wanted) { return group.places[at].gpu < wanted; });
    assert(found != part.positions.end());
    return *found;
}

// A hair is taken off before rounding up: two halves are two units, however they were computed.
std::uint32_t Loop::units() const { return static_cast<std::uint32_t>(std::max(1.0, std::ceil(chunk / unit - 1e-9))); }

double Loop::unit_bytes(std::uint32_t unit_index) const {
    return unit_index + 1 < units() ? unit : chunk - unit * (units() - 1);
}

std::uint32_t Pattern::add(Transfer transfer, std::vector<std::uint32_t> needed, std::vector<std::uint32_t> blocks) {
    transfers.push_back(transfer);
    needs.append(needed);
    carries.append(blocks);
    return static_cast<std::uint32_t>(transfers.size() - 1);
}

Pattern turned(const TurningSteps& steps, std::uint32_t ranks) {
    Pattern all;
    for (std::uint32_t t = 0; t < steps.transfers.size(); ++t)
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            Transfer transfer = steps.transfers[t];
            transfer.hop += rank * steps.hops;
            std::vector<std::uint32_t> needs, blocks;
            for (const auto& [before, ahead] : steps.needs.of(t))
                needs.push_back(before * ranks + (rank + ahead) % ranks);
            std::sort(needs.begin(), needs.end());
            needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
            for (const std::uint32_t ahead : steps.carries.of(t)) blocks.push_back((rank + ahead) % ranks);
            all.add(transfer, std::move(needs), std::move(blocks));
        }
    return all;
}

}  // namespace fmsim
