// An operation on a group -> algorithm, protocol, channels, as NCCL picks them.
//
// NCCL estimates a time for each pair of algorithm and protocol and takes the least. These estimates stay in here: they
// are NCCL's beliefs (with EFA two to three times too long for small messages) and never a prediction.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "fmsim/base.hpp"
#include "fmsim/collective.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

// What NCCL's tuning model believes, by generation of GPU (volta, ampere, hopper, blackwell) and by domains (1, 2, 3
// or more). In topologies/nccl/. Source: NCCL 2.30 graph/tuning.cc.
inline constexpr std::size_t kGenerations = 4;
inline constexpr std::size_t kDomainColumns = 3;
using ByDomains = std::array<double, kDomainColumns>;

struct NcclTuning {
    PerProtocol<SimTime> ring_base;
    PerProtocol<SimTime> ring_nvlink_hop;
    PerProtocol<SimTime> ring_net_hop;
    std::array<ByDomains, kGenerations> ll_most_gbps{};          // GB/s of all channels; by CPU where domains > 1
    std::array<ByDomains, kGenerations> ll128_path_most_gbps{};  // GB/s of a search channel
    double ll_factor{};
    double ll128_factor{};
    double plateau{};              // by which Simple's latency grows from a certain size on
    std::int64_t plateau_bytes{};  // of a channel and rank
    SimTime net_overhead_amd;
    SimTime net_overhead_other;
    double simple_overheads{};
    PerProtocol<std::uint32_t> most_threads;
    PerProtocol<std::int64_t> bytes_a_thread;  // LL: times the ranks
};

struct Nccl {
    std::string version;
    NcclShape shape;
    NcclTuning tuning;
};

// What the user fixed, with NCCL's own words: NCCL_ALGO, NCCL_PROTO, NCCL_MAX_NCHANNELS.
struct Pins {
    std::optional<std::string> algorithm;
    std::optional<Protocol> protocol;
    std::optional<std::uint32_t> most_channels;
};

struct Choice {
    const Algorithm* algorithm{};
    Protocol protocol{};
    std::uint32_t channels{};  // to split over
    Bytes chunk;               // data; 0: a buffer step, or a ring's several
    std::uint32_t parts = 1;   // of an exchange: channels that share one message
    bool pxn = true;
};

// Throws InputError on a pinned algorithm that does not exist.
Choice choose(Collective collective, Bytes size, const Topology& topology, const Group& group, const Nccl& nccl,
              const Pins& pins);

}  // namespace fmsim
