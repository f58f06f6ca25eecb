// A cluster as Slurm's topology.conf and topology.yaml: which hosts are below which switch, and which share an NVLink
// domain. The root that Slurm wants above all is the cluster's fabric.
#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "fmsim/report.hpp"
#include "hostlist.hpp"

namespace fmsim {
namespace {

struct NamedSwitch {
    std::string name;
    std::string below;  // a hostlist: hosts in the first layer, switches in others
    bool has_hosts{};
};
struct NamedBlock {
    std::string name;
    std::string hosts;
};

std::size_t instances_of(const Cluster& cluster) {
    std::size_t count = 0;
    for (const DomainBlock& block : cluster.blocks) count += std::size_t{block.count} * block.type.instances;
    return count;
}

// The cluster's own, or n01, n02, .. where it has none.
std::vector<std::string> hosts_of(const Cluster& cluster) {
    const std::size_t count = instances_of(cluster);
    if (cluster.instance_names.size() == count) return cluster.instance_names;
    const std::size_t width = fmt::formatted_size("{}", count);
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("n{:0{}}", i, width));
    return names;
}

// "leaf" -> "leaf1"; a name that ends in a digit keeps its distance from the number.
std::string switch_name(const std::string& layer, std::size_t number) {
    std::string name;
    for (const char c : layer) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        name += plain ? c : '-';
    }
    const bool digit = !name.empty() && name.back() >= '0' && name.back() <= '9';
    return fmt::format("{}{}{}", name, digit ? "-" : "", number);
}

// From the hosts up, and the fabric last.
//
// A host of Slurm's hangs on one switch: rail-optimised leaves of a set are written as one, and to the layer above as
// many children fewer.
std::vector<NamedSwitch> switches_of(const Cluster& cluster) {
    std::vector<NamedSwitch> switches;
    std::vector<std::string> below = hosts_of(cluster);
    bool has_hosts = true;
    for (const NetworkLayer& layer : cluster.network.layers) {
        std::vector<std::string> names;
        for (std::size_t at = 0; at < below.size();) {
            const std::size_t size = layer.sizes.empty()                 ? layer.children
                                     : names.size() < layer.sizes.size() ? layer.sizes[names.size()]
                                                                         : below.size();
            const std::size_t count = std::min(std::max<std::size_t>(size, 1), below.size() - at);
            names.push_back(switch_name(layer.name, names.size() + 1));
            switches.push_back({names.back(), hostlist(std::span(below).subspan(at, count)), has_hosts});
            at += count;
        }
        below = std::move(names);
        has_hosts = false;
    }
    switches.push_back({"fabric", hostlist(below), has_hosts});
    return switches;
}

// Domains of one instance need no block.
std::vector<NamedBlock> blocks_of(const Cluster& cluster) {
    const std::vector<std::string> hosts = hosts_of(cluster);
    std::vector<NamedBlock> blocks;
    std::size_t at = 0;
    for (const DomainBlock& block : cluster.blocks)
        for (std::uint32_t i = 0; i < block.count; ++i) {
            const auto own = std::span(hosts).subspan(at, block.type.instances);
            if (own.size() > 1) blocks.push_back({fmt::format("block{}", blocks.size() + 1), hostlist(own)});
            at += block.type.instances;
        }
    return blocks;
}

// The base block: no block may be smaller.
std::uint32_t base_block(const Cluster& cluster) {
    std::uint32_t least = 0;
    for (const DomainBlock& block : cluster.blocks)
        if (block.type.instances > 1) least = least == 0 ? block.type.instances : std::min(least, block.type.instances);
    return least;
}

}  // namespace

std::string to_slurm_conf(const Cluster& cluster) {
    const auto blocks = blocks_of(cluster);
    std::string text;
    if (blocks.empty()) {
        text = "# For TopologyPlugin=topology/tree in slurm.conf\n";
        for (const NamedSwitch& one : switches_of(cluster))
            text += fmt::format("SwitchName={} {}={}\n", one.name, one.has_hosts ? "Nodes" : "Switches", one.below);
        return text;
    }
    text =
        "# For TopologyPlugin=topology/block in slurm.conf. Slurm reads blocks or switches from this file, not both:\n"
        "# topology.yaml has room for the switches too.\n";
    for (const NamedBlock& block : blocks) text += fmt::format("BlockName={} Nodes={}\n", block.name, block.hosts);
    return text + fmt::format("BlockSizes={}\n", base_block(cluster));
}

std::string to_slurm_yaml(const Cluster& cluster) {
    std::string text = "- topology: network\n  cluster_default: true\n  tree:\n    switches:\n";
    for (const NamedSwitch& one : switches_of(cluster))
        text += fmt::format("      - switch: {}\n        {}: \"{}\"\n", one.name, one.has_hosts ? "nodes" : "children",
                            one.below);
    const auto blocks = blocks_of(cluster);
    if (blocks.empty()) return text;
    text += fmt::format("- topology: nvlink\n  cluster_default: false\n  block:\n    block_sizes: [{}]\n    blocks:\n",
                        base_block(cluster));
    for (const NamedBlock& block : blocks)
        text += fmt::format("      - block: {}\n        nodes: \"{}\"\n", block.name, block.hosts);
    return text;
}

}  // namespace fmsim
