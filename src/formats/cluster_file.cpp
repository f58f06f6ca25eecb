// Cluster files: domains of the catalogue, the network over them, and what is broken.
#include <array>

#include "document.hpp"
#include "fmsim/formats.hpp"

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
        network.layers.push_back(
            {.name = layer["name"].text(),
             .children = layer["children"].count(),
             .oversubscription = layer.has("oversubscription") ? layer["oversubscription"].number() : 1,
             .uplinks = layer.has("uplinks") ? layer["uplinks"].count() : 1});
    }
    return network;
}

// A type that the catalogue does not have is a problem of this file, at its place.
void add_block(Cluster& cluster, const Spot& spot, const Catalogue& catalogue) {
    try {
        cluster.blocks.push_back({catalogue.domain(spot["type"].text()), spot["count"].count()});
    } catch (const InputError& error) {
        for (const Problem& problem : error.problems) spot["type"].refuse(problem.expected);
    }
}

}  // namespace

Cluster parse_cluster(std::string_view text, const std::string& file, const Catalogue& catalogue) {
    Document document(text, file, "cluster");
    const Spot root = document.root();
    Cluster cluster{.name = root.has("name") ? root["name"].text() : file, .blocks = {}, .network = {}, .faults = {}};
    for (std::size_t i = 0; i < root["domains"].size(); ++i) add_block(cluster, root["domains"][i], catalogue);
    if (root.has("network")) cluster.network = network_of(root["network"]);
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
    document.finish();
    return cluster;
}

}  // namespace fmsim
