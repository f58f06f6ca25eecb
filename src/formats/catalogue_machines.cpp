// The catalogue's machines: files of instances and domains -> their types, and words on the command line -> clusters.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fmsim/formats.hpp"
#include "hgx.hpp"
#include "machine_names.hpp"
#include "machine_parts.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr std::string_view kInstances = "instances/";
constexpr std::string_view kDomains = "domains/";
constexpr std::string_view kSuffix = ".json";
constexpr std::uint64_t kMostGpus = 1'000'000;

std::string path_of(std::string_view folder, std::string_view name) {
    return fmt::format("{}{}{}", folder, name, kSuffix);
}

struct Machine {
    InstanceType type;
    Searches searches;
};

std::vector<PcieSwitch> switches_of(const Spot& list) {
    std::vector<PcieSwitch> switches;
    for (std::size_t i = 0; i < list.size(); ++i)
        switches.push_back({list[i]["numa"].count(), counts(list[i]["gpus"]), counts(list[i]["nics"])});
    return switches;
}

void read_nics(const Files& files, const std::string& path, const Spot& nics, InstanceType& type) {
    type.nic = read_nic(files, value(nics["kind"]).text(), path);
    type.nics = value(nics["count"]).count();
    type.rails = value(nics["rails"]).count();
    type.pcie_nic = value(nics["pcie_rate"]).rate();
}

std::optional<Price> price_of(const Spot& prices, const std::string& key) {
    if (!prices.has(key)) return std::nullopt;
    return Price{value(prices[key]).number(), prices[key]["date"].text()};
}

InstanceType type_of(const Files& files, const std::string& path, const Spot& root) {
    const Spot pcie = root["pcie"];
    InstanceType type{.name = root["name"].text(),
                      .gpu = read_gpu(files, value(root["gpu"]).text(), path),
                      .gpus = value(root["gpus"]).count(),
                      .pcie_gpu = value(pcie["gpu_rate"]).rate(),
                      .pcie_host = value(pcie["host_rate"]).rate(),
                      .numa = value(pcie["numa_rate"]).rate(),
                      .pcie_root = value(pcie["root_rate"]).rate(),
                      .numa_memory = value(pcie["memory_rate"]).rate(),
                      .switches = switches_of(value(pcie["switches"])),
                      .cpu = cpu_of(root["cpu"]),
                      .gpudirect = value(root["gpudirect"]).json().get<bool>(),
                      .host_memory = value(root["host_memory"]).bytes(),
                      .simple_buffer = value(root["nccl"]["buffer"]).bytes()};
    if (root.has("nvlink")) type.nvlink = read_nvlink(files, value(root["nvlink"]).text(), path);
    if (root.has("nics")) read_nics(files, path, root["nics"], type);
    if (root.has("drives")) read_drives(root["drives"], type);
    const auto chunk = [&](const char* key) {
        return root["nccl"].has(key) ? std::optional(value(root["nccl"][key]).bytes()) : std::nullopt;
    };
    type.p2p_net_chunk = chunk("p2p_net_chunk");
    type.nvls_chunk = chunk("nvls_chunk");
    type.nvls_tree_chunk = chunk("nvls_tree_chunk");
    if (root.has("price")) {
        type.on_demand = price_of(root["price"], "on_demand_usd_an_hour");
        type.capacity_block = price_of(root["price"], "capacity_block_usd_an_hour");
    }
    return type;
}

Machine read_machine(const Files& files, const std::string& path, const std::string& wanted_by) {
    Document document(text_of(files, path, wanted_by), path, "instance");
    Machine machine{.type = type_of(files, path, document.root()), .searches = searches_of(document.root()["nccl"])};
    document.finish();
    return machine;
}

DomainType domain_of(std::string name, Machine machine, std::uint32_t instances) {
    const auto filled = [&](std::optional<RingSearch>& found, bool alone) {
        return found ? std::move(*found) : default_search(machine.type, instances, alone);
    };
    DomainType domain{.name = std::move(name),
                      .instance = {},
                      .instances = instances,
                      .alone = filled(machine.searches.alone, true),
                      .several = filled(machine.searches.several, false),
                      .alone_graphs = machine.searches.alone_graphs,
                      .several_graphs = machine.searches.several_graphs};
    domain.instance = std::move(machine.type);
    return domain;
}

DomainType read_domain(const Files& files, const std::string& path) {
    Document document(text_of(files, path, path), path, "domain");
    const Spot root = document.root();
    // What NCCL finds in one instance says nothing about several that NVLink joins.
    Machine machine{
        .type = read_machine(files, path_of(kInstances, value(root["instance"]).text()), path).type,
        .searches = root.has("nccl") ? searches_of(root["nccl"]) : Searches{},
    };
    DomainType domain = domain_of(root["name"].text(), std::move(machine), value(root["instances"]).count());
    document.finish();
    return domain;
}

[[noreturn]] void refuse_unknown(std::string_view name, const std::vector<std::string>& known) {
    const auto meant = nearest(name, known);
    refuse_words(name, meant ? fmt::format("no such machine; did you mean \"{}\"?", *meant)
                             : fmt::format("expected a machine: {}, or a name such as \"hgx-h100-8x400\"",
                                           fmt::join(known, ", ")));
}

}  // namespace

std::vector<std::string> Catalogue::names() const {
    std::vector<std::string> names;
    for (const auto& [path, text] : files_)
        for (const std::string_view folder : {kInstances, kDomains})
            if (path.starts_with(folder))
                names.push_back(path.substr(folder.size(), path.size() - folder.size() - kSuffix.size()));
    std::sort(names.begin(), names.end());
    return names;
}

InstanceType Catalogue::instance(std::string_view name) const {
    if (is_hgx_name(name)) return hgx_machine(files_, name);
    const std::string path = path_of(kInstances, name);
    if (files_.contains(path_of(kDomains, name)))
        refuse_words(name, "expected one instance; this is what several form together");
    if (!files_.contains(path)) refuse_unknown(name, names());
    return read_machine(files_, path, path).type;
}

DomainType Catalogue::domain(std::string_view name) const {
    if (is_hgx_name(name)) return domain_of(std::string(name), {hgx_machine(files_, name), {}}, 1);
    if (const std::string path = path_of(kDomains, name); files_.contains(path)) return read_domain(files_, path);
    const std::string path = path_of(kInstances, name);
    if (!files_.contains(path)) refuse_unknown(name, names());
    return domain_of(std::string(name), read_machine(files_, path, path), 1);
}

Cluster Catalogue::cluster(std::string_view words) const {
    const CountedName wanted = split_count(words);
    Cluster cluster{.name = std::string(words)};
    cluster.blocks.push_back({domain(wanted.name), wanted.count});
    const std::uint64_t gpus = std::uint64_t{wanted.count} * cluster.blocks[0].type.gpus();
    if (gpus > kMostGpus)
        refuse_words(words, fmt::format("expected a cluster of at most {} GPUs; this would have {}", kMostGpus, gpus));
    return cluster;
}

}  // namespace fmsim
