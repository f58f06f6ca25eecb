// A cluster description -> devices, links, domains and routes.
//
//   const Topology net = build_topology(cluster);                // p5.48xlarge:2
//   net.links.size();                                            // one entry a direction
//   const Route hop = net.nvlink_route(RankId{0}, RankId{1});    // GPU 0 -> NVSwitch -> GPU 1
//
// Not here: what runs on it, which schedule a collective takes, and time. Latencies and rates are facts of a kind of
// link; lowering turns them into delays and work.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/base.hpp"

namespace fmsim {

// NCCL's wire protocols. LL and LL128 send flags with the data, Simple signals whole slices.
enum class Protocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array kProtocols{Protocol::ll, Protocol::ll128, Protocol::simple};
std::string_view name(Protocol protocol);  // "LL", "LL128", "Simple"

template <class T>
struct PerProtocol {
    std::array<T, kProtocols.size()> values{};
    T& operator[](Protocol p) { return values[static_cast<std::size_t>(p)]; }
    const T& operator[](Protocol p) const { return values[static_cast<std::size_t>(p)]; }
};

// ---- What a catalogue file says. Every value there carries its source. ----

struct Gpu {
    std::string name;
    std::uint32_t compute_capability{};        // 90 for Hopper
    PerProtocol<BytesPerSecond> channel_rate;  // data that the one SM of a channel can receive, reduce and send
};

struct NvLink {
    std::string name;
    BytesPerSecond rate;               // a GPU's, one direction, as published
    double efficiency{};               // share of it that ring kernels reach
    PerProtocol<SimTime> hop_latency;  // from the last store of one GPU to the first use by the next
    SimTime wire_latency;              // of a store alone, such as one that returns a credit
    BytesPerSecond carries() const { return {rate.value * efficiency}; }
};

struct Nic {
    std::string name;
    std::string fabric;                // "EFA"
    BytesPerSecond rate;               // the line, one direction
    BytesPerSecond carries;            // payload that large writes reach
    PerProtocol<SimTime> hop_latency;  // proxy, NIC, fabric and completion of one step between GPUs
    SimTime wire_latency;              // NIC to NIC alone, such as a control message or an acknowledgement takes
    SimTime reported_latency;          // what the plugin tells NCCL's tuner; a knob, no physics
};

struct PcieSwitch {
    std::uint32_t numa{};
    std::vector<std::uint32_t> gpus;
    std::vector<std::uint32_t> nics;
};

// One ring inside a domain as NCCL's search finds it: data enter at the first GPU and leave at the last.
struct RingPath {
    std::vector<std::uint32_t> gpus;
    std::uint32_t enter_group{};  // the group of NICs beside the first GPU
    std::uint32_t leave_group{};  // and beside the last
};
struct RingSearch {
    std::vector<RingPath> paths;  // NCCL's search channels
    bool crosses_nics{};          // crossNic 2: on odd domains the paths of a pair change places
    BytesPerSecond intra;         // what NCCL believes a path carries, for its choice only
    BytesPerSecond inter;
};

enum class CpuVendor : std::uint8_t { amd, intel, arm };

struct InstanceType {
    std::string name;
    Gpu gpu;
    std::uint32_t gpus{};
    NvLink nvlink;
    Nic nic;
    std::uint32_t nics{};
    std::uint32_t rails{};     // NICs of a group, which NCCL sees as one device
    BytesPerSecond pcie_gpu;   // GPU to its PCIe switch, one direction
    BytesPerSecond pcie_nic;   // NIC to its PCIe switch
    BytesPerSecond pcie_host;  // PCIe switch to its NUMA node
    BytesPerSecond numa;       // NUMA node to NUMA node
    std::vector<PcieSwitch> switches;
    CpuVendor cpu{};
    Bytes simple_buffer;  // NCCL_BUFFSIZE as the platform sets it
    RingSearch one_domain;
    RingSearch several_domains;
};

struct Cluster {
    std::string name;  // "p5.48xlarge:2"
    InstanceType instance;
    std::uint32_t count{};
};

// ---- The built graph. ----

using DeviceId = Index<struct DeviceTag>;
using LinkId = Index<struct LinkTag>;

enum class DeviceKind : std::uint8_t { gpu, nvswitch, pcie_switch, nic, numa, fabric };
struct Device {
    DeviceKind kind{};
    DomainId domain;        // of the fabric: 0, without meaning
    std::uint32_t index{};  // among its kind in the domain
};

enum class LinkKind : std::uint8_t { nvlink, pcie, numa, network };
struct Link {  // one direction
    DeviceId from, to;
    LinkKind kind{};
    BytesPerSecond rate;
};

// The links that a transfer takes, each with its share of the bytes; a message striped over four NICs has 1/4 on each.
struct RouteLink {
    LinkId link;
    double share{};
};
using Route = std::vector<RouteLink>;

class Topology {
public:
    Cluster cluster;
    Column<DeviceId, Device> devices;
    Column<LinkId, Link> links;

    std::uint32_t ranks() const { return cluster.count * cluster.instance.gpus; }
    // Ranks fill domains in order.
    DomainId domain_of(RankId rank) const { return {rank.value / cluster.instance.gpus}; }
    std::uint32_t gpu_of(RankId rank) const { return rank.value % cluster.instance.gpus; }

    // Between two GPUs of one domain.
    Route nvlink_route(RankId from, RankId to) const;
    // Between two domains: over all NICs of group `leave` beside the sender to those of group `enter` beside the
    // receiver, in equal shares.
    Route network_route(RankId from, std::uint32_t leave, std::uint32_t enter, RankId to) const;

    std::string name(DeviceId device) const;  // "p5.48xlarge[1]/gpu3"
    std::string name(LinkId link) const;      // "p5.48xlarge[1]/nic7 -> fabric"

private:
    friend Topology build_topology(const Cluster& cluster);
    // Paths inside a domain, as links of domain 0, by source and target device of domain 0.
    std::vector<std::vector<std::vector<LinkId>>> paths_;
    std::uint32_t devices_each_{};  // devices of a domain
    std::uint32_t links_each_{};
};

// Throws InputError where the parts of an instance type do not fit together: a NIC without a switch, a GPU twice.
Topology build_topology(const Cluster& cluster);

// The most that can flow between two sets of devices, by max-flow over the links.
BytesPerSecond cut(const Topology& topology, const std::vector<DeviceId>& from, const std::vector<DeviceId>& to);

// The devices of one kind in one domain; of the fabric, the one there is.
std::vector<DeviceId> devices_of(const Topology& topology, DeviceKind kind, DomainId domain);

// "NVLink", "PCIe", "NUMA", and for the network the fabric's own name.
std::string_view kind_name(const Topology& topology, LinkKind kind);

}  // namespace fmsim
