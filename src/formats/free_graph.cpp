#include "free_graph.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph_kinds.hpp"
#include "hostlist.hpp"
#include "machine_parts.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr std::array kDevices{DeviceKind::gpu, DeviceKind::nvswitch, DeviceKind::pcie_switch,
                              DeviceKind::nic, DeviceKind::numa,     DeviceKind::network_switch};
constexpr std::array kLinks{LinkKind::nvlink, LinkKind::pcie, LinkKind::numa, LinkKind::network};

// The schema lets no other word through.
template <class Kinds>
auto kind_named(const Kinds& kinds, const std::string& word) {
    for (const auto kind : kinds)
        if (name(kind) == word) return kind;
    return kinds[0];
}

class GraphReader {
public:
    GraphReader(Cluster& cluster, const Spot& spot, const Catalogue& catalogue)
        : cluster_(cluster),
          graph_(cluster.graph.emplace()),
          spot_(spot),
          catalogue_(catalogue),
          gpus_(catalogue, "gpus/", "GPU", graph_.gpus),
          nics_(catalogue, "nics/", "NIC", graph_.nics),
          nvlinks_(catalogue, "links/", "NVLink", graph_.nvlinks) {
        const auto hgx = catalogue.files().find("hgx.json");
        if (hgx == catalogue.files().end()) return;
        const auto json = nlohmann::json::parse(hgx->second, nullptr, false);
        if (!json.is_object() || !json.contains("boards")) return;
        for (const auto& board : json["boards"])
            if (board.is_object()) gpus_.add_word(board.value("name", ""));
    }

    void read() {
        if (spot_.has("nvlink")) nvlinks_.at(spot_["nvlink"], spot_["nvlink"].text(), read_nvlink);
        const Spot machines = spot_["machines"], devices = spot_["devices"], links = spot_["links"];
        for (std::size_t i = 0; i < machines.size(); ++i) add_machines(machines[i]);
        for (std::size_t i = 0; i < devices.size(); ++i) add_devices(devices[i]);
        for (std::size_t i = 0; i < links.size() && !full_; ++i) add_links(links[i]);
        check_ends();
        for (std::size_t i = 0; spot_.has("faults") && i < spot_["faults"].size(); ++i) add_fault(spot_["faults"][i]);
    }

private:
    // The names that a text stands for; none where it is no hostlist.
    std::vector<std::string> names(const Spot& spot) {
        std::vector<std::string> names;
        try {
            names = expand_hosts(spot.name(), {}, kMostHosts);
        } catch (const InputError& error) {
            spot.refuse(error.problems.front().expected);
        }
        if (names.size() <= kMostGraphDevices) return names;
        spot.refuse(fmt::format("expected at most {} devices", kMostGraphDevices));
        names.clear();
        return names;
    }

    void add_machines(const Spot& spot) {
        const CpuVendor cpu = vendor_named(spot["cpu"].text());
        const Bytes buffer = spot.has("buffer") ? spot["buffer"].bytes() : usual_buffer();
        if (buffer.count <= 0) spot["buffer"].refuse("expected a size above 0");
        for (std::string& name : names(spot["name"])) {
            if (!machine_.emplace(name, graph_.machines.size()).second) spot["name"].refuse(twice("machine", name));
            cluster_.instance_names.push_back(name);
            graph_.machines.push_back({std::move(name), cpu, buffer});
        }
    }

    // NCCL's own, which the catalogue has with its HGX boards.
    Bytes usual_buffer() {
        if (buffer_.count == 0) buffer_ = catalogue_.instance("hgx-h100").simple_buffer;
        return buffer_;
    }

    static std::string twice(std::string_view what, const std::string& name) {
        return fmt::format("expected each {} once, and \"{}\" stands twice", what, printable(name));
    }

    void add_devices(const Spot& spot) {
        const DeviceKind kind = kind_named(kDevices, spot["device"].text());
        std::vector<std::string> all = names(spot["name"]);
        if (graph_.devices.size() + all.size() > kMostGraphDevices) {
            if (!full_) spot["name"].refuse(fmt::format("expected at most {} devices", kMostGraphDevices));
            full_ = true;
            return;
        }
        const std::uint32_t part = part_of(kind, spot);
        const auto machines = machines_of(kind, spot, all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto number = static_cast<std::uint32_t>(graph_.devices.size());
            if (!device_.emplace(all[i], number).second) spot["name"].refuse(twice("device", all[i]));
            where_.push_back(entries_.size());
            graph_.devices.push_back(
                {std::move(all[i]), kind, machines.empty() ? FreeGraph::kNone : machines[i], part});
        }
        entries_.push_back(spot);
    }

    std::uint32_t part_of(DeviceKind kind, const Spot& spot) {
        const bool wants_kind = kind == DeviceKind::gpu || kind == DeviceKind::nic;
        if (!spot.has("kind")) {
            if (wants_kind)
                spot["device"].refuse(
                    "expected a key \"kind\" beside it: a kind of the catalogue, such as \"h100\" or "
                    "\"infiniband-400g\"");
            if (kind == DeviceKind::nvswitch && !spot_.has("nvlink"))
                spot["device"].refuse(
                    "expected a key \"kind\" beside it, or \"nvlink\" of the graph: an NVLink of the "
                    "catalogue");
            return 0;
        }
        const Spot said = spot["kind"];
        if (kind == DeviceKind::gpu) return gpus_.at(said, gpu_kind(said.text()), read_gpu);
        if (kind == DeviceKind::nic) return nics_.at(said, said.text(), read_nic);
        if (kind == DeviceKind::nvswitch) return nvlinks_.at(said, said.text(), read_nvlink);
        said.refuse("expected a kind of a GPU, a NIC or an NVSwitch only");
        return 0;
    }

    // "h100" is the GPU of the HGX board of that name.
    std::string gpu_kind(const std::string& word) const {
        if (catalogue_.files().contains(fmt::format("gpus/{}.json", word))) return word;
        try {
            return catalogue_.instance(fmt::format("hgx-{}", word)).gpu.name;
        } catch (const InputError&) {
            return word;
        }
    }

    std::vector<std::uint32_t> machines_of(DeviceKind kind, const Spot& spot, std::size_t count) {
        if (!spot.has("machine")) {
            if (kind != DeviceKind::nvswitch && kind != DeviceKind::network_switch)
                spot["device"].refuse("expected a key \"machine\" beside it: the machine that has it");
            return {};
        }
        if (kind == DeviceKind::network_switch) spot["machine"].refuse("expected no machine of a network switch");
        std::vector<std::uint32_t> machines;
        for (const std::string& name : names(spot["machine"])) {
            const auto known = machine_.find(name);
            if (known == machine_.end()) {
                spot["machine"].refuse(unknown("a machine of the graph", name, keys(machine_)));
                return std::vector<std::uint32_t>(count, 0);
            }
            machines.push_back(static_cast<std::uint32_t>(known->second));
        }
        if (machines.empty() || count % machines.size() != 0) {
            spot["machine"].refuse(fmt::format("expected machines that {} devices can be shared out over", count));
            return std::vector<std::uint32_t>(count, 0);
        }
        return stretched(machines, count);
    }

    // A hundred thousand names are compared with a few words only.
    template <class Map>
    std::vector<std::string> keys(const Map& map) {
        if (++unknown_ > 20) return {};
        std::vector<std::string> keys;
        for (const auto& [key, value] : map) keys.push_back(key);
        return keys;
    }

    static std::vector<std::uint32_t> stretched(const std::vector<std::uint32_t>& list, std::size_t count) {
        std::vector<std::uint32_t> all;
        for (const std::uint32_t item : list) all.insert(all.end(), count / list.size(), item);
        return all;
    }

    std::vector<std::uint32_t> ends_of(const Spot& spot, LinkKind kind) {
        std::vector<std::uint32_t> ends;
        for (const std::string& word : names(spot)) {
            const auto known = device_.find(word);
            if (known == device_.end()) {
                spot.refuse(unknown("a device of the graph", word, keys(device_)));
                return {};
            }
            if (!may_end(kind, graph_.devices[known->second].kind)) {
                spot.refuse(fmt::format("expected an end of a link of kind \"{}\", and \"{}\" is a {}", name(kind),
                                        printable(word), name(graph_.devices[known->second].kind)));
                return {};
            }
            ends.push_back(known->second);
        }
        return ends;
    }

    static bool may_end(LinkKind link, DeviceKind end) {
        if (link == LinkKind::nvlink) return end == DeviceKind::gpu || end == DeviceKind::nvswitch;
        if (link == LinkKind::network) return end == DeviceKind::nic || end == DeviceKind::network_switch;
        return end != DeviceKind::nvswitch && end != DeviceKind::network_switch;
    }

    void add_links(const Spot& spot) {
        const LinkKind kind = kind_named(kLinks, spot["kind"].text());
        const BytesPerSecond rate = spot["rate"].rate();
        const std::uint32_t count = spot.has("count") ? spot["count"].count() : 1;
        auto from = ends_of(spot["from"], kind), to = ends_of(spot["to"], kind);
        if (from.empty() || to.empty()) return;
        const std::size_t longest = std::max(from.size(), to.size());
        if (longest % from.size() != 0 || longest % to.size() != 0)
            return spot["to"].refuse(
                fmt::format("expected as many devices as \"from\" has, {}, or a part or a multiple "
                            "of it, not {}",
                            from.size(), to.size()));
        from = stretched(from, longest);
        to = stretched(to, longest);
        for (std::size_t i = 0; i < longest; ++i)
            if (!add_link(spot, {from[i], to[i], kind, rate, count})) return;
        if (kind == LinkKind::nvlink && !spot_.has("nvlink") && !has_switch(from, to))
            spot["kind"].refuse(
                "expected a key \"nvlink\" of the graph: an NVLink of the catalogue, for links without "
                "an NVSwitch");
    }

    bool has_switch(const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to) const {
        const auto is_switch = [&](std::uint32_t device) {
            return graph_.devices[device].kind == DeviceKind::nvswitch;
        };
        for (std::size_t i = 0; i < from.size(); ++i)
            if (!is_switch(from[i]) && !is_switch(to[i])) return false;
        return true;
    }

    bool add_link(const Spot& spot, const FreeGraph::Link& link) {
        const FreeGraph::Device& from = graph_.devices[link.from];
        const FreeGraph::Device& to = graph_.devices[link.to];
        const bool inside = link.kind == LinkKind::pcie || link.kind == LinkKind::numa;
        std::string wrong;
        if (link.from == link.to) wrong = "expected another device than the link comes from";
        if (inside && from.machine != to.machine)
            wrong = fmt::format("expected devices of one machine, and \"{}\" and \"{}\" are not", printable(from.name),
                                printable(to.name));
        if (wrong.empty() && !joined_.insert({std::minmax(link.from, link.to), link.kind}).second)
            wrong = fmt::format("expected each link once, with a count, and \"{}\" and \"{}\" have one",
                                printable(from.name), printable(to.name));
        if (wrong.empty() && (cables_ += link.kind == LinkKind::network ? link.count : 1) > kMostGraphLinks) {
            wrong = fmt::format("expected at most {} links", kMostGraphLinks);
            full_ = true;
        }
        if (!wrong.empty()) {
            spot["to"].refuse(std::move(wrong));
            return false;
        }
        graph_.links.push_back(link);
        return true;
    }

    // A NIC leads from a machine into the network, or it has no use.
    void check_ends() {
        std::vector<std::uint8_t> has_pcie(graph_.devices.size()), has_network(graph_.devices.size());
        for (const FreeGraph::Link& link : graph_.links) {
            auto& of_kind = link.kind == LinkKind::network ? has_network : has_pcie;
            if (link.kind != LinkKind::nvlink) of_kind[link.from] = of_kind[link.to] = 1;
        }
        for (std::size_t d = 0; d < graph_.devices.size() && !full_; ++d) {
            if (graph_.devices[d].kind != DeviceKind::nic || (has_pcie[d] && has_network[d])) continue;
            entries_[where_[d]]["name"].refuse(fmt::format("expected a link of kind \"{}\" of NIC \"{}\"",
                                                           has_pcie[d] ? "network" : "pcie",
                                                           printable(graph_.devices[d].name)));
        }
    }

    // As a fault of trees: the device by its number among its kind, in its machine where it has one to itself.
    void add_fault(const Spot& spot) {
        const std::string word = spot["device"].text();
        const auto known = device_.find(word);
        if (known == device_.end()) return spot["device"].refuse(unknown("a device of the graph", word, keys(device_)));
        const FreeGraph::Device& broken = graph_.devices[known->second];
        const bool free = broken.kind == DeviceKind::nvswitch || broken.kind == DeviceKind::network_switch;
        std::uint32_t index = 0;
        for (std::uint32_t d = 0; d < known->second; ++d)
            index += graph_.devices[d].kind == broken.kind && (free || graph_.devices[d].machine == broken.machine);
        cluster_.faults.push_back({.kind = broken.kind,
                                   .instance = free ? 0 : broken.machine,
                                   .index = index,
                                   .fraction = spot["rate"].number()});
    }

    Cluster& cluster_;
    FreeGraph& graph_;
    const Spot& spot_;
    const Catalogue& catalogue_;
    Kinds<Gpu> gpus_;
    Kinds<Nic> nics_;
    Kinds<NvLink> nvlinks_;
    Bytes buffer_{};
    std::map<std::string, std::size_t> machine_;
    std::map<std::string, std::uint32_t> device_;
    std::vector<Spot> entries_;
    std::vector<std::size_t> where_;  // of a device: its entry
    std::set<std::pair<std::pair<std::uint32_t, std::uint32_t>, LinkKind>> joined_;
    std::size_t cables_ = 0;
    std::size_t unknown_ = 0;
    bool full_ = false;
};

}  // namespace

void read_graph(Cluster& cluster, const Spot& spot, const Catalogue& catalogue) {
    GraphReader(cluster, spot, catalogue).read();
}

}  // namespace fmsim
