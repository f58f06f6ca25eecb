// An operation on a group -> algorithm, protocol, channels, threads and chunk, as NCCL and the AWS plugin pick them.
//
//   const Communicator all = communicator_of(net, group, nccl, pins);
//   const Pick pick = fmsim::pick(all, Collective::all_gather, Bytes{1 << 30}, nccl, pins);
//
// NCCL estimates a time for each pair of algorithm and protocol and takes the least; a tuner plugin may overrule it.
// The estimates are NCCL's beliefs (with EFA two to three times too long for small messages): material to explain a
// choice, never a prediction. CollNet, which no AWS machine has, is left out.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/collective.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

// The algorithms, as NCCL names and orders them; of two that are equally fast it takes the earlier.
enum class AlgorithmKind : std::uint8_t { tree, ring, nvls, nvls_tree, pat };
inline constexpr std::array kAlgorithmKinds{AlgorithmKind::tree, AlgorithmKind::ring, AlgorithmKind::nvls,
                                            AlgorithmKind::nvls_tree, AlgorithmKind::pat};
std::string_view name(AlgorithmKind algorithm);  // "Tree", "Ring", "NVLS", "NVLSTree", "PAT"

template <class T>
struct PerAlgorithm {
    std::array<T, kAlgorithmKinds.size()> values{};
    T& operator[](AlgorithmKind a) { return values[static_cast<std::size_t>(a)]; }
    const T& operator[](AlgorithmKind a) const { return values[static_cast<std::size_t>(a)]; }
};

// ---- Facts of a version of NCCL and of the AWS plugin. In topologies/nccl/, with sources. ----

// By generation of GPU (volta, ampere, hopper, blackwell) and by domains (1, 2, 3 or more).
inline constexpr std::size_t kGenerations = 4;
inline constexpr std::size_t kDomainColumns = 3;
using ByDomains = std::array<double, kDomainColumns>;
template <class T>
using ByGeneration = std::array<T, kGenerations>;

// What the tuning model believes: latencies in us, bandwidths in GB/s. Source: NCCL graph/tuning.cc.
struct NcclTuning {
    PerAlgorithm<PerProtocol<double>> base_us, nvlink_hop_us, pcie_hop_us, net_hop_us;
    ByGeneration<ByDomains> ll_most_gbps{};  // of all channels; by CPU where domains > 1
    ByGeneration<ByDomains> ring_ll128_most_gbps{}, tree_ll128_most_gbps{}, tree_most_gbps{}, nvls_tree_most_gbps{};
    ByGeneration<double> nvls_efficiency{};
    double ring_ll_factor{}, ring_ll128_factor{};
    double tree_factor{}, tree_ll_divisor{}, tree_ll128_alone_factor{}, tree_ll128_factor{}, tree_pattern_factor{};
    double pat_factor{}, pat_hop_divisor{}, pat_rank_us{};
    double plateau{}, plateau_before_ampere{};  // by which ring Simple's latency grows from a size on
    std::int64_t plateau_bytes{};               // of a channel and rank
    double net_overhead_amd_us{}, net_overhead_other_us{};
    double simple_overheads{};
    PerProtocol<std::vector<double>> tree_correction;  // by the binary logarithm of size / correction_bytes
    std::int64_t correction_bytes{};
    std::uint32_t tree_corrections{};  // how many of the table the tree takes
    std::uint32_t operations_a_batch{};
};

// How many threads a block has, and from which size on all channels are worth it. Source: NCCL enqueue.cc.
struct NcclThreads {
    PerProtocol<std::uint32_t> most;           // of rings and trees
    std::uint32_t slow_ring{};                 // of ring Simple where its channels together carry little
    double slow_ring_gbps{};                   // at most this
    PerProtocol<std::int64_t> bytes_a_thread;  // ring LL: times the ranks
    std::uint32_t ring_extra{}, tree_extra{};  // for Simple
    std::uint32_t least{}, nvls{}, tree{}, pat{};
};

// NCCL's search, as far as rules stand in for it. Source: NCCL graph/search.cc, graph/topo.h.
struct NcclSearch {
    ByGeneration<std::vector<double>> intra_gbps, inter_gbps;  // speeds it tries, from high to low
    ByGeneration<double> nvlink_share{};                       // of the published rate that it counts with
    ByGeneration<double> nvlink_link_gbps{};                   // that it counts for one link
    double pcie_share{};
    std::uint32_t most_ring_channels{}, most_heads{};
    double twice_from_gbps{};  // from this speed on channels are doubled at half the speed
    double hopper_few_gbps{};  // but from Hopper on not below this one with more channels than:
    std::uint32_t hopper_few_channels{};
};

// NVLS channels and chunks between domains from Blackwell on; the first row that fits. 0: any.
struct NvlsRule {
    std::uint32_t domains{}, least_ranks{}, most_ranks{};  // ranks of a domain
    double least_nic_gbps{}, below_nic_gbps{};
    bool near_nic{};  // the path to it has switches at most
    std::uint32_t channels{};
    Bytes chunk, tree_chunk;  // 0: the default
};
struct NcclChannels {
    std::uint32_t most{};
    double again_above_gbps{};    // from Hopper on, rings faster than this are doubled once more between domains
    std::uint32_t again_below{};  // where they are fewer
    std::uint32_t nvls_hopper{}, nvls_blackwell{};
    std::vector<NvlsRule> nvls_blackwell_between;
    Bytes nvls_chunk, nvls_tree_chunk_many;  // the second from that many domains on
    std::uint32_t nvls_tree_many{};
};

// Chunks are halved while a channel has too little for them. Source: NCCL enqueue.cc.
struct ChunkStep {
    double bytes_a_chunk{};  // below so many chunks (of all heads) on the channel
    std::int64_t above{};    // a chunk larger than this
};
struct NcclChunks {
    double tree_ranks_weight{};  // of tree LL128's depth
    std::vector<ChunkStep> tree_ll128, nvls, nvls_tree;
    std::int64_t pat_floor{};
    std::int64_t pat_gather{}, pat_scatter{};  // chunks a channel should have
};

struct NcclTransfers {
    Bytes net_chunk, nvlink_chunk;
    std::uint32_t arm_blackwell_factor{};                    // of the chunk over the network
    std::int64_t part_divisor_many{}, part_divisor_alone{};  // least part = chunk / this
    std::int64_t part_factor_alone{};                        // most = chunk times this; several domains: the chunk
    Bytes part_alignment;
    Bytes ll_a_channel;            // LL up to this
    std::int64_t small_chunks{};   // below so many network chunks it is a half, below one a quarter
    std::int64_t mantissa_bits{};  // of the number the chunk is kept as
    std::uint32_t schedule_group{}, peers_a_batch{};
    double channel_net_gbps{};
    std::uint32_t old_channels_a_peer{};  // over the network before NCCL 2.29: so many,
    std::uint32_t old_peers_a_channel{};  // halved while their product with the ranks is above this times p2p channels
    std::uint32_t channels_a_link{};
};

// The AWS plugin's regions: polygons over bytes and ranks, in which it overrules NCCL. Source: aws-ofi-nccl.
struct Region {
    AlgorithmKind algorithm{};
    Protocol protocol{};
    std::vector<std::array<double, 2>> corners;  // bytes, ranks
};
struct RegionTable {
    std::string machine;
    std::uint32_t ranks_a_domain{};
    Collective collective{};
    std::vector<Region> regions;
};
struct AwsTuner {
    std::string version;
    std::vector<std::pair<std::string, std::string>> machines;  // instance type, its name in the tables
    std::vector<RegionTable> tables;
    std::uint32_t least_domains{};
    double most_bytes{}, most_ranks{};  // the far corner that rays go to
    double zero_bytes{}, on_edge{};     // in place of no bytes; the distance that counts as on an edge
    // Of tree LL128 of one machine, the count of channels with the largest chunk.
    struct TreeChannels {
        std::string machine;
        std::uint32_t ranks_a_domain{};
        Bytes least, most;
        std::vector<std::uint32_t> counts;
    } tree_channels;
    // And of PAT, by bytes of a domain.
    struct PatChannels {
        std::string machine;
        std::uint32_t ranks_a_domain{};
        Bytes most;
        std::vector<std::pair<Bytes, std::uint32_t>> up_to;
    } pat_channels;
    // Chunks of one machine with one rank a domain.
    struct Chunks {
        std::string machine;
        std::uint32_t ranks_a_domain{};
        std::int64_t tree{}, tree_floor{};
        double tree_half_depth{};
        std::int64_t pat_many{}, pat_few{}, many_domains{}, pat_first_many{}, pat_first_few{}, pat_second{},
            pat_third{};
        std::int64_t pat_second_floor{}, pat_third_floor{};
    } chunks;
};

struct Nccl {
    std::string version;
    NcclShape shape;
    NcclTuning tuning;
    NcclThreads threads;
    NcclSearch search;
    NcclChannels channels;
    NcclChunks chunks;
    NcclTransfers transfers;
    AwsTuner aws;
};

// ---- What NCCL knows of a communicator when it chooses. ----

struct Communicator {
    std::uint32_t domains{};
    std::uint32_t ranks{};
    std::uint32_t compute_capability{};  // the lowest of its GPUs
    CpuVendor cpu{};
    bool mixed_cpus{};  // of several vendors; counts as AMD where a vendor matters
    GraphSearch ring, tree;
    std::optional<GraphSearch> nvls;  // none: no NVLink switch that reduces, or switched off
    std::uint32_t channels{};         // for collectives: those of the ring search, doubled
    std::uint32_t nvls_channels{};
    std::uint32_t nvls_heads{};
    std::uint32_t p2p_channels{};
    std::uint32_t p2p_channels_per_peer{};
    PerProtocol<Bytes> fifo;  // of a connection
    Bytes nvls_chunk;
    Bytes nvls_tree_chunk;         // at most
    Bytes p2p_chunk;               // of send/recv; between domains where there are several
    bool transfers_before_2_29{};  // as before NCCL 2.29, see Pins
    std::string aws_tuner;         // the machine in the region tuner's words: "p5en"; empty: it has no table
    std::uint32_t ranks_a_domain() const { return ranks / domains; }
};

// ---- What the user fixed. ----

// NCCL_ALGO and NCCL_PROTO: what each collective may take. All true: whatever NCCL likes.
struct Allowed {
    struct Row {
        PerAlgorithm<bool> algorithms{{true, true, true, true, true}};
        PerProtocol<bool> protocols{{true, true, true}};
    };
    std::array<Row, kCollectives.size()> rows;
    Row& operator[](Collective c) { return rows[static_cast<std::size_t>(c)]; }
    const Row& operator[](Collective c) const { return rows[static_cast<std::size_t>(c)]; }
};

// A line of NCCL_TUNER_CONFIG_FILE, as NCCL's example plugin reads it.
struct TunerRule {
    Collective collective{};
    Bytes least, most;  // both inclusive
    AlgorithmKind algorithm{};
    Protocol protocol{};
    std::optional<std::uint32_t> channels;  // none: -1
    std::optional<std::uint32_t> domains, ranks, operations, registered;
};

// Those on channels, buffers and NVLS shape the communicator; the others the pick.
struct Pins {
    std::optional<std::string> algorithm;  // one, as NCCL prints it
    std::optional<Protocol> protocol;
    std::optional<std::uint32_t> most_channels;          // NCCL_MAX_NCHANNELS
    std::optional<std::uint32_t> least_channels;         // NCCL_MIN_NCHANNELS
    Allowed allowed{};                                   // NCCL_ALGO, NCCL_PROTO
    bool nvls = true;                                    // NCCL_NVLS_ENABLE=0: false
    std::optional<bool> pat;                             // NCCL_PAT_ENABLE=0: false, 1: true, 2: none
    std::optional<Bytes> simple_buffer;                  // NCCL_BUFFSIZE
    std::optional<Bytes> p2p_net_chunk;                  // NCCL_P2P_NET_CHUNKSIZE
    std::optional<std::uint32_t> channels_per_net_peer;  // NCCL_NCHANNELS_PER_NET_PEER
    std::optional<std::vector<TunerRule>> tuner_rules;   // NCCL_TUNER_CONFIG_FILE: then the AWS tuner is not loaded
    bool aws_tuner = true;                               // false: NCCL alone
    bool pxn = true;                                     // NCCL_PXN_DISABLE=1: false
    // Algorithms from files, by the word that `algorithm` has for each.
    std::map<std::string, std::shared_ptr<const CustomAlgorithm>, std::less<>> custom{};
    // Before NCCL 2.29: a transfer inside a domain is LL up to the limit of all p2p channels, over as many as it may
    // have, not up to the limit of those that it would take; and a peer over the network has channels by its NICs and
    // the number of ranks, not by what a NIC carries.
    bool transfers_before_2_29 = false;
};

// What communicator of NCCL a group is: its graphs as published or by NCCL's rules, its channels and buffers.
// The NVLink domain is what NCCL calls a node.
Communicator communicator_of(const Topology& topology, const Group& group, const Nccl& nccl, const Pins& pins = {});

// ---- The choice among algorithms and protocols. ----

// All but all_to_all, send_recv and barrier, for which NCCL has nothing to choose.
bool has_algorithms(Collective collective);

struct Candidate {
    AlgorithmKind algorithm{};
    Protocol protocol{};
    bool exists{};  // NCCL has such a pair for the collective
    double latency_us{};
    double bandwidth_gbps{};  // of the collective's bytes; 0 where NCCL has no figures
    double believed_us{};
    std::string refused;  // why it cannot be taken; empty: it can
};

// Each pair of algorithm and protocol, in NCCL's order; refused ones too. `operations` in one group, tuned together.
std::vector<Candidate> estimates(const Communicator& communicator, Collective collective, Bytes size, const Nccl& nccl,
                                 const Pins& pins = {}, std::uint32_t operations = 1);

enum class PickedBy : std::uint8_t { nccl, aws_tuner, tuner_rules };
std::string_view name(PickedBy by);  // "NCCL", "AWS tuner", "tuner file"

struct Pick {
    AlgorithmKind algorithm{};
    Protocol protocol{};
    std::uint32_t channels{};  // to split over
    std::uint32_t threads{};   // of a block
    double believed_us{};      // by NCCL, whoever picked
    PickedBy by{};
    std::uint32_t asked_channels{};  // by the tuner; 0: it left them to NCCL
    bool aws_chunks{};               // the AWS plugin is asked for chunks too
};
// Throws Infeasible where nothing is allowed, as NCCL fails then, and for collectives without algorithms.
Pick pick(const Communicator& communicator, Collective collective, Bytes size, const Nccl& nccl, const Pins& pins = {});

// What the region tuner says: nothing where it leaves the choice to NCCL.
struct RegionPick {
    AlgorithmKind algorithm{};
    Protocol protocol{};
    std::uint32_t channels{};  // 0: as NCCL likes
};
std::optional<RegionPick> aws_region(const Communicator& communicator, Collective collective, Bytes size,
                                     const Nccl& nccl, const std::vector<Candidate>& candidates);

// Bytes that one rank's data of a channel are cut into. `on_channel`: of the operation's bytes those on it, for
// all_gather and reduce_scatter those of all ranks.
Bytes chunk_of(const Communicator& communicator, Collective collective, const Pick& pick, Bytes on_channel,
               const Nccl& nccl);
// Bytes of each channel, as split_over_channels gives them; for all_gather and reduce_scatter of one rank's part.
std::vector<Bytes> split_of(const Communicator& communicator, Collective collective, const Pick& pick, Bytes size,
                            const Nccl& nccl);

// Why a choice was made.
struct ChoiceExplained {
    std::vector<Candidate> candidates;
    Pick by_nccl;  // without a tuner
    Pick taken;
    Bytes chunk;  // of the first channel
};
ChoiceExplained explain_choice(const Communicator& communicator, Collective collective, Bytes size, const Nccl& nccl,
                               const Pins& pins = {});

// ---- Send and receive, of which all-to-all is made. ----

// One transfer: its parts go over as many channels, in chunks.
struct TransferPlan {
    std::uint32_t channels{};
    Protocol protocol{};
    Bytes chunk;
    Bytes part;  // the last may be shorter
};
TransferPlan plan_transfer(const Communicator& communicator, Bytes size, bool between_domains, const Nccl& nccl);

// The order in which a rank deals with its peers. Part i of a transfer takes channel (base + i) mod p2p_channels.
struct TransferRound {
    std::uint32_t send_to{};
    std::uint32_t receive_from{};
    std::uint32_t base_channel{};
    bool operator==(const TransferRound&) const = default;
};
std::vector<TransferRound> transfer_rounds(const Communicator& communicator, std::uint32_t rank, const Nccl& nccl);

// ---- A call's choice, as the schedules need it. ----

struct Choice {
    const Algorithm* algorithm{};
    const CustomAlgorithm* custom{};  // instead of it
    Protocol protocol{};
    std::uint32_t channels{};  // to split over
    Bytes chunk;               // data
    TransferShape inside;      // of exchanges
    TransferShape between;
    bool pxn = true;
};

// Throws InputError on a pinned algorithm that does not exist or cannot run on the group, and Infeasible where NCCL
// would fail. A barrier is an all-reduce of one element.
Choice choose(Collective collective, Bytes size, const Topology& topology, const Group& group, const Nccl& nccl,
              const Pins& pins);

// The bytes a call moves: its size, or a barrier's one element.
Bytes moved(Collective collective, Bytes size);

// The schedule of a choice.
Schedule plan(const Choice& choice, Collective collective, const Topology& topology, const Group& group,
              const PlanRequest& request);

// A choice as a request for a schedule.
PlanRequest request_of(const Choice& choice, Bytes size, std::uint32_t root, const Topology& topology,
                       const Group& group, const Nccl& nccl, const Pins& pins);

}  // namespace fmsim
