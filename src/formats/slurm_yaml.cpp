// Slurm's topology.yaml: a list of topologies, each with a name and a kind. A cluster has one network and one set of
// blocks, so one tree and one block topology are taken: the cluster's default, or the first.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "foreign_file.hpp"
#include "slurm_tree.hpp"

namespace fmsim {
namespace {

using Spot = ForeignFile::Spot;

constexpr std::array<std::string_view, 3> kKinds{"tree", "block", "flat"};

bool is_kind(const std::string& key) { return std::find(kKinds.begin(), kKinds.end(), key) != kKinds.end(); }

class SlurmYamlReader {
public:
    SlurmYamlReader(std::string_view text, const std::string& file) : file_(text, file) { out_.file = file; }

    SlurmTopology read() {
        for (const Spot& topology : file_.pages()) add(topology);
        if (tree_) add_tree(*tree_);
        if (block_) add_blocks(*block_);
        file_.finish();
        if (!tree_ && !block_)
            throw InputError(
                {{file_.name(), 0, "", "expected a tree or block topology", others_.empty() ? "none" : others_}});
        return std::move(out_);
    }

private:
    void note(std::string what) { out_.notes.push_back({file_.name(), 0, "", std::move(what), ""}); }

    // Newer versions of Slurm may know more kinds: one of them is told, and the others are read.
    void add(const Spot& topology) {
        const std::string name = topology["topology"].text();
        const bool is_default = topology["cluster_default"].is_true();
        std::string kind;
        for (const std::string& key : topology.keys()) {
            if (key == "topology" || key == "cluster_default") continue;
            if (!kind.empty()) topology.refuse("expected one kind of topology", kind + " and " + key);
            kind = key;
        }
        if (kind == "tree" || kind == "block") {
            auto& taken = kind == "tree" ? tree_ : block_;
            if (taken)
                note(fmt::format("topology {} is left out: one {} is taken, the default or the first",
                                 is_default ? taken_name(kind) : name, kind));
            if (taken && !is_default) return;
            taken = topology[kind];
            taken_name(kind) = name;
        } else {
            const std::string what = kind.empty() ? "no kind" : is_kind(kind) ? kind : "an unknown kind, " + kind;
            others_ += fmt::format("{}topology {} of {}", others_.empty() ? "" : ", ", name, what);
            if (kind != "flat") note(fmt::format("topology {} is left out: it is of {}", name, what));
        }
    }
    std::string& taken_name(const std::string& kind) { return kind == "tree" ? tree_name_ : block_name_; }

    void add_tree(const Spot& tree) {
        std::size_t speeds = 0;
        for (const Spot& one : tree["switches"].items()) {
            if (one.has("link_speed")) ++speeds;
            out_.switches.push_back(
                {one["switch"].text(), one["nodes"].text_or_none(), one["children"].text_or_none(), 0});
        }
        if (speeds > 0) note("link_speed is not used: Slurm does not say in which unit it is");
    }

    void add_blocks(const Spot& block) {
        for (const Spot& one : block["blocks"].items())
            out_.blocks.push_back({one["block"].text(), one["nodes"].text(), 0});
        for (const Spot& size : block["block_sizes"].items()) out_.block_sizes.push_back(size.count().value_or(0));
    }

    ForeignFile file_;
    SlurmTopology out_;
    std::optional<Spot> tree_, block_;
    std::string tree_name_, block_name_;
    std::string others_;
};

}  // namespace

NetworkTree parse_slurm_yaml(std::string_view text, const std::string& file) {
    return tree_of(SlurmYamlReader(text, file).read());
}

Imported import_slurm_yaml(std::string_view text, const std::string& file, const Catalogue& catalogue,
                           const ImportOptions& options) {
    return to_cluster(parse_slurm_yaml(text, file), catalogue, options.type);
}

}  // namespace fmsim
