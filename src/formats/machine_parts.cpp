#include "machine_parts.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace fmsim {
namespace {

using Spot = Document::Spot;

// The file of that name, read whole.
template <class Read>
auto read_part(const Files& files, std::string_view folder, std::string_view schema, const std::string& name,
               const std::string& wanted_by, Read read) {
    const std::string path = fmt::format("{}/{}.json", folder, name);
    Document document(text_of(files, path, wanted_by), path, std::string(schema));
    auto part = read(document.root());
    document.finish();
    return part;
}

FlopsPerSecond flops(const Spot& spot) {
    struct Unit {
        std::string_view name;
        double factor;
    };
    static constexpr std::array kUnits{Unit{" GFLOP/s", 1e9}, Unit{" TFLOP/s", 1e12}, Unit{" PFLOP/s", 1e15}};
    const std::string text = spot.text();
    double number{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    for (const Unit& unit : kUnits)
        if (error == std::errc{} && number > 0 && rest == unit.name) return {number * unit.factor};
    spot.refuse("expected a speed above 0 with a unit, such as \"989 TFLOP/s\"");
    return {1};
}

Gpu gpu_of(const Spot& root) {
    Gpu gpu{.name = root["name"].text(),
            .compute_capability = value(root["compute_capability"]).count(),
            .memory = value(root["memory"]).bytes(),
            .memory_rate = value(root["memory_rate"]).rate(),
            .peak = {},
            .sms = value(root["sms"]).count()};
    const Spot peak = root["peak"];
    for (const auto& [type, leaf] : peak.json().items())
        if (!type.starts_with("x-")) gpu.peak[type] = flops(value(peak[type]));
    return gpu;
}

// What a channel's SM does, which all GPUs of a generation share.
void read_channels(const Spot& root, Gpu& gpu) {
    const auto number = [](const Spot& s) { return s.number(); };
    gpu.channel_rate = per_protocol<BytesPerSecond>(root["rate"], [](const Spot& s) { return s.rate(); });
    gpu.launch = value(root["launch"]).span();
    gpu.unit_cost = spans(root["unit_cost"]);
    gpu.receive_share = value(root["receive_share"]).number();
    gpu.transfer_share = per_protocol<double>(root["transfer_share"], number);
    const Spot fan = value(root["tree_fan_cost"]);
    for (std::size_t i = 0; i < gpu.tree_fan_cost.size(); ++i) gpu.tree_fan_cost[i] = fan[i].number();
}

NvLink nvlink_of(const Spot& root) {
    return {.name = root["name"].text(),
            .rate = value(root["rate"]).rate(),
            .efficiency = value(root["ring_efficiency"]).number(),
            .hop_latency = spans(root["hop_latency"]),
            .wire_latency = value(root["wire_latency"]).span(),
            .multicast = value(root["multicast"]).json().get<bool>(),
            .switch_efficiency = root.has("switch_efficiency") ? value(root["switch_efficiency"]).number() : 1,
            .switch_latency = root.has("switch_latency") ? value(root["switch_latency"]).span() : SimTime{},
            .switch_chunk_cost = root.has("switch_chunk_cost") ? value(root["switch_chunk_cost"]).span() : SimTime{},
            .switch_block_cost = root.has("switch_block_cost") ? value(root["switch_block_cost"]).span() : SimTime{}};
}

Nic nic_of(const Spot& root) {
    return {.name = root["name"].text(),
            .fabric = value(root["fabric"]).text(),
            .spreading = value(root["spreading"]).text() == "hash" ? Spreading::hash : Spreading::spray,
            .rate = value(root["rate"]).rate(),
            .carries = value(root["carries"]).rate(),
            .hop_latency = spans(root["hop_latency"]),
            .hop_spread = root.has("hop_spread") ? value(root["hop_spread"]).span() : SimTime{},
            .wire_latency = value(root["wire_latency"]).span(),
            .message_cost = value(root["message_cost"]).span(),
            .stripe = root.has("stripe") ? value(root["stripe"]).bytes() : Bytes{},
            .reported_latency = value(root["reported_latency"]).span()};
}

RingSearch search_of(const Spot& spot) {
    RingSearch search{.paths = {},
                      .crosses_nics = value(spot["crosses_nics"]).json().get<bool>(),
                      .intra = value(spot["path_intra_rate"]).rate(),
                      .inter = value(spot["path_inter_rate"]).rate()};
    const Spot paths = value(spot["paths"]);
    for (std::size_t i = 0; i < paths.size(); ++i)
        search.paths.push_back({counts(paths[i]["gpus"]), paths[i]["enter"].count(), paths[i]["leave"].count()});
    return search;
}

template <class All>
auto named(const All& all, const std::string& word) {
    for (const auto& one : all)
        if (name(one) == word) return one;
    return all.front();  // the schema knows the names
}

GraphSearch graph_of(const Spot& graph) {
    return {.channels = graph["channels"].count(),
            .intra = graph["intra"].rate(),
            .inter = graph["inter"].rate(),
            .intra_type = named(kPathTypes, graph["intra_type"].text()),
            .inter_type = named(kPathTypes, graph["inter_type"].text()),
            .pattern = named(kGraphPatterns, graph["pattern"].text()),
            .same_channels = graph["same_channels"].json().get<bool>(),
            .net_latency = {}};
}

PublishedGraphs graphs_of(const Spot& spot) {
    PublishedGraphs graphs;
    if (spot.has("ring")) graphs.ring = graph_of(value(spot["ring"]));
    if (spot.has("tree")) graphs.tree = graph_of(value(spot["tree"]));
    if (spot.has("nvls")) graphs.nvls = graph_of(value(spot["nvls"]));
    return graphs;
}

}  // namespace

const std::string& text_of(const Files& files, const std::string& path, const std::string& wanted_by) {
    const auto found = files.find(path);
    if (found == files.end())
        throw InputError({{.file = wanted_by,
                           .line = 0,
                           .pointer = "",
                           .expected = "expected a file of the catalogue",
                           .found = path}});
    return found->second;
}

Gpu read_gpu(const Files& files, const std::string& name, const std::string& wanted_by) {
    std::string channels;
    Gpu gpu = read_part(files, "gpus", "gpu", name, wanted_by, [&](const Spot& root) {
        channels = value(root["channels"]).text();
        return gpu_of(root);
    });
    return read_part(files, "channels", "channels", channels, "gpus/" + name + ".json", [&](const Spot& root) {
        read_channels(root, gpu);
        return gpu;
    });
}
NvLink read_nvlink(const Files& files, const std::string& name, const std::string& wanted_by) {
    return read_part(files, "links", "nvlink", name, wanted_by, nvlink_of);
}
Nic read_nic(const Files& files, const std::string& name, const std::string& wanted_by) {
    return read_part(files, "nics", "nic", name, wanted_by, nic_of);
}

CpuVendor vendor_named(std::string_view word) {
    return word == "amd" ? CpuVendor::amd : word == "intel" ? CpuVendor::intel : CpuVendor::arm;
}

CpuVendor cpu_of(const Spot& leaf) { return vendor_named(value(leaf).text()); }

std::vector<std::uint32_t> counts(const Spot& list) {
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < list.size(); ++i) numbers.push_back(list[i].count());
    return numbers;
}

void read_drives(const Spot& drives, InstanceType& type) {
    type.drives = value(drives["count"]).count();
    type.drive = value(drives["size"]).bytes();
}

Searches searches_of(const Spot& nccl) {
    Searches searches;
    if (nccl.has("alone")) searches.alone = search_of(nccl["alone"]);
    if (nccl.has("several")) searches.several = search_of(nccl["several"]);
    if (!nccl.has("graphs")) return searches;
    const Spot graphs = nccl["graphs"];
    if (graphs.has("alone")) searches.alone_graphs = graphs_of(graphs["alone"]);
    if (graphs.has("several")) searches.several_graphs = graphs_of(graphs["several"]);
    return searches;
}

}  // namespace fmsim
