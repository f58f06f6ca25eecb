// A cluster description -> devices, links, domains, routes and placement.
//
//   const Topology net = build_topology(cluster);                // u-p6e-gb200x72:2
//   net.links.size();                                            // one entry a direction
//   const Route hop = net.nvlink_route({DomainId{0}, 0}, {DomainId{0}, 1});    // GPU 0 -> NVSwitch -> GPU 1
//
// Not here: what runs on it, which schedule a collective takes, and time. Latencies and rates are facts of a kind of
// link; lowering turns them into delays and work.
//
// Over 500 lines, since it is the door of one room: what a catalogue says of machines, what a cluster file says of their
// network, the graph built of both, and where jobs are placed on it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

struct FlopsPerSecond {
    double value{};
    auto operator<=>(const FlopsPerSecond&) const = default;
};

struct Gpu {
    std::string name;
    std::uint32_t compute_capability{};  // 90 for Hopper
    Bytes memory;                        // HBM
    BytesPerSecond memory_rate;          // as published
    std::map<std::string, FlopsPerSecond>
        peak;  // dense, by type: "bf16", "tf32", "fp8", "fp4"; what it has no units for is absent
    PerProtocol<BytesPerSecond> channel_rate;       // data that the one SM of a channel can receive, reduce and send
    SimTime launch;                                 // of a kernel of NCCL's, in operations back to back
    PerProtocol<SimTime> unit_cost;                 // of an SM, to signal and await a unit; no other one overlaps it
    double receive_share{};                         // a receive that sends nothing on, as a share of a send
    std::array<double, 3> tree_fan_cost{1, 1, 1};   // of an SM that serves 1, 2, 3 tree neighbours at once
    PerProtocol<double> transfer_share{{1, 1, 1}};  // of the channel rate, for a send beside a receive
    std::uint32_t sms{};                            // streaming multiprocessors that kernels can use
};

struct NvLink {
    std::string name;
    BytesPerSecond rate;               // a GPU's, one direction, as published
    double efficiency{};               // share of it that ring kernels reach
    PerProtocol<SimTime> hop_latency;  // from the last store of one GPU to the first use by the next
    SimTime wire_latency;              // of a store alone, such as one that returns a credit
    bool multicast{};                  // its switches reduce and multicast (NVLink SHARP)
    double switch_efficiency{};        // share of the rate that such transfers reach
    SimTime switch_latency;            // of one: from a store to the use of the sum, or of the copy
    SimTime switch_chunk_cost;         // of a head, to sum a chunk in the switch; no other chunk of it overlaps
    SimTime switch_block_cost;         // of a rank, to copy one head's block into or out of its buffer
    BytesPerSecond carries() const { return {rate.value * efficiency}; }
};

// How a network spreads packets: over all equal paths, or each flow on one, by a hash.
enum class Spreading : std::uint8_t { spray, hash };

struct Nic {
    std::string name;
    std::string fabric;  // "EFA", "InfiniBand", "RoCE"
    Spreading spreading{};
    BytesPerSecond rate;               // the line, one direction
    BytesPerSecond carries;            // payload that large writes reach
    PerProtocol<SimTime> hop_latency;  // proxy, NIC, fabric and completion of one step between GPUs
    SimTime hop_spread{};              // of a collective's step, more for each doubling of the messages beside it
    SimTime wire_latency;              // NIC to NIC alone, such as a control message or an acknowledgement takes
    SimTime message_cost;              // of the sender's proxy, for each write of an exchange's message
    Bytes stripe{};                    // a longer message is cut over the NICs of a group; 0: it leaves by one
    SimTime reported_latency;          // what NCCL's tuner is told; a knob, no physics
};

struct PcieSwitch {
    std::uint32_t numa{};
    std::vector<std::uint32_t> gpus;
    std::vector<std::uint32_t> nics;
};

// One ring inside a domain as NCCL's search finds it: data enter at the first GPU and leave at the last. GPUs and
// groups are counted through the domain: GPU g of its instance i is i * gpus + g.
struct RingPath {
    std::vector<std::uint32_t> gpus;
    std::uint32_t enter_group{};  // the group of NICs beside the first GPU
    std::uint32_t leave_group{};  // and beside the last
    bool operator==(const RingPath&) const = default;
};
struct RingSearch {
    std::vector<RingPath> paths;  // NCCL's search channels
    bool crosses_nics{};          // crossNic 2: on odd domains the paths of a pair change places
    BytesPerSecond intra;         // what NCCL believes a path carries, for its choice only
    BytesPerSecond inter;
};

// The kinds of path that NCCL tells apart, best first: the worst hop between two devices.
enum class PathType : std::uint8_t { loc, nvl, nvb, c2c, pix, pxb, p2c, pxn, phb, sys, net, dis };
inline constexpr std::array kPathTypes{PathType::loc, PathType::nvl, PathType::nvb, PathType::c2c,
                                       PathType::pix, PathType::pxb, PathType::p2c, PathType::pxn,
                                       PathType::phb, PathType::sys, PathType::net, PathType::dis};
std::string_view name(PathType type);  // "PXN"

// The shapes that NCCL searches. Which GPUs of a domain a tree's parent and children are linked to.
enum class GraphPattern : std::uint8_t {
    balanced_tree,  // parent and one child at the first GPU, the other child at the second
    split_tree,     // parent at the first, both children at the second
    tree,           // all at the first
    ring,
    nvls,
};
inline constexpr std::array kGraphPatterns{GraphPattern::balanced_tree, GraphPattern::split_tree, GraphPattern::tree,
                                           GraphPattern::ring, GraphPattern::nvls};
std::string_view name(GraphPattern pattern);  // "balanced tree"

// What NCCL's search says of one graph: how many channels, what it believes that each carries, how far its hops are.
struct GraphSearch {
    std::uint32_t channels{};  // search channels, before they are doubled
    BytesPerSecond intra;      // of each, inside a domain
    BytesPerSecond inter;      // and between two
    PathType intra_type{};     // the worst between two GPUs
    PathType inter_type{};     // and to the NICs
    GraphPattern pattern{};
    bool same_channels{};  // all go through the GPUs in one order
    SimTime net_latency;   // that the NICs report; a knob
    bool operator==(const GraphSearch&) const = default;
};

// The results that somebody has published for a kind of domain; the rest follow NCCL's rules (room choice).
struct PublishedGraphs {
    std::optional<GraphSearch> ring, tree, nvls;
};

enum class CpuVendor : std::uint8_t { amd, intel, arm };

// What a price holds for: a date, and how it is bought.
struct Price {
    double usd_an_hour{};
    std::string date;
};

struct InstanceType {
    std::string name;
    Gpu gpu;
    std::uint32_t gpus{};
    std::optional<NvLink> nvlink;  // none: a single GPU
    std::optional<Nic> nic;        // none: nothing leaves the instance
    std::uint32_t nics{};
    std::uint32_t rails{};     // NICs of a group, which NCCL sees as one device
    BytesPerSecond pcie_gpu;   // GPU to its PCIe switch, one direction
    BytesPerSecond pcie_nic;   // NIC to its PCIe switch
    BytesPerSecond pcie_host;  // PCIe switch to its NUMA node
    BytesPerSecond numa;       // NUMA node to NUMA node
    // Only without GPUDirect: the root port above a PCIe switch, and the memory of a NUMA node, each in both directions
    // together. 0: not known, and without limit.
    BytesPerSecond pcie_root, numa_memory;
    std::vector<PcieSwitch> switches;
    CpuVendor cpu{};
    bool gpudirect{};  // NICs reach GPU memory without the host
    Bytes host_memory;
    std::uint32_t drives{};  // local NVMe
    Bytes drive;
    std::optional<Price> on_demand;
    std::optional<Price> capacity_block;
    Bytes simple_buffer;  // NCCL_BUFFSIZE as the platform sets it
    // NCCL_P2P_NET_CHUNKSIZE, NCCL_NVLS_CHUNKSIZE, NCCL_NVLSTREE_MAX_CHUNKSIZE, where the platform sets them.
    std::optional<Bytes> p2p_net_chunk, nvls_chunk, nvls_tree_chunk;
    std::uint32_t groups() const { return rails == 0 ? 0 : nics / rails; }
};

// What one NVLink fabric joins: one instance, or those of an UltraServer or a rack.
struct DomainType {
    std::string name;
    InstanceType instance;
    std::uint32_t instances = 1;
    RingSearch alone;    // what NCCL finds on one such domain
    RingSearch several;  // and on each of several
    PublishedGraphs alone_graphs, several_graphs;
    std::uint32_t gpus() const { return instances * instance.gpus; }
    std::uint32_t groups() const { return instances * instance.groups(); }
    // The group of NICs beside a GPU, where each GPU has its share of them.
    std::uint32_t nic_group_of(std::uint32_t gpu) const { return gpu * groups() / gpus(); }
};

// ---- A cluster: domains, a network over them, and what is broken. ----

// A layer of switches, nearest to the instances first. Above the last is one switch without limit.
struct NetworkLayer {
    std::string name;          // "leaf"
    std::uint32_t children{};  // below one switch: instances in the first layer, switches of the layer below in others
    std::vector<std::uint32_t> sizes{};  // the same for each switch of its own, where they differ; then `children` is 0
    double oversubscription = 1;         // what comes from below / what goes up; 1: non-blocking
    std::uint32_t uplinks = 1;           // of one switch; a hashed flow takes one of them, a sprayed one all
    // Of the first layer: its children share not one switch but one for each NIC group, and group k hangs on the k-th.
    // To the layer above these are so many children.
    bool rail_optimized = false;
};
struct Network {
    std::vector<NetworkLayer> layers;
    std::uint64_t seed = 0;  // of the hash, where flows are hashed
};

enum class DeviceKind : std::uint8_t { gpu, nvswitch, pcie_switch, nic, numa, network_switch, fabric };

std::string_view name(DeviceKind kind);  // "gpu", "nvswitch", "pcie", "nic", "numa", "switch", "fabric"

// A device that works at a part of its rate: all its links do, and of a GPU its computing. 0: it is down.
struct Fault {
    DeviceKind kind{};
    std::uint32_t instance{};  // of the cluster; for a network switch its layer
    std::uint32_t index{};     // among its kind in the instance or layer
    double fraction{};
};

// What becomes of the traffic of a NIC with a fault.
enum class RailPolicy : std::uint8_t {
    keep,       // as NCCL does: it stays where it is, and waits
    even,       // as much of it as makes all NICs of the instance equally busy goes to the others
    neighbour,  // the next NIC of the instance takes it over
};
std::string_view name(RailPolicy policy);  // "keep", "even", "neighbour"

enum class LinkKind : std::uint8_t { nvlink, pcie, numa, network };
std::string_view name(LinkKind kind);  // "nvlink", "pcie", "numa", "network"

// A cluster of any shape, as devices and links by name: meshes of NVLink, several NVSwitches, machines that differ,
// networks that are no tree.
struct FreeGraph {
    static constexpr std::uint32_t kNone = 0xffffffff;
    struct Machine {
        std::string name;
        CpuVendor cpu{};
        Bytes simple_buffer;
    };
    struct Device {
        std::string name;
        DeviceKind kind{};
        std::uint32_t machine = kNone;  // of machines; network switches have none, and NVSwitches need none
        std::uint32_t part = 0;         // of gpus, nics or nvlinks, by its kind
    };
    struct Link {  // both ways
        std::uint32_t from{}, to{};
        LinkKind kind{};
        BytesPerSecond rate;      // of one, one direction, as published
        std::uint32_t count = 1;  // a hashed flow takes one of them; NVLinks and lanes work as one
    };
    std::vector<Machine> machines;
    std::vector<Gpu> gpus;  // kinds
    std::vector<Nic> nics;
    std::vector<NvLink> nvlinks;  // the first is that of links without an NVSwitch
    std::vector<Device> devices;
    std::vector<Link> links;
};

struct DomainBlock {
    DomainType type;
    std::uint32_t count{};
};

struct Cluster {
    std::string name;                           // "p5.48xlarge:2"
    std::vector<std::string> instance_names{};  // host names, in order, where they are known
    std::vector<DomainBlock> blocks;            // domains, in order
    Network network;
    std::vector<Fault> faults;
    RailPolicy rail_policy = RailPolicy::keep;
    // Instead of domains and layers: build_topology finds the domains and adds them to `blocks`, a machine is an
    // instance. Faults name NVSwitches and network switches by their number in all, with `instance` 0.
    std::optional<FreeGraph> graph{};
};

// ---- The built graph. ----

using DeviceId = Index<struct DeviceTag>;
using LinkId = Index<struct LinkTag>;
using InstanceId = Index<struct InstanceTag>;

struct Device {
    DeviceKind kind{};
    InstanceId instance;    // of an NVSwitch: the first of its domain; of a network switch: its layer; of the fabric: 0
    std::uint32_t index{};  // among its kind in the instance or layer
};

struct Link {  // one direction
    DeviceId from, to;
    LinkKind kind{};
    BytesPerSecond rate;
};

// All devices of a cluster by number. Instances of one kind in a row are kept once: memory follows the kinds.
class DeviceTable {
public:
    Device operator[](DeviceId id) const;
    std::size_t size() const { return size_; }
    void add(Device device);
    // `count` sets like the last `each` devices: the set before the first of them is the last one added. Each is of the
    // instance `apart` after that of the set before.
    void repeat(std::uint32_t each, std::uint32_t count, std::uint32_t apart);

private:
    struct Run {
        std::uint32_t first{}, each{1}, row{}, apart{};  // its first device, of a set, in rows_
    };
    std::vector<Device> rows_;
    std::vector<Run> runs_;
    std::uint32_t size_ = 0;
};

// All links likewise.
class LinkTable {
public:
    Link operator[](LinkId id) const;
    std::size_t size() const { return size_; }
    void add(const Link& link);
    // `count` sets like the last `each` links. What is between devices of the set before is so between those `apart`
    // after them; an NVSwitch, from `first_nvswitch` on, is the next one after each `together` sets; what comes after
    // the `nvswitches` is above all sets.
    struct Repeat {
        std::uint32_t each{}, count{}, apart{};
        std::uint32_t first_nvswitch{}, nvswitches{}, together{};
    };
    void repeat(const Repeat& sets);
    void scale(LinkId link, double fraction);         // its rate
    void scale(LinkKind kind, double fraction);       // of all of a kind
    std::map<LinkKind, std::uint32_t> kinds() const;  // how many there are

private:
    struct Run {
        std::uint32_t first{}, row{};
        Repeat sets;
    };
    static DeviceId shifted(DeviceId end, const Repeat& sets, std::uint32_t set);
    std::vector<Link> rows_;
    std::vector<Run> runs_;
    std::map<std::uint32_t, double> scaled_;
    std::uint32_t size_ = 0;
};

// The links that a transfer takes, each with its share of the bytes; one that is spread over four NICs has 1/4 on each.
struct RouteLink {
    LinkId link;
    double share{};
};
using Route = std::vector<RouteLink>;

// A GPU by its domain and its number in it.
struct GpuPlace {
    DomainId domain;
    std::uint32_t gpu{};
    auto operator<=>(const GpuPlace&) const = default;
};

// Where an instance's devices and links begin, and whose it is.
struct InstanceBlock {
    std::uint32_t block{};  // of the cluster
    DomainId domain;
    std::uint32_t in_domain{};  // which of the domain's instances
    std::uint32_t device{};     // of its first device: GPUs first, then NICs
    std::uint32_t link{};       // of its first link
};

class GraphRoutes;

class Topology {
public:
    Cluster cluster;
    DeviceTable devices;
    LinkTable links;
    Column<InstanceId, InstanceBlock> instances;
    Column<DomainId, InstanceId> first_instance;  // of a domain

    std::uint32_t domains() const { return static_cast<std::uint32_t>(first_instance.size()); }
    std::uint32_t gpus() const;  // of all domains
    // The switch of the nearest network layer that an instance hangs on, or its rail-optimised set of them; 0 where
    // there are no layers.
    std::uint32_t leaf_of(InstanceId instance) const { return parent_.empty() ? 0 : parent_[0][instance.value]; }
    // The network's layers: how many switches one has, the switch above an instance (layer 0) or above a switch of the
    // layer below, and the first of a switch's links up, which the way down follows.
    std::uint32_t switches(std::uint32_t layer) const {
        return static_cast<std::uint32_t>(switch_device_[layer].size());
    }
    std::uint32_t above(std::uint32_t layer, std::uint32_t child) const { return parent_[layer][child]; }
    LinkId first_uplink(std::uint32_t layer, std::uint32_t network_switch) const {
        return {uplink_[layer][network_switch]};
    }
    const DomainType& type_of(DomainId domain) const { return cluster.blocks[block_of_[domain]].type; }
    const DomainType& type_of(InstanceId instance) const { return cluster.blocks[instances[instance].block].type; }
    InstanceId instance_of(GpuPlace gpu) const;
    std::vector<GpuPlace> gpus_of(InstanceId instance) const;
    DeviceId device(GpuPlace gpu) const;
    // Of a network switch `instance` is the layer. One beyond the last device where there is no such device.
    DeviceId device(DeviceKind kind, InstanceId instance, std::uint32_t index) const;

    // Between two GPUs of one domain: over the NVSwitches. In a free graph by a direct link where there is one, else
    // over switches, a share on each of those beside each other, else through other GPUs, the widest of the shortest.
    Route nvlink_route(GpuPlace from, GpuPlace to) const;
    // Between two domains: over the NICs of group `leave` of the sender's domain to those of group `enter` of the
    // receiver's, as the rail policy has it. `flow` tells hashed flows apart.
    // Throws Infeasible where a free graph has no way.
    Route network_route(GpuPlace from, std::uint32_t leave, std::uint32_t enter, GpuPlace to, std::uint64_t flow) const;
    // The most that all GPUs of a domain can send into the network: NICs and PCIe, without faults and what is above.
    BytesPerSecond rate_out_of(DomainId domain) const;

    std::string name(DeviceId device) const;  // "p5.48xlarge[1]/gpu3"
    std::string name(LinkId link) const;      // "p5.48xlarge[1]/nic7 -> fabric"

private:
    friend class TopologyBuilder;
    friend class GraphTopologyBuilder;
    struct NicShare {
        std::uint32_t nic{};
        double share{};
    };
    std::vector<NicShare> nics_for(InstanceId instance, std::uint32_t group) const;
    std::vector<NicShare> rebalanced(InstanceId instance, std::uint32_t group) const;
    std::vector<LinkId> to_nic(InstanceId instance, std::uint32_t gpu, std::uint32_t nic, bool sends) const;
    InstanceId add_end(Route& route, GpuPlace gpu, std::uint32_t group, bool sends) const;
    struct Leaf {
        std::uint32_t leaf{};
        double share{};
    };
    std::vector<Leaf> leaves_for(InstanceId instance, std::uint32_t group) const;
    void add_climb(Route& route, const Nic& nic, std::uint32_t up, std::uint32_t down, double share,
                   std::uint64_t flow) const;
    std::uint32_t leaf_switch(InstanceId instance, std::uint32_t group) const;
    LinkId network_link(InstanceId instance, std::uint32_t nic, bool sends) const;

    Column<DomainId, std::uint32_t> block_of_;
    std::shared_ptr<const GraphRoutes> graph_;  // of a free graph; then the rest of this has no use
    // Of each block: PCIe paths from GPU to NIC as links of an instance that begins at 0.
    std::vector<std::vector<std::vector<std::vector<std::uint32_t>>>> paths_;
    std::uint32_t first_nvswitch_{};
    Column<InstanceId, std::uint8_t> has_nic_fault_;
    std::set<LinkId> at_fault_;                              // work at a part of their rate
    std::vector<std::vector<std::uint32_t>> parent_;         // of a layer, of a child: the switch above it
    std::vector<std::uint32_t> first_rail_leaf_;             // of a set of rail-optimised leaves; empty: there are none
    std::vector<std::vector<std::uint32_t>> switch_device_;  // of a layer, of a switch
    std::vector<std::vector<std::uint32_t>> uplink_;         // and its first link up; the way down follows each
};

// Throws InputError where the parts of a cluster do not fit together: a NIC without a switch, a GPU twice.
Topology build_topology(const Cluster& cluster);

// Whether the layers above the NICs can hold a transfer back: an oversubscribed layer, hashed flows, a broken switch.
bool network_counts(const Topology& topology);

// The most that can flow between two sets of devices, by max-flow over the links.
BytesPerSecond cut(const Topology& topology, const std::vector<DeviceId>& from, const std::vector<DeviceId>& to);

// The devices of one kind in one instance; of the fabric, the one there is.
std::vector<DeviceId> devices_of(const Topology& topology, DeviceKind kind, InstanceId instance);

// "NVLink", "PCIe", "NUMA", and for the network the fabric's own name.
std::string_view kind_name(const Topology& topology, LinkKind kind);

// Ring paths as NCCL would find them, for a domain whose search result nobody published: see ring_paths.cpp.
RingSearch default_search(const InstanceType& instance, std::uint32_t instances, bool alone);
// Few fast paths become twice as many of half the speed, as NCCL has them; and what they were before.
RingSearch doubled(RingSearch search, const Gpu& gpu);
RingSearch undoubled(RingSearch search);

// ---- Placement: which GPUs a job has, in the order of its ranks. ----

using Placement = std::vector<GpuPlace>;
// `per_domain` GPUs of each domain in turn (0: all), `gpus` in all (0: as many as there are). Throws InputError when
// the cluster has fewer.
Placement linear_placement(const Topology& topology, std::uint32_t gpus, std::uint32_t per_domain);
// The same with the domains in a random order, from a seed.
Placement random_placement(const Topology& topology, std::uint32_t gpus, std::uint32_t per_domain, std::uint64_t seed);
// The domains of the fewest leaves that have room for `gpus`, as smallest_room chooses them; leaves whole where it can.
Placement packed_placement(const Topology& topology, std::uint32_t gpus, std::uint32_t per_domain);
// A domain of each leaf in turn.
Placement spread_placement(const Topology& topology, std::uint32_t gpus, std::uint32_t per_domain);
// All GPUs of these instances, in the order given. Throws InputError for one that there is not, or that comes twice.
Placement placement_on(const Topology& topology, const std::vector<InstanceId>& instances);

// What a placement is spread over.
struct PlacementSpread {
    std::uint32_t gpus{};
    std::uint32_t instances{};
    std::uint32_t domains{};
    std::uint32_t leaves{};
};
PlacementSpread spread_of(const Topology& topology, const Placement& placement);

// Of the groups of `size` consecutive ranks, how many there are, and how many have GPUs in more than one domain, and on
// more than one leaf.
struct GroupsAcross {
    std::uint32_t groups{};
    std::uint32_t domains{};
    std::uint32_t leaves{};
    bool operator==(const GroupsAcross&) const = default;
};
GroupsAcross groups_across(const Topology& topology, const Placement& placement, std::uint32_t size);

// How much of a need each of several domains (racks, leaves, segments) with room to spare takes: all of it the
// smallest that has room for it. Where none has, nothing when it `must_be_one`; else the fewest, largest first, and
// the rest again the smallest that has room. Domains that are alike are taken in order. Empty: it does not fit.
struct RoomTaken {
    std::size_t domain{};
    std::uint32_t taken{};
    bool operator==(const RoomTaken&) const = default;
};
std::vector<RoomTaken> smallest_room(const std::vector<std::uint32_t>& room, std::uint32_t need, bool must_be_one);

}  // namespace fmsim
