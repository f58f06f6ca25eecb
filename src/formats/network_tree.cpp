#include "network_tree.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "domain_variants.hpp"
#include "hostlist.hpp"
#include "outline.hpp"

namespace fmsim {
namespace {

constexpr std::size_t kMostLayers = 8;  // as in schemas/cluster.json

// "leaf" for leaf1, leaf2, ..: what the names of a layer's switches have before their numbers; empty: nothing alike.
std::string common_head(const std::vector<std::string>& names) {
    std::string common;
    for (const std::string& name : names) {
        std::string head = name.substr(0, name.find_last_not_of("0123456789") + 1);
        head.erase(head.find_last_not_of("-_.") + 1);
        if (head.empty() || (!common.empty() && head != common)) return "";
        common = head;
    }
    return common;
}

std::string usual_name(std::size_t layer) {
    static constexpr std::array<const char*, 3> kUsual{"leaf", "spine", "core"};
    return layer < kUsual.size() ? kUsual[layer] : fmt::format("layer{}", layer + 1);
}

bool has_odd_characters(const std::string& name) {
    return std::any_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || std::string_view("[],\"=\x7f").find(c) != std::string_view::npos;
    });
}

class ClusterMaker {
public:
    ClusterMaker(NetworkTree tree, const Catalogue& catalogue, std::string type)
        : tree_(std::move(tree)), catalogue_(catalogue), type_(std::move(type)) {}
    Imported make();

private:
    void refuse(const TreeHost& host, std::string expected, std::string found);
    void note(std::string what) { tree_.notes.push_back({tree_.file, 0, "", std::move(what), ""}); }
    void stop_if_refused();

    void check_names();
    void find_types();
    std::uint32_t largest_domain(const std::string& instance) const;
    void place_blocks();
    void fill_layers();
    void number_switches();
    void order_hosts();
    void keep_blocks_together();
    std::vector<NetworkLayer> layers() const;
    std::string layer_name(std::size_t layer) const;
    std::size_t end_of_domain(std::size_t begin) const;
    void check_block(std::size_t begin, std::size_t end, std::set<std::string>& before);
    std::vector<DomainBlock> domains();

    NetworkTree tree_;
    const Catalogue& catalogue_;
    std::string type_;
    std::vector<Problem> problems_;
    std::map<std::string, std::string> instance_of_;  // a type's name -> its instance type's
    std::map<std::string, DomainType> alone_;         // of an instance type: the domain of one
    std::vector<DomainType> all_;                     // of the catalogue
    std::size_t depth_ = 0;
    std::vector<std::vector<std::uint32_t>> way_;     // of a host: the numbers of its switches, from the top down
    std::vector<std::vector<std::string>> switches_;  // of a level, from the top down: names
    std::vector<std::size_t> order_;
};

void ClusterMaker::refuse(const TreeHost& host, std::string expected, std::string found) {
    if (problems_.size() >= kMostProblems) stop_if_refused();
    problems_.push_back({tree_.file, host.line, "host " + host.name, std::move(expected), std::move(found)});
}

void ClusterMaker::stop_if_refused() {
    if (!problems_.empty()) throw InputError(std::move(problems_));
}

void ClusterMaker::check_names() {
    if (tree_.hosts.empty()) throw InputError({{tree_.file, 0, "", "expected hosts", "none"}});
    if (tree_.hosts.size() > kMostHosts)
        throw InputError({{tree_.file, 0, "", fmt::format("expected at most {} hosts", kMostHosts), ""}});
    std::set<std::string_view> seen;
    for (const TreeHost& host : tree_.hosts) {
        if (host.name.empty() || host.name.size() > 253 || has_odd_characters(host.name))
            refuse(host, "expected a host name of at most 253 letters, without blanks, brackets or commas", host.name);
        if (!seen.insert(host.name).second) refuse(host, "expected each host once", "it twice");
    }
    stop_if_refused();
}

// What the catalogue says of each type, asked once.
void ClusterMaker::find_types() {
    all_ = all_domains(catalogue_);
    for (TreeHost& host : tree_.hosts) {
        if (host.type.empty()) host.type = type_;
        if (host.type.empty()) {
            refuse(host, "expected an instance type, of the host or of all (--type)", "none");
            stop_if_refused();
        }
        const auto [known, is_new] = instance_of_.try_emplace(host.type);
        if (!is_new) continue;
        try {
            DomainType domain = catalogue_.domain(host.type);
            known->second = domain.instance.name;
            if (domain.instances > 1) domain = domain_of(domain, 1, all_);
            alone_.insert_or_assign(known->second, std::move(domain));
        } catch (const InputError& error) {
            refuse(host, error.problems.front().expected, host.type);
        }
    }
    stop_if_refused();
}

// The most instances that one domain joins.
std::uint32_t ClusterMaker::largest_domain(const std::string& instance) const {
    std::uint32_t largest = 1;
    for (const DomainType& domain : all_)
        if (domain.instance.name == instance) largest = std::max(largest, domain.instances);
    return largest;
}

// A block is an NVLink domain only where NVLink leaves the instance. A scheduler's other blocks are switches, when
// nothing else is known of the network.
void ClusterMaker::place_blocks() {
    const bool no_switches =
        tree_.blocks_are_switches &&
        std::all_of(tree_.hosts.begin(), tree_.hosts.end(), [](const TreeHost& h) { return h.switches.empty(); });
    std::set<std::string> inside;
    for (TreeHost& host : tree_.hosts) {
        const std::string& instance = instance_of_.at(host.type);
        if (host.block.empty() || largest_domain(instance) > 1) continue;
        inside.insert(instance);
        if (no_switches) host.switches = {host.block};
        host.block.clear();
    }
    for (const std::string& instance : inside)
        note(fmt::format("the NVLink of {} stays inside the instance: its blocks are {}", instance,
                         no_switches ? "taken as switches" : "left out"));
}

void ClusterMaker::fill_layers() {
    for (const TreeHost& host : tree_.hosts) depth_ = std::max(depth_, host.switches.size());
    std::size_t filled = 0;
    for (TreeHost& host : tree_.hosts) {
        filled += host.switches.size() < depth_ ? 1 : 0;
        while (host.switches.size() < depth_)
            host.switches.push_back(host.switches.empty() ? host.name : host.switches.back());
    }
    if (filled > 0)
        note(fmt::format("{} host{} fewer than {} switches above: the missing ones stand nearest to them", filled,
                         filled == 1 ? " has" : "s have", depth_));
    const std::string* const top = depth_ > 0 ? &tree_.hosts.front().switches.front() : nullptr;
    const bool one_top = top != nullptr && std::all_of(tree_.hosts.begin(), tree_.hosts.end(),
                                                       [&](const TreeHost& h) { return h.switches.front() == *top; });
    if (one_top) {
        if (tree_.layers.size() == depth_) tree_.layers.pop_back();
        --depth_;
        const std::string name = *top;
        for (TreeHost& host : tree_.hosts) host.switches.erase(host.switches.begin());
    }
    if (depth_ > kMostLayers)
        throw InputError({{tree_.file, 0, "", fmt::format("expected at most {} layers of switches", kMostLayers),
                           fmt::format("{}", depth_)}});
}

// By first appearance, which is the order of the file.
void ClusterMaker::number_switches() {
    struct Numbered {
        std::uint32_t number{};
        std::uint32_t above{};
    };
    std::vector<std::map<std::string, Numbered>> known(depth_);
    switches_.resize(depth_);
    for (const TreeHost& host : tree_.hosts) {
        std::vector<std::uint32_t> way;
        for (std::size_t level = 0; level < depth_; ++level) {
            const std::string& name = host.switches[level];
            const std::uint32_t above = level == 0 ? 0 : way.back();
            const auto next = static_cast<std::uint32_t>(switches_[level].size());
            const auto [found, is_new] = known[level].try_emplace(name, Numbered{next, above});
            if (is_new) switches_[level].push_back(name);
            if (found->second.above != above)
                refuse(host,
                       fmt::format("expected switch {} below {}, as for the hosts before", printable(name),
                                   printable(switches_[level - 1][found->second.above])),
                       host.switches[level - 1]);
            way.push_back(found->second.number);
        }
        way_.push_back(std::move(way));
    }
    stop_if_refused();
}

void ClusterMaker::order_hosts() {
    std::map<std::string, std::uint32_t> blocks, types;
    std::vector<std::array<std::uint32_t, 2>> inside;  // the order below one switch: by block, then by type
    for (const TreeHost& host : tree_.hosts) {
        const auto block = blocks.try_emplace(host.block, static_cast<std::uint32_t>(blocks.size())).first->second;
        const auto type = types.try_emplace(host.type, static_cast<std::uint32_t>(types.size())).first->second;
        inside.push_back({block, type});
    }
    order_.resize(tree_.hosts.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
        return way_[a] != way_[b] ? way_[a] < way_[b] : inside[a] < inside[b];
    });
    keep_blocks_together();
}

// Below each switch: first the block that the switch before it began, last the one that goes on below the next.
void ClusterMaker::keep_blocks_together() {
    std::map<std::string, std::size_t> last_of;  // where in the order the hosts of a block end
    for (std::size_t i = 0; i < order_.size(); ++i) last_of[tree_.hosts[order_[i]].block] = i;
    std::string open;
    for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
        while (end < order_.size() && way_[order_[end]] == way_[order_[begin]]) ++end;
        const auto rank = [&](std::size_t host) {
            const std::string& block = tree_.hosts[host].block;
            if (block.empty()) return 1;
            return block == open ? 0 : last_of[block] >= end ? 2 : 1;
        };
        std::stable_sort(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                         order_.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
        open = tree_.hosts[order_[end - 1]].block;
    }
}

std::string ClusterMaker::layer_name(std::size_t layer) const {
    if (layer < tree_.layers.size()) return tree_.layers[layer];
    const std::string common = common_head(switches_[depth_ - 1 - layer]);
    return common.empty() || has_odd_characters(common) ? usual_name(layer) : common;
}

std::vector<NetworkLayer> ClusterMaker::layers() const {
    std::vector<NetworkLayer> layers;
    std::vector<std::size_t> children = order_;  // of the layer below: the first host of each
    for (std::size_t layer = 0; layer < depth_; ++layer) {
        const std::size_t level = depth_ - 1 - layer;
        std::vector<std::uint32_t> sizes;
        std::vector<std::size_t> firsts;
        for (const std::size_t host : children) {
            if (firsts.empty() || way_[firsts.back()][level] != way_[host][level]) {
                firsts.push_back(host);
                sizes.push_back(0);
            }
            ++sizes.back();
        }
        // All full but for the last one: a number says it.
        const bool alike = std::all_of(sizes.begin(), sizes.end() - 1, [&](auto size) { return size == sizes[0]; }) &&
                           sizes.back() <= sizes[0];
        NetworkLayer made{.name = layer_name(layer)};
        if (alike)
            made.children = sizes[0];
        else
            made.sizes = sizes;
        layers.push_back(std::move(made));
        children = std::move(firsts);
    }
    return layers;
}

// Hosts of the order that share a domain: those of a block, or one.
std::size_t ClusterMaker::end_of_domain(std::size_t begin) const {
    const std::string& block = tree_.hosts[order_[begin]].block;
    std::size_t end = begin + 1;
    while (!block.empty() && end < order_.size() && tree_.hosts[order_[end]].block == block) ++end;
    return end;
}

// A block has one type, and all its hosts stand in one place of the order.
void ClusterMaker::check_block(std::size_t begin, std::size_t end, std::set<std::string>& before) {
    const TreeHost& first = tree_.hosts[order_[begin]];
    if (first.block.empty()) return;
    const std::string& instance = instance_of_.at(first.type);
    for (std::size_t i = begin; i < end; ++i)
        if (const TreeHost& host = tree_.hosts[order_[i]]; instance_of_.at(host.type) != instance)
            refuse(host,
                   fmt::format("expected block {} to have one instance type, {}", printable(first.block), instance),
                   host.type);
    if (!before.insert(first.block).second)
        refuse(first,
               fmt::format("expected the hosts of block {} below one switch, or at the end of one and the beginning of "
                           "the next",
                           printable(first.block)),
               "");
}

std::vector<DomainBlock> ClusterMaker::domains() {
    std::vector<DomainBlock> blocks;
    std::map<std::pair<std::string, std::uint32_t>, DomainType> known;
    std::set<std::string> before;
    std::map<std::string, std::size_t> alone;  // hosts of a type that could form domains, but whose block is unknown
    for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
        end = end_of_domain(begin);
        check_block(begin, end, before);
        const TreeHost& first = tree_.hosts[order_[begin]];
        const std::pair key{instance_of_.at(first.type), static_cast<std::uint32_t>(end - begin)};
        if (first.block.empty() && largest_domain(key.first) > 1) ++alone[key.first];
        if (!known.contains(key)) try {
                known[key] = domain_of(alone_.at(key.first), key.second, all_);
            } catch (const InputError& error) {
                refuse(first, error.problems.front().expected, fmt::format("{} in block {}", key.second, first.block));
                continue;
            }
        if (!blocks.empty() && blocks.back().type.name == known[key].name && blocks.back().type.instances == key.second)
            ++blocks.back().count;
        else
            blocks.push_back({known[key], 1});
    }
    for (const auto& [instance, count] : alone)
        note(fmt::format("{} of {} in no block: each is an NVLink domain of its own", count, instance));
    stop_if_refused();
    return blocks;
}

Imported ClusterMaker::make() {
    check_names();
    find_types();
    place_blocks();
    fill_layers();
    number_switches();
    order_hosts();
    Imported imported{.cluster = {.name = tree_.file}, .notes = {}};
    imported.cluster.blocks = domains();
    imported.cluster.network.layers = layers();
    for (const std::size_t host : order_) imported.cluster.instance_names.push_back(tree_.hosts[host].name);
    if (depth_ > 0) note("the rates between switches are not known: each layer is taken as non-blocking");
    imported.notes = std::move(tree_.notes);
    return imported;
}

}  // namespace

Imported to_cluster(NetworkTree tree, const Catalogue& catalogue, const std::string& type) {
    return ClusterMaker(std::move(tree), catalogue, type).make();
}

}  // namespace fmsim
