// An operation on a group -> a schedule: channels, who sends which chunk to whom, in which order.
//
//   const Group all = group_of(linear_placement(net, 0, 0));
//   const Schedule ring = plan(Collective::all_reduce, "Ring", net, all, {.size = size, .channels = 16, ...});
//
// Follows NCCL: rings, double binary trees and in-switch reductions (NVLS) inside domains and across them; a message is
// split over channels, a channel's part into loops of one chunk, a chunk into units. Not here: time, rates, links.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
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
Group group_of(const Placement& placement);

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
    std::uint32_t steps_a_chunk{};  // of a ring that reduces or gathers; of all others 1
    std::uint32_t slices_a_chunk{};
    Bytes alignment;  // chunks are rounded down to it
    Bytes unit;       // data that move on to the next rank at once; 0: a whole slice
};
struct NcclShape {
    PerProtocol<ProtocolShape> protocols;
    PerProtocol<SimTime> launch;  // of a kernel, before its first byte moves, beyond what the GPU needs
    SimTime torch_call{};         // of PyTorch, for each call that it makes: events and a stream of its own
    SimTime transfer_launch;      // of one of sends and receives
    SimTime transfer_host;        // of the host, for each peer that a rank sends to and receives from
    std::uint32_t buffer_steps{};
    Bytes least_traffic;         // an operation counts as at least this when it is split over channels
    std::uint32_t ll_traffic{};  // LL counts this many times its bytes there
    Bytes split_alignment;
    std::uint32_t slices_least_part{};  // a slice is at least a step / this
    // Of the channel rate that a tree kernel's two groups of threads reach, which reduce and broadcast.
    PerProtocol<double> tree_up_share, tree_down_share;
    std::uint32_t most_nvls_heads{};    // ranks of a domain that reduce a part each in the NVSwitch
};

// How bytes get from one rank of the group to another.
enum class Way : std::uint8_t {
    local,      // within a GPU: into or out of a buffer
    nvlink,     // between two GPUs of a domain
    network,    // between two domains, over their NICs
    gather,     // the NVSwitch adds up what all ranks of a part hold, for the one at the hop's end
    multicast,  // the NVSwitch writes what the one at the hop's start holds to all ranks of a part
};
struct Hop {
    std::uint32_t from{};  // position in the group
    std::uint32_t to{};
    Way way = Way::nvlink;
    std::uint32_t leave_group{};  // network: NICs beside the sender
    std::uint32_t enter_group{};  // and beside the receiver
    std::uint32_t part{};         // gather, multicast: of the group
    double sm_share = 1;          // of the channel's SM that serves it
    std::uint32_t fan = 1;        // tree neighbours that its threads serve at once

    bool leaves_domain() const { return way == Way::network; }
};

// One pass over a channel's data.
struct Loop {
    double chunk{};        // bytes; equal for all ranks (docs/models/collectives.md, remainders)
    double unit{};         // bytes that are passed on at once; the last unit of a chunk may be shorter
    bool whole_message{};  // a NIC sends the chunk as one message, not each unit as its own

    std::uint32_t units() const;
    double unit_bytes(std::uint32_t unit_index) const;
};

// What happens in a loop: each hop carries chunks over, in an order.
//
// A ring: hop h is followed by hop h + 1, the last by the first, and each carries one chunk a step; step s passes on
// what the hop before has carried in step s - 1.
struct RingSteps {
    std::uint32_t steps{};
};
// Anything else: transfers, each after all that it needs.
struct Transfer {
    std::uint32_t hop{};
    double chunks = 1;  // its bytes in chunks of the loop
    bool adds{};        // the receiver adds to what it has of the blocks; else it replaces
};
struct Pattern {
    std::vector<Transfer> transfers;
    Rows<std::uint32_t> needs;    // of a transfer: the earlier ones whose data it passes on
    Rows<std::uint32_t> carries;  // of a transfer: blocks, numbered through the loop's data

    std::uint32_t add(Transfer transfer, std::vector<std::uint32_t> needed, std::vector<std::uint32_t> blocks);
};
// A pattern that all ranks do alike, each counted from itself. Hop h of rank r is hop r * hops + h of the channel.
struct TurningSteps {
    struct Need {
        std::uint32_t transfer{};  // an earlier one
        std::uint32_t ahead{};     // of the rank so far ahead of this one
        auto operator<=>(const Need&) const = default;
    };
    std::uint32_t hops{};             // of a rank
    std::vector<Transfer> transfers;  // of a rank, over its own hops; all ranks make one before any makes the next
    Rows<Need> needs;                 // of a transfer
    Rows<std::uint32_t> carries;      // of a transfer: blocks, counted from the sender's own
};
// The same drawn rank by rank over so many of them. Fewer than the group has stand for all where all are alike: who is
// ahead is counted round them.
Pattern turned(const TurningSteps& steps, std::uint32_t ranks);
using Steps = std::variant<RingSteps, std::shared_ptr<const Pattern>, std::shared_ptr<const TurningSteps>>;

struct Channel {
    std::vector<Hop> hops;
    Steps steps;
    Bytes bytes;  // its part of the size, as NCCL splits it; of a gather or scatter for each rank
    std::vector<Loop> loops;
};

// Sends and receives that run together: NCCL's all-to-all is one, and so is a lone send.
struct Message {
    std::uint32_t from{};  // position in the group
    std::uint32_t to{};
    double bytes{};
};
// How one message goes: its parts over as many channels, each in chunks that a NIC sends one by one.
struct TransferShape {
    Protocol protocol = Protocol::simple;
    double wire_per_data = 1;
    std::uint32_t parts = 1;
    Bytes chunk;  // data
};
struct Exchange {
    double each{};                  // bytes of every rank to every other; 0: as `messages` say
    std::vector<Message> messages;  // nobody sends to itself here
    bool pxn = true;                // a message leaves by the NIC of the receiver's number
    std::uint32_t channels{};       // of a rank's kernel
    SimTime host;                   // that a rank's host needs for all its messages, while the GPUs work
    double kept{};                  // bytes that a rank copies to itself
    TransferShape inside;           // a domain
    TransferShape between;          // two of them
};

// What a kernel of its own puts into other GPUs' memory, all at once: one leg over the network, one over NVLink. Each
// leg ends with its slowest link or rank, and a while after.
struct PutLeg {
    bool leaves_domain{};
    std::vector<Message> messages;  // bytes; those over the network leave and enter by the NICs beside both GPUs
    double link_share = 1;          // of a link's rate that such puts reach
    double rank_seconds{};          // that the busiest rank needs for them in any case: to copy, to post
    SimTime delay;                  // before the first byte
    SimTime tail;                   // after the last
};
struct Puts {
    std::uint32_t sms{};  // that the kernel takes of each GPU
    std::vector<PutLeg> legs;
    double busiest_gpu{};     // bytes that some GPU must send or receive over NVLink, and over its NICs
    double busiest_domain{};  // the same of a domain, over all its NICs
};

struct Schedule {
    Collective collective{};
    std::string_view algorithm;  // as NCCL names it: "Ring"
    Protocol protocol{};
    Bytes size;
    std::uint32_t chunks_in_flight{};  // on one hop, before the receiver has passed the first one on
    double wire_per_data{};
    bool one_lane_a_rank{};  // a rank's hops in a channel carry one transfer at a time
    SimTime launch;
    std::vector<Channel> channels;  // none when there is nothing to move
    std::optional<Exchange> exchange;
    std::optional<Puts> puts;
    bool moves() const { return !channels.empty() || exchange || puts; }
};

struct PlanRequest {
    std::uint32_t ranks{};  // 0: the group's. More: the group is some alike parts of one of so many (Ring, PAT)
    Bytes size;
    Protocol protocol{};
    std::uint32_t channels{};  // to split over
    Bytes chunk;               // data; 0: a buffer step, or a ring's several
    std::uint32_t root{};      // position: broadcast, reduce
    TransferShape inside;      // exchanges
    TransferShape between;
    bool pxn = true;
    SimTime launch;  // of the group's slowest GPU
    const NcclShape* shape{};
    Bytes simple_buffer;  // NCCL_BUFFSIZE of the platform
};

// A schedule that somebody wrote: MSCCL's XML (formats.hpp reads it). Its transfers are between positions of a group.
struct CustomAlgorithm {
    std::string name;
    Collective does{};
    Protocol protocol{};
    std::uint32_t ranks{};
    std::uint32_t blocks{};    // that the size is cut into
    std::uint32_t channels{};  // as the file counts them
    struct Connection {
        std::uint32_t from{};
        std::uint32_t to{};
    };
    std::vector<Connection> hops;  // of the pattern
    std::shared_ptr<const Pattern> pattern;
};
// One channel with all connections, since transfers on one may wait for those on another. Throws InputError for a group
// of another size, another collective, or two ranks without NVLink in one domain.
Schedule plan_custom(const CustomAlgorithm& custom, Collective collective, const Topology& topology, const Group& group,
                     PlanRequest request);

// Which chunk the sender of a hop sends in a step of a ring, and whether the receiver adds or replaces.
struct RingSend {
    std::uint32_t chunk{};
    bool reduces{};
};
RingSend ring_send(Collective collective, std::uint32_t ranks, std::uint32_t hop, std::uint32_t step);

// A node of the trees over the domains of a group; -1 where there is none.
struct TreeNode {
    std::int64_t parent = -1;
    std::array<std::int64_t, 2> children{-1, -1};
};
// Tree 0 or 1 of a double binary tree on `count` nodes. Source: NCCL 2.30, graph/trees.cc.
TreeNode tree_node(std::uint32_t tree, std::uint32_t count, std::uint32_t node);

// Bytes that each channel gets; as many entries as channels that get any, at most `channels`.
std::vector<Bytes> split_over_channels(Bytes size, double traffic_per_byte, std::uint32_t channels, bool ll,
                                       const NcclShape& shape);

// Bytes that must go in or out for each byte of the size, whatever the order: the closed form divides them by what the
// machine carries.
struct LeastBytes {
    double gpu{};     // of the busiest GPU
    double domain{};  // of the busiest domain, over its NICs
};
// Of any schedule. Where switches reduce, a GPU sends its data once.
LeastBytes least_bytes(Collective collective, const Group& group, bool switches_reduce);

// One row an algorithm of a collective: help, choice and tests walk this.
struct Algorithm {
    std::string_view name;
    Collective does{};
    Schedule (*plan)(const Topology&, const Group&, const PlanRequest&);
    std::string (*refuses)(const Topology&, const Group&, const NcclShape&);  // why it cannot run on a group; empty when it can
    LeastBytes (*least)(const Group&);
};
const std::vector<Algorithm>& algorithms();
const Algorithm* find_algorithm(std::string_view name, Collective collective);  // null: there is none

}  // namespace fmsim
