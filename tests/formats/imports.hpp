// Clusters from other tools' files, as tests compare them.
#pragma once

#include <string>
#include <vector>

#include "fmsim/formats.hpp"

namespace fmsim::test {

inline const Catalogue& shipped() {
    static const Catalogue catalogue = Catalogue::shipped();
    return catalogue;
}

// "leaf 4" or, where switches differ, "leaf 4,7"; the layers from the hosts up, between bars.
inline std::string layers_of(const Cluster& cluster) {
    std::string text;
    for (const NetworkLayer& layer : cluster.network.layers) {
        if (!text.empty()) text += " | ";
        text += layer.name + " ";
        if (layer.sizes.empty()) text += std::to_string(layer.children);
        for (std::size_t i = 0; i < layer.sizes.size(); ++i)
            text += (i == 0 ? "" : ",") + std::to_string(layer.sizes[i]);
    }
    return text;
}

// "2 p5.48xlarge", and for domains of several instances "1 u-p6e-gb200x36 of 9".
inline std::string domains_of(const Cluster& cluster) {
    std::string text;
    for (const DomainBlock& block : cluster.blocks) {
        if (!text.empty()) text += ", ";
        text += std::to_string(block.count) + " " + block.type.name;
        if (block.type.instances > 1) text += " of " + std::to_string(block.type.instances);
    }
    return text;
}

inline std::string names_of(const Cluster& cluster) {
    std::string text;
    for (const std::string& name : cluster.instance_names) text += (text.empty() ? "" : " ") + name;
    return text;
}

inline std::string notes_of(const Imported& imported) {
    std::string text;
    for (const Problem& note : imported.notes) text += to_text(note) + "\n";
    return text;
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace fmsim::test
