// Labels of nodes, as AWS, NVIDIA's GPU operator and Topograph set them:
//
//   topology.k8s.aws/network-node-layer-1 ..           from the top down; most types have three, some four
//   .../datacenter, spine, block                       Topograph's first keys
//   network.topology.nvidia.com/core, spine, leaf      its next
//   fabric.topograph.run/tier-N                        its newest; tier 0 is nearest to the node
//   nvidia.com/gpu.clique, .../accelerator, accelerator.topograph.run/domain    an NVLink domain
//
// AWS's order is in its names. That of Topograph's is the choice of whoever runs it, so it is asked for, not guessed.
#include "kubernetes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "foreign_file.hpp"
#include "outline.hpp"

namespace fmsim {
namespace {

using Spot = ForeignFile::Spot;

constexpr std::string_view kAwsLayer = "topology.k8s.aws/network-node-layer-";
constexpr std::size_t kMostAwsLayers = 4;
constexpr std::array<const char*, 2> kTypeLabels{"node.kubernetes.io/instance-type",
                                                 "beta.kubernetes.io/instance-type"};
constexpr std::array<const char*, 4> kDomainLabels{"nvidia.com/gpu.clique", "accelerator.topograph.run/domain",
                                                   "network.topology.nvidia.com/accelerator",
                                                   "network.topology.kubernetes.io/accelerator"};
constexpr std::array<std::string_view, 3> kTopograph{"fabric.topograph.run/", "network.topology.nvidia.com/",
                                                     "network.topology.kubernetes.io/"};
constexpr std::string_view kHostName = "kubernetes.io/hostname";

bool is_topograph(const std::string& key) {
    return !key.ends_with("/accelerator") && std::any_of(kTopograph.begin(), kTopograph.end(),
                                                         [&](std::string_view head) { return key.starts_with(head); });
}

class KubernetesReader {
public:
    KubernetesReader(std::string_view text, const std::string& file, const std::vector<std::string>& layers)
        : file_(text, file), layers_(layers) {
        out_.tree.file = file;
    }

    KubernetesNodes read() {
        const auto pages = file_.pages();
        for (const Spot& page : pages) sort(page);
        if (layers_.empty()) layers_ = kueue_levels();
        if (layers_.empty()) layers_ = aws_levels();
        for (const Spot& node : nodes_) add(node);
        file_.finish();
        for (const auto& [kind, count] : others_)
            note(fmt::format("{} of kind {} left out", count, kind.empty() ? "none" : printable(kind)));
        if (out_.nodes.empty()) throw InputError({{file_.name(), 0, "", "expected nodes", "none"}});
        for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
            out_.tree.layers.push_back(layer->substr(layer->rfind('/') + 1) + ".");
        return std::move(out_);
    }

private:
    void note(std::string what) { out_.tree.notes.push_back({file_.name(), 0, "", std::move(what), ""}); }

    void sort(const Spot& page) {
        const std::string kind = page["kind"].text_or_none();
        if (page["items"].is_list())
            for (const Spot& item : page["items"].items()) sort_one(item, "Node");
        else if (kind != "List" && kind != "NodeList")
            sort_one(page, "");
    }

    // Items of a NodeList may leave out their kind.
    void sort_one(const Spot& item, const std::string& usual) {
        const std::string kind = item.has("kind") ? item["kind"].text_or_none() : usual;
        if (kind == "Node")
            nodes_.push_back(item);
        else if (kind == "Topology")
            topologies_.push_back(item);
        else
            ++others_[kind];
    }

    // A Kueue Topology names labels from coarse to fine; the last is often the host itself.
    std::vector<std::string> kueue_levels() {
        std::vector<std::string> levels;
        if (topologies_.size() > 1) note("several Topologies: the first says the order of the levels");
        if (topologies_.empty()) return levels;
        for (const Spot& level : topologies_.front()["spec"]["levels"].items()) {
            std::string label = level["nodeLabel"].text();
            if (label != kHostName) levels.push_back(std::move(label));
        }
        return levels;
    }

    std::vector<std::string> aws_levels() {
        std::size_t deepest = 0;
        for (const Spot& node : nodes_)
            for (std::size_t layer = deepest + 1; layer <= kMostAwsLayers; ++layer)
                if (node["metadata"]["labels"].has(fmt::format("{}{}", kAwsLayer, layer))) deepest = layer;
        std::vector<std::string> levels;
        for (std::size_t layer = 1; layer <= deepest; ++layer) levels.push_back(fmt::format("{}{}", kAwsLayer, layer));
        return levels;
    }

    // A key in full, or what stands behind its slash.
    static std::string value_of(const Spot& labels, const std::string& wanted) {
        if (labels.has(wanted)) return labels[wanted].text_or_none();
        for (const std::string& key : labels.keys())
            if (key.ends_with("/" + wanted)) return labels[key].text_or_none();
        return "";
    }

    template <class Keys>
    static std::string first_of(const Spot& labels, const Keys& keys) {
        for (const char* const key : keys)
            if (labels.has(key)) return labels[key].text_or_none();
        return "";
    }

    void add(const Spot& node) {
        const Spot labels = node["metadata"]["labels"];
        KubernetesNode read{.host = {.name = node["metadata"]["name"].text(),
                                     .type = first_of(labels, kTypeLabels),
                                     .block = first_of(labels, kDomainLabels),
                                     .switches = {}},
                            .has_gpus = false};
        const Spot gpus = node["status"]["capacity"]["nvidia.com/gpu"];
        read.has_gpus = !gpus.is_null() && gpus.count().value_or(0) > 0;
        for (const std::string& layer : layers_) {
            std::string name = value_of(labels, layer);
            if (name.empty()) break;  // four-layer types and three-layer ones in one cluster
            read.host.switches.push_back(std::move(name));
        }
        const auto keys = labels.keys();
        if (layers_.empty() && std::any_of(keys.begin(), keys.end(), is_topograph))
            labels.refuse("expected the order of the levels (--layers), from the top down, such as spine,leaf",
                          "labels of Topograph");
        out_.nodes.push_back(std::move(read));
    }

    ForeignFile file_;
    std::vector<std::string> layers_;
    KubernetesNodes out_;
    std::vector<Spot> nodes_, topologies_;
    std::map<std::string, std::size_t> others_;
};

}  // namespace

KubernetesNodes parse_kubernetes(std::string_view text, const std::string& file,
                                 const std::vector<std::string>& layers) {
    return KubernetesReader(text, file, layers).read();
}

// A cluster has nodes without GPUs too: those of types that the catalogue lacks are left out, unless they have GPUs.
Imported import_kubernetes(std::string_view text, const std::string& file, const Catalogue& catalogue,
                           const ImportOptions& options) {
    KubernetesNodes read = parse_kubernetes(text, file, options.layers);
    const auto names = catalogue.names();
    const std::set<std::string> known(names.begin(), names.end());
    std::map<std::string, std::size_t> left_out;
    for (KubernetesNode& node : read.nodes) {
        const std::string& type = node.host.type.empty() ? options.type : node.host.type;
        if (!node.has_gpus && !type.empty() && type != options.type && !known.contains(type))
            ++left_out[type];
        else
            read.tree.hosts.push_back(std::move(node.host));
    }
    for (const auto& [type, count] : left_out)
        read.tree.notes.push_back(
            {file, 0, "",
             fmt::format("{} node{} of type {} left out: no GPUs, and the catalogue has no such type", count,
                         count == 1 ? "" : "s", printable(type)),
             ""});
    return to_cluster(std::move(read.tree), catalogue, options.type);
}

}  // namespace fmsim
