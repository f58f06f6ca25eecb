// Kubernetes nodes and their labels -> hosts with the network nodes above each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network_tree.hpp"

namespace fmsim {

struct KubernetesNode {
    TreeHost host;
    bool has_gpus{};  // as the node says of itself
};
struct KubernetesNodes {
    std::vector<KubernetesNode> nodes;
    NetworkTree tree;  // without hosts
};

// `layers` as in ImportOptions.
KubernetesNodes parse_kubernetes(std::string_view text, const std::string& file,
                                 const std::vector<std::string>& layers);

}  // namespace fmsim
