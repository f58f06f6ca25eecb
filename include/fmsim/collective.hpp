// An operation on a group -> a schedule: channels, who sends which chunk to whom, in which step.
//
//   const Group all = group_of(net, linear_placement(net, 0, 0));
//   const Schedule ring = plan_ring_all_reduce(net, all, {.size = size, .protocol = Protocol::simple, .channels = 16, ...});
//
// Follows NCCL: channels are rings found inside a domain and joined across domains; a message is split over channels,
// a channel's part into loops of one chunk a rank, a chunk into slices. Not here: time, rates, links.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

// Ranks in order, and where each sits. Positions are what a schedule counts with.
struct Group {
    std::vector<GpuPlace> places;  // of each position
    struct Part {
        DomainId domain;
        std::vector<std::uint32_t> positions;  // of the ranks there, by GPU
    };
    std::vector<Part> parts;  // the domains its ranks live in, as they first appear
};
// Throws InputError when a GPU is named twice.
Group group_of(const Topology& topology, const Placement& placement);

// The rings that NCCL would use on a group: one search for each of its parts, with the same number of paths.
struct GroupRings {
    std::vector<RingSearch> of_part;  // GPUs of a path are those of the part
    std::uint32_t paths() const { return static_cast<std::uint32_t>(of_part.front().paths.size()); }
};
GroupRings rings_of(const Topology& topology, const Group& group);

// How NCCL cuts data for a protocol. The values are in topologies/nccl/.
struct ProtocolShape {
    double wire_per_data{};         // bytes on a link for each byte of data: flags included
    Bytes buffer;                   // of a connection, flags included; cut into NcclShape::buffer_steps
    std::uint32_t steps_a_chunk{};  // of a ring
    std::uint32_t slices_a_chunk{};
    Bytes alignment;  // chunks are rounded down to it
    Bytes unit;       // data that move on to the next rank at once; 0: a whole slice
};
struct NcclShape {
    PerProtocol<ProtocolShape> protocols;
    PerProtocol<SimTime> launch;  // of a ring kernel, before its first byte moves
    std::uint32_t buffer_steps{};
    Bytes least_traffic;         // an operation counts as at least this when it is split over channels
    std::uint32_t ll_traffic{};  // LL counts this many times its bytes there
    Bytes split_alignment;
    std::uint32_t slices_least_part{};  // a slice is at least a step / this
};

// From a position of the group to another. Inside a domain it goes over NVLink, between two over NICs.
struct Hop {
    std::uint32_t from{};
    std::uint32_t to{};
    bool leaves_domain{};
    std::uint32_t leave_group{};  // NICs beside the sender, when it leaves
    std::uint32_t enter_group{};  // NICs beside the receiver
};

// One pass over a channel's data: a chunk a rank goes round.
struct Loop {
    double chunk{};        // bytes; equal for all ranks (docs/models/ring.md, remainders)
    double unit{};         // bytes that are passed on at once; the last unit of a chunk may be shorter
    bool whole_message{};  // a NIC sends the chunk as one message, not each unit as its own

    std::uint32_t units() const;
    double unit_bytes(std::uint32_t unit_index) const;
};

// Hop h of a ring is followed by hop h + 1; the last by the first.
struct Channel {
    std::vector<Hop> hops;
    Bytes bytes;
    std::vector<Loop> loops;
};

struct Schedule {
    Collective collective{};
    std::string_view algorithm;  // as NCCL names it: "Ring"
    Protocol protocol{};
    Bytes size;
    std::uint32_t steps{};             // sends of a rank in a loop
    std::uint32_t chunks_in_flight{};  // on one hop, before the receiver has passed the first one on
    double wire_per_data{};
    SimTime launch;
    std::vector<Channel> channels;  // none when there is nothing to move
};

// Which chunk the sender of a hop sends in a step of a ring all-reduce, and whether the receiver adds or replaces.
struct RingSend {
    std::uint32_t chunk{};
    bool reduces{};
};
RingSend ring_all_reduce_send(std::uint32_t ranks, std::uint32_t hop, std::uint32_t step);

struct PlanRequest {
    Bytes size;
    Protocol protocol{};
    std::uint32_t channels{};  // to split over
    const NcclShape* shape{};
    Bytes simple_buffer;  // NCCL_BUFFSIZE of the platform
};

// Channels of a ring that NCCL builds on this group: its search result, doubled.
std::uint32_t ring_channels(const Topology& topology, const Group& group);

Schedule plan_ring_all_reduce(const Topology& topology, const Group& group, const PlanRequest& request);

// Bytes that each channel gets; as many entries as channels that get any, at most `channels`.
std::vector<Bytes> split_over_channels(Bytes size, double traffic_per_byte, std::uint32_t channels, bool ll,
                                       const NcclShape& shape);

// One algorithm, one file, one row: help, choice and tests walk this.
struct Algorithm {
    std::string_view name;
    Collective does{};
    Schedule (*plan)(const Topology&, const Group&, const PlanRequest&);
    // Bytes over the busiest edge of the schedule for each byte of the buffer; the plain closed form divides by it.
    double (*edge_bytes)(std::uint32_t ranks);
};
const std::vector<Algorithm>& algorithms();

}  // namespace fmsim
