// Cluster files: domains of the catalogue, the network over them, and what is broken.
#include <array>
#include <set>

#include <fmt/format.h>

#include "document.hpp"
#include "domain_variants.hpp"
#include "fmsim/formats.hpp"
#include "free_graph.hpp"
#include "hostlist.hpp"
#include "machine_parts.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

DeviceKind device_of(const std::string& word) {
    static constexpr std::array kKinds{DeviceKind::gpu, DeviceKind::nvswitch, DeviceKind::pcie_switch,
                                       DeviceKind::nic, DeviceKind::numa,     DeviceKind::network_switch};
    for (const DeviceKind kind : kKinds)
        if (name(kind) == word) return kind;
    return DeviceKind::fabric;  // the schema lets nothing else through
}

RailPolicy policy_of(const std::string& word) {
    for (const RailPolicy policy : {RailPolicy::even, RailPolicy::neighbour})
        if (name(policy) == word) return policy;
    return RailPolicy::keep;
}

Network network_of(const Spot& spot) {
    Network network;
    if (spot.has("seed")) network.seed = spot["seed"].json().get<std::uint64_t>();
    if (!spot.has("layers")) return network;
    for (std::size_t i = 0; i < spot["layers"].size(); ++i) {
        const Spot layer = spot["layers"][i];
        if (layer.has("children") == layer.has("sizes")) layer.refuse("expected either children or sizes");
        network.layers.push_back(
            {.name = layer["name"].text(),
             .children = layer.has("children") ? layer["children"].count() : 0,
             .sizes = layer.has("sizes") ? counts(layer["sizes"]) : std::vector<std::uint32_t>{},
             .oversubscription = layer.has("oversubscription") ? layer["oversubscription"].number() : 1,
             .uplinks = layer.has("uplinks") ? layer["uplinks"].count() : 1,
             .rail_optimized = layer.has("rail_optimized") && layer["rail_optimized"].json().get<bool>()});
        if (i > 0 && network.layers.back().rail_optimized)
            layer["rail_optimized"].refuse("expected it in the first layer only");
    }
    return network;
}

// What a machine has instead of what its type says.
InstanceType with(InstanceType type, const Spot& spot) {
    const auto rate = [&](const char* key, BytesPerSecond& value) {
        if (spot.has(key)) value = spot[key].rate();
    };
    const auto count = [&](const char* key, std::uint32_t& value) {
        if (spot.has(key)) value = spot[key].count();
    };
    count("gpus", type.gpus);
    count("nics", type.nics);
    count("rails", type.rails);
    if (type.nvlink) rate("nvlink_rate", type.nvlink->rate);
    rate("pcie_gpu_rate", type.pcie_gpu);
    rate("pcie_nic_rate", type.pcie_nic);
    rate("pcie_host_rate", type.pcie_host);
    if (spot.has("cpu")) type.cpu = vendor_named(spot["cpu"].text());
    if (spot.has("gpudirect")) type.gpudirect = spot["gpudirect"].json().get<bool>();
    if (!spot.has("switches")) return type;
    type.switches.clear();
    for (std::size_t i = 0; i < spot["switches"].size(); ++i) {
        const Spot pcie = spot["switches"][i];
        type.switches.push_back({pcie["numa"].count(), counts(pcie["gpus"]), counts(pcie["nics"])});
    }
    return type;
}

// A type that the catalogue does not have is a problem of this file, at its place.
void add_block(Cluster& cluster, const Spot& spot, const Catalogue& catalogue) {
    try {
        DomainType type = catalogue.domain(spot["type"].text());
        if (spot.has("instances")) type = domain_of(catalogue, type.name, spot["instances"].count());
        if (spot.has("instance")) {
            InstanceType instance = with(type.instance, spot["instance"]);
            type = with_instance(std::move(type), std::move(instance));
        }
        cluster.blocks.push_back({std::move(type), spot["count"].count()});
    } catch (const InputError& error) {
        for (const Problem& problem : error.problems) spot["type"].refuse(problem.expected);
    }
}

// As many as there are instances, each once.
void add_names(Cluster& cluster, const Spot& list) {
    std::size_t wanted = 0;
    for (const DomainBlock& block : cluster.blocks) wanted += std::size_t{block.count} * block.type.instances;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list.size(); ++i) try {
            for (std::string& name : expand_hosts(list[i].text(), {}, kMostHosts - cluster.instance_names.size())) {
                if (!seen.insert(name).second) list[i].refuse("expected each host once");
                cluster.instance_names.push_back(std::move(name));
            }
        } catch (const InputError& error) {
            list[i].refuse(error.problems.front().expected);
        }
    if (cluster.instance_names.size() != wanted)
        list.refuse(
            fmt::format("expected a name for each of the {} instances, not {}", wanted, cluster.instance_names.size()));
}

// Domains of the catalogue, and what else goes with them.
void read_domains(Cluster& cluster, const Spot& root, const Catalogue& catalogue) {
    for (std::size_t i = 0; i < root["domains"].size(); ++i) add_block(cluster, root["domains"][i], catalogue);
    if (root.has("names")) add_names(cluster, root["names"]);
    if (root.has("rail_policy")) cluster.rail_policy = policy_of(root["rail_policy"].text());
    if (root.has("gpudirect"))
        for (DomainBlock& block : cluster.blocks) block.type.instance.gpudirect = root["gpudirect"].json().get<bool>();
    for (std::size_t i = 0; root.has("faults") && i < root["faults"].size(); ++i) {
        const Spot fault = root["faults"][i];
        cluster.faults.push_back({.kind = device_of(fault["device"].text()),
                                  .instance = fault["instance"].count(),
                                  .index = fault["index"].count(),
                                  .fraction = fault["rate"].number()});
    }
}

// What is said of trees says nothing of a graph.
void refuse_with_graph(const Spot& root) {
    for (const char* key : {"domains", "names", "rail_policy", "gpudirect", "faults"})
        if (root.has(key)) root[key].refuse("expected no such key beside \"graph\"");
    if (root.has("network") && root["network"].has("layers"))
        root["network"]["layers"].refuse("expected no layers beside \"graph\", whose switches are devices");
}

}  // namespace

Cluster parse_cluster(std::string_view text, const std::string& file, const Catalogue& catalogue) {
    Document document(text, file, "cluster");
    const Spot root = document.root();
    Cluster cluster{.name = root.has("name") ? root["name"].text() : file, .blocks = {}, .network = {}, .faults = {}};
    if (root.has("network")) cluster.network = network_of(root["network"]);
    if (root.has("graph")) {
        refuse_with_graph(root);
        read_graph(cluster, root["graph"], catalogue);
    } else if (root.has("domains")) {
        read_domains(cluster, root, catalogue);
    } else {
        root.refuse("expected a key \"domains\": a list of domains, or \"graph\": machines, devices and links");
    }
    document.finish();
    return cluster;
}

}  // namespace fmsim
