// A group of ranks -> the communicator that NCCL makes of it: its graphs, channels and buffers.
//
// A part of a domain has the published search result when it is the whole domain, else that of the rules. Where parts
// differ, the poorest counts.
//
// Source: NCCL 2.30 (graph/connect.cc, graph/paths.cc, init.cc, transport/nvls.cc).
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "graphs.hpp"
#include "tuning_model.hpp"

namespace fmsim {
namespace {

struct Part {
    const DomainType* type{};
    std::vector<std::uint32_t> gpus;
    auto operator<=>(const Part&) const = default;
};

// NIC groups on the same PCIe switch as a GPU, counted through the domain.
std::set<std::uint32_t> groups_beside(const InstanceType& type, std::uint32_t gpu) {
    std::set<std::uint32_t> groups;
    const std::uint32_t host = gpu / type.gpus;
    for (const PcieSwitch& pcie : type.switches) {
        if (std::find(pcie.gpus.begin(), pcie.gpus.end(), gpu % type.gpus) == pcie.gpus.end()) continue;
        for (const std::uint32_t nic : pcie.nics) groups.insert(host * type.groups() + nic / type.rails);
    }
    return groups;
}

std::uint32_t neighbours(const InstanceType& type, std::uint32_t gpu) {
    for (const PcieSwitch& pcie : type.switches)
        if (std::find(pcie.gpus.begin(), pcie.gpus.end(), gpu % type.gpus) != pcie.gpus.end())
            return static_cast<std::uint32_t>(pcie.gpus.size());
    return 1;
}

// Devices that a GPU takes: its share of those beside it and its neighbours.
std::uint32_t devices_of_gpu(const InstanceType& type, std::uint32_t gpu) {
    const auto groups = static_cast<std::uint32_t>(groups_beside(type, gpu).size());
    const std::uint32_t gpus = neighbours(type, gpu);
    return (groups + gpus - 1) / gpus;
}

std::uint32_t devices_of_part(const Part& part) {
    const InstanceType& type = part.type->instance;
    std::set<std::uint32_t> near;
    std::uint32_t share = 0;
    for (const std::uint32_t gpu : part.gpus) {
        near.merge(groups_beside(type, gpu));
        share += devices_of_gpu(type, gpu);
    }
    return std::max(1u, std::min(share, static_cast<std::uint32_t>(near.size())));
}

// A NIC group as NCCL sees it, behind the GPU's PCIe link.
double device_gbps(const InstanceType& type, const NcclSearch& rules) {
    if (!type.nic) return 0;
    const double gbps_raw = std::min(gbps(type.nic->rate) * type.rails, gbps(type.pcie_gpu) * rules.pcie_share);
    return std::round(gbps_raw * 1e6) / 1e6;
}

double nvlink_gbps(const InstanceType& type, const NcclSearch& rules) {
    return type.nvlink ? gbps(type.nvlink->rate) * rules.nvlink_share[generation(type.gpu.compute_capability)] : 0;
}

// How far the ends of the rings are from their NICs.
PathType ring_to_nic(const InstanceType& type, const RingSearch& rings) {
    bool near = true;
    for (const RingPath& path : rings.paths) {
        if (!groups_beside(type, path.gpus.front()).contains(path.enter_group)) return PathType::phb;
        near = near && groups_beside(type, path.gpus.back()).contains(path.leave_group);
    }
    return near ? PathType::pix : PathType::pxn;
}

PublishedGraphs graphs_of(const Part& part, const RingSearch& rings, bool alone, const NcclSearch& rules) {
    const InstanceType& type = part.type->instance;
    const bool one = part.gpus.size() == 1 && !groups_beside(type, part.gpus[0]).empty();
    const PathType ring_end = alone || one ? PathType::pix : ring_to_nic(type, rings);
    PublishedGraphs graphs = graphs_by_rule({.gpus = static_cast<std::uint32_t>(part.gpus.size()),
                                             .devices = alone ? 0 : devices_of_part(part),
                                             .compute_capability = type.gpu.compute_capability,
                                             .nvlink_gbps = nvlink_gbps(type, rules),
                                             .device_gbps = device_gbps(type, rules),
                                             .multicast = type.nvlink && type.nvlink->multicast,
                                             .ring_to_nic = ring_end,
                                             .tree_to_nic = ring_end == PathType::pxn ? PathType::pix : ring_end,
                                             .same_order = part.type->instances == 1},
                                            rules);
    if (part.gpus.size() == part.type->gpus()) {
        const PublishedGraphs& known = alone ? part.type->alone_graphs : part.type->several_graphs;
        if (known.ring) graphs.ring = known.ring;
        if (known.tree) graphs.tree = known.tree;
        if (known.nvls) graphs.nvls = known.nvls;
    }
    return graphs;
}

void take_poorer(GraphSearch& graph, const GraphSearch& other) {
    graph.channels = std::min(graph.channels, other.channels);
    graph.intra = std::min(graph.intra, other.intra);
    graph.inter = std::min(graph.inter, other.inter);
    graph.intra_type = std::max(graph.intra_type, other.intra_type);
    graph.inter_type = std::max(graph.inter_type, other.inter_type);
    graph.net_latency = std::max(graph.net_latency, other.net_latency);
    graph.same_channels = graph.same_channels && other.same_channels;
    if (other.pattern == GraphPattern::tree) graph.pattern = other.pattern;
}

void merge(Communicator& all, const PublishedGraphs& graphs) {
    if (all.ring.channels == 0) {
        all.ring = *graphs.ring;
        all.tree = *graphs.tree;
        all.nvls = graphs.nvls;
        return;
    }
    take_poorer(all.ring, *graphs.ring);
    take_poorer(all.tree, *graphs.tree);
    if (all.nvls && graphs.nvls)
        take_poorer(*all.nvls, *graphs.nvls);
    else
        all.nvls.reset();
}

// Each search channel serves twice, with tree 0 and tree 1.
std::uint32_t collective_channels(const Communicator& c, const NcclChannels& rules, const Pins& pins) {
    std::uint32_t channels = 2 * c.ring.channels;
    if (c.compute_capability >= 90 && c.domains > 1 && gbps(c.ring.intra) > rules.again_above_gbps &&
        channels < rules.again_below)
        channels *= 2;
    channels = std::min(channels, rules.most);
    if (pins.most_channels) channels = std::max(1u, std::min(channels, *pins.most_channels));
    if (pins.least_channels) channels = std::max(channels, std::min(*pins.least_channels, rules.most));
    return channels;
}

// What the parts have in common besides their graphs.
struct Machines {
    const InstanceType* first{};
    double device_gbps = 1e300, nvlink_links = 1e300;
    std::uint32_t devices = 1u << 30;  // of a GPU
};

bool fits(const NvlsRule& rule, const Communicator& c, double nic) {
    const std::uint32_t ranks = c.ranks_a_domain();
    return (rule.domains == 0 || rule.domains == c.domains) && ranks >= rule.least_ranks &&
           (rule.most_ranks == 0 || ranks <= rule.most_ranks) && nic >= rule.least_nic_gbps &&
           (rule.below_nic_gbps == 0 || nic < rule.below_nic_gbps) &&
           (!rule.near_nic || c.nvls->inter_type <= PathType::pxb);
}

void set_nvls(Communicator& c, const Machines& machines, const NcclChannels& rules) {
    if (!c.nvls) return;
    c.nvls_heads = c.nvls->channels;
    c.nvls_chunk = rules.nvls_chunk;
    c.nvls_tree_chunk = c.domains >= rules.nvls_tree_many ? rules.nvls_tree_chunk_many : rules.nvls_chunk;
    c.nvls_channels = rules.nvls_hopper;
    if (c.compute_capability >= 100) c.nvls_channels = rules.nvls_blackwell;
    if (c.compute_capability >= 100 && c.domains > 1)
        for (const NvlsRule& rule : rules.nvls_blackwell_between) {
            if (!fits(rule, c, machines.device_gbps)) continue;
            c.nvls_channels = rule.channels;
            if (rule.chunk.count > 0) c.nvls_chunk = rule.chunk;
            if (rule.tree_chunk.count > 0) c.nvls_tree_chunk = rule.tree_chunk;
            break;
        }
    c.nvls_chunk = machines.first->nvls_chunk.value_or(c.nvls_chunk);
    c.nvls_tree_chunk = machines.first->nvls_tree_chunk.value_or(c.nvls_tree_chunk);
}

// Of a peer over the network, before the ranks are counted.
double network_channels(const Communicator& c, const Machines& machines, const NcclTransfers& rules, const Pins& pins) {
    if (pins.channels_per_net_peer) return *pins.channels_per_net_peer;
    double by_rate = std::ceil(machines.device_gbps / rules.channel_net_gbps);
    if (pins.transfers_before_2_29) {
        std::uint32_t channels = rules.old_channels_a_peer;
        while (std::uint64_t{channels} * c.ranks > std::uint64_t{c.p2p_channels} * rules.old_peers_a_channel &&
               channels > 1)
            channels /= 2;
        by_rate = channels;
    }
    return std::max<double>(machines.devices, by_rate);
}

std::uint32_t per_peer(const Communicator& c, const Machines& machines, const NcclTransfers& rules, const Pins& pins) {
    const double links = machines.nvlink_links * rules.channels_a_link;
    const double network = network_channels(c, machines, rules, pins);
    double least = c.ranks_a_domain() > 1 ? links : network;
    if (c.domains > 1) least = std::min(least, network);
    std::uint32_t channels = std::bit_ceil(static_cast<std::uint32_t>(std::clamp(least, 1.0, 1024.0)));
    if (c.domains == 1) return std::min(channels, c.p2p_channels);
    if (pins.transfers_before_2_29) return channels;
    const std::uint32_t batches = (c.ranks + rules.peers_a_batch - 1) / rules.peers_a_batch;
    while (std::uint64_t{channels} * batches > c.p2p_channels && channels > 1) channels /= 2;
    return channels;
}

void set_transfers(Communicator& c, const Machines& machines, const NcclTransfers& rules, const Pins& pins) {
    c.p2p_channels = std::bit_ceil(c.channels);
    c.p2p_channels_per_peer = per_peer(c, machines, rules, pins);
    c.transfers_before_2_29 = pins.transfers_before_2_29;
    Bytes chunk = rules.nvlink_chunk;
    if (c.domains > 1) {
        chunk = pins.p2p_net_chunk.value_or(machines.first->p2p_net_chunk.value_or(rules.net_chunk));
        if (c.cpu == CpuVendor::arm && c.compute_capability >= 100) chunk.count *= rules.arm_blackwell_factor;
    }
    c.p2p_chunk = chunk;
}

void set_buffers(Communicator& c, const Machines& machines, const Nccl& nccl, const Pins& pins) {
    for (const Protocol protocol : kProtocols) c.fifo[protocol] = nccl.shape.protocols[protocol].buffer;
    c.fifo[Protocol::simple] = pins.simple_buffer.value_or(machines.first->simple_buffer);
    c.p2p_chunk = std::min(c.p2p_chunk, Bytes{c.fifo[Protocol::simple].count / nccl.shape.buffer_steps});
}

std::string aws_name(const InstanceType& type, const AwsTuner& aws) {
    for (const auto& [instance, machine] : aws.machines)
        if (instance == type.name) return machine;
    return {};
}

void add_part(Communicator& c, Machines& machines, const Part& part, const RingSearch& rings, const Nccl& nccl) {
    const InstanceType& type = part.type->instance;
    const bool alone = c.domains == 1;
    PublishedGraphs graphs = graphs_of(part, rings, alone, nccl.search);
    const SimTime reported = alone || !type.nic ? SimTime{} : type.nic->reported_latency;
    for (auto* graph : {&graphs.ring, &graphs.tree, &graphs.nvls})
        if (*graph) (*graph)->net_latency = reported;
    if (machines.first == nullptr) {
        machines.first = &type;
        c.compute_capability = type.gpu.compute_capability;
        c.cpu = type.cpu;
    }
    c.compute_capability = std::min(c.compute_capability, type.gpu.compute_capability);
    c.mixed_cpus = c.mixed_cpus || c.cpu != type.cpu;
    machines.device_gbps = std::min(machines.device_gbps, device_gbps(type, nccl.search));
    const double link = nccl.search.nvlink_link_gbps[generation(type.gpu.compute_capability)];
    machines.nvlink_links = std::min(machines.nvlink_links, std::floor(nvlink_gbps(type, nccl.search) / link + 1e-9));
    for (const std::uint32_t gpu : part.gpus)
        machines.devices = std::min(machines.devices, std::max(1u, devices_of_gpu(type, gpu)));
    merge(c, graphs);
}

}  // namespace

Communicator communicator_of(const Topology& topology, const Group& group, const Nccl& nccl, const Pins& pins) {
    Communicator all{.domains = static_cast<std::uint32_t>(group.parts.size()),
                     .ranks = static_cast<std::uint32_t>(group.places.size()),
                     .aws_tuner = {}};
    const GroupRings rings = rings_of(topology, group);
    Machines machines;
    std::set<Part> seen;
    for (std::size_t i = 0; i < group.parts.size(); ++i) {
        Part part{.type = &topology.type_of(group.parts[i].domain), .gpus = {}};
        for (const std::uint32_t position : group.parts[i].positions) part.gpus.push_back(group.places[position].gpu);
        if (!seen.insert(part).second) continue;
        add_part(all, machines, part, rings.of_part[i], nccl);
    }
    if (!pins.nvls) all.nvls.reset();
    all.channels = collective_channels(all, nccl.channels, pins);
    set_nvls(all, machines, nccl.channels);
    set_transfers(all, machines, nccl.transfers, pins);
    set_buffers(all, machines, nccl, pins);
    all.aws_tuner = aws_name(*machines.first, nccl.aws);
    return all;
}

}  // namespace fmsim
