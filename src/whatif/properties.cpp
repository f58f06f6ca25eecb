// The table of properties. Values lie in the machines of the blocks, or in the kinds of a free graph.
#include "properties.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace fmsim {
namespace {

void edit_to(BytesPerSecond& value, std::string_view part, const Edit& edit) { value.value = edit(part, value.value); }
void edit_to(FlopsPerSecond& value, std::string_view part, const Edit& edit) { value.value = edit(part, value.value); }
void edit_to(Bytes& value, std::string_view part, const Edit& edit) {
    value.count = static_cast<std::int64_t>(edit(part, static_cast<double>(value.count)));
}
// A time that stays is not rounded anew.
void edit_to(SimTime& value, std::string_view part, const Edit& edit) {
    const double before = seconds(value), after = edit(part, before);
    if (after != before) value = from_seconds(after);
}
template <class T>
void edit_to(PerProtocol<T>& values, const Edit& edit) {
    for (const Protocol protocol : kProtocols) edit_to(values[protocol], name(protocol), edit);
}

template <class Visit>
void each_instance(Cluster& cluster, Visit visit) {
    for (DomainBlock& block : cluster.blocks) visit(block.type.instance);
}
template <class Visit>
void each_gpu(Cluster& cluster, Visit visit) {
    each_instance(cluster, [&](InstanceType& type) { visit(type.gpu); });
    if (cluster.graph) std::for_each(cluster.graph->gpus.begin(), cluster.graph->gpus.end(), visit);
}
template <class Visit>
void each_nic(Cluster& cluster, std::string_view thing, Visit visit) {
    const auto one = [&](Nic& nic) {
        if (thing == "nic" || is_fabric(thing, nic)) visit(nic);
    };
    each_instance(cluster, [&](InstanceType& type) {
        if (type.nic) one(*type.nic);
    });
    if (cluster.graph) std::for_each(cluster.graph->nics.begin(), cluster.graph->nics.end(), one);
}
template <class Visit>
void each_nvlink(Cluster& cluster, Visit visit) {
    each_instance(cluster, [&](InstanceType& type) {
        if (type.nvlink) visit(*type.nvlink);
    });
    if (cluster.graph) std::for_each(cluster.graph->nvlinks.begin(), cluster.graph->nvlinks.end(), visit);
}
void each_graph_link(Cluster& cluster, LinkKind kind, const Edit& edit) {
    if (!cluster.graph) return;
    for (FreeGraph::Link& link : cluster.graph->links)
        if (link.kind == kind) edit_to(link.rate, "", edit);
}

void nic_bandwidth(Cluster& cluster, std::string_view thing, const Edit& edit) {
    each_nic(cluster, thing, [&](Nic& nic) { edit_to(nic.carries, "", edit); });
}
void nic_latency(Cluster& cluster, std::string_view thing, const Edit& edit) {
    each_nic(cluster, thing, [&](Nic& nic) {
        edit_to(nic.hop_latency, edit);
        edit_to(nic.wire_latency, "wire", edit);
    });
}
void nic_message_cost(Cluster& cluster, std::string_view thing, const Edit& edit) {
    each_nic(cluster, thing, [&](Nic& nic) { edit_to(nic.message_cost, "", edit); });
}
void nvlink_bandwidth(Cluster& cluster, std::string_view, const Edit& edit) {
    each_nvlink(cluster, [&](NvLink& link) { edit_to(link.rate, "", edit); });
    each_graph_link(cluster, LinkKind::nvlink, edit);
}
void nvlink_latency(Cluster& cluster, std::string_view, const Edit& edit) {
    each_nvlink(cluster, [&](NvLink& link) {
        edit_to(link.hop_latency, edit);
        edit_to(link.wire_latency, "wire", edit);
    });
}
void nvswitch_latency(Cluster& cluster, std::string_view, const Edit& edit) {
    each_nvlink(cluster, [&](NvLink& link) { edit_to(link.switch_latency, "", edit); });
}
void pcie_bandwidth(Cluster& cluster, std::string_view, const Edit& edit) {
    each_instance(cluster, [&](InstanceType& type) {
        edit_to(type.pcie_gpu, "gpu", edit);
        edit_to(type.pcie_nic, "nic", edit);
        edit_to(type.pcie_host, "host", edit);
        if (!type.gpudirect && type.pcie_root.value > 0) edit_to(type.pcie_root, "root", edit);
    });
    each_graph_link(cluster, LinkKind::pcie, edit);
}
void numa_bandwidth(Cluster& cluster, std::string_view, const Edit& edit) {
    each_instance(cluster, [&](InstanceType& type) { edit_to(type.numa, "", edit); });
    each_graph_link(cluster, LinkKind::numa, edit);
}
void host_memory_bandwidth(Cluster& cluster, std::string_view, const Edit& edit) {
    each_instance(cluster, [&](InstanceType& type) {
        if (!type.gpudirect && type.numa_memory.value > 0) edit_to(type.numa_memory, "", edit);
    });
}
void gpu_memory_bandwidth(Cluster& cluster, std::string_view, const Edit& edit) {
    each_gpu(cluster, [&](Gpu& gpu) { edit_to(gpu.memory_rate, "", edit); });
}
void gpu_memory(Cluster& cluster, std::string_view, const Edit& edit) {
    each_gpu(cluster, [&](Gpu& gpu) { edit_to(gpu.memory, "", edit); });
}
void gpu_flops(Cluster& cluster, std::string_view, const Edit& edit) {
    each_gpu(cluster, [&](Gpu& gpu) {
        for (auto& [type, rate] : gpu.peak) edit_to(rate, type, edit);
    });
}
void gpu_copy_rate(Cluster& cluster, std::string_view, const Edit& edit) {
    each_gpu(cluster, [&](Gpu& gpu) { edit_to(gpu.channel_rate, edit); });
}
void gpu_launch(Cluster& cluster, std::string_view, const Edit& edit) {
    each_gpu(cluster, [&](Gpu& gpu) { edit_to(gpu.launch, "", edit); });
}
void network_oversubscription(Cluster& cluster, std::string_view, const Edit& edit) {
    for (NetworkLayer& layer : cluster.network.layers)
        layer.oversubscription = edit(layer.name, layer.oversubscription);
}
void network_seed(Cluster& cluster, std::string_view, const Edit& edit) {
    cluster.network.seed = static_cast<std::uint64_t>(edit("", static_cast<double>(cluster.network.seed)));
}

constexpr std::string_view kNicBandwidth = "payload that large writes of a NIC reach, one direction";
constexpr std::string_view kNicLatency = "of a hop between GPUs, by protocol, and of the wire alone (part \"wire\")";
constexpr std::string_view kMessageCost = "of the sender's proxy, for each message of an exchange";

constexpr std::array kProperties{
    Property{"nic", "bandwidth", Unit::rate, ChangeReach::links, nic_bandwidth, kNicBandwidth},
    Property{"nic", "latency", Unit::span, ChangeReach::links, nic_latency, kNicLatency},
    Property{"nic", "message_cost", Unit::span, ChangeReach::links, nic_message_cost, kMessageCost},
    Property{"efa", "bandwidth", Unit::rate, ChangeReach::links, nic_bandwidth, kNicBandwidth},
    Property{"efa", "latency", Unit::span, ChangeReach::links, nic_latency, kNicLatency},
    Property{"efa", "message_cost", Unit::span, ChangeReach::links, nic_message_cost, kMessageCost},
    Property{"infiniband", "bandwidth", Unit::rate, ChangeReach::links, nic_bandwidth, kNicBandwidth},
    Property{"infiniband", "latency", Unit::span, ChangeReach::links, nic_latency, kNicLatency},
    Property{"infiniband", "message_cost", Unit::span, ChangeReach::links, nic_message_cost, kMessageCost},
    Property{"roce", "bandwidth", Unit::rate, ChangeReach::links, nic_bandwidth, kNicBandwidth},
    Property{"roce", "latency", Unit::span, ChangeReach::links, nic_latency, kNicLatency},
    Property{"roce", "message_cost", Unit::span, ChangeReach::links, nic_message_cost, kMessageCost},
    Property{"nvlink", "bandwidth", Unit::rate, ChangeReach::links, nvlink_bandwidth, "of a GPU, one direction"},
    Property{"nvlink", "latency", Unit::span, ChangeReach::links, nvlink_latency,
             "of a hop, by protocol, and \"wire\""},
    Property{"nvswitch", "latency", Unit::span, ChangeReach::links, nvswitch_latency, "of a sum or copy in a switch"},
    Property{"pcie", "bandwidth", Unit::rate, ChangeReach::links, pcie_bandwidth, "of a link; parts gpu, nic, host"},
    Property{"numa", "bandwidth", Unit::rate, ChangeReach::links, numa_bandwidth, "between two NUMA nodes"},
    Property{"numa", "memory_bandwidth", Unit::rate, ChangeReach::links, host_memory_bandwidth,
             "of a NUMA node's memory, without GPUDirect"},
    Property{"gpu", "flops", Unit::flops, ChangeReach::computing, gpu_flops, "published peak, by type: part \"bf16\""},
    Property{"gpu", "memory_bandwidth", Unit::rate, ChangeReach::computing, gpu_memory_bandwidth, "of HBM"},
    Property{"gpu", "memory", Unit::bytes, ChangeReach::memory, gpu_memory, "of HBM; says what fits"},
    Property{"gpu", "copy_rate", Unit::rate, ChangeReach::kernels, gpu_copy_rate, "of a channel's SM, by protocol"},
    Property{"gpu", "launch", Unit::span, ChangeReach::kernels, gpu_launch, "of a kernel of NCCL's"},
    Property{"network", "oversubscription", Unit::number, ChangeReach::network, network_oversubscription,
             "of the layers; a layer's name is a part"},
    Property{"network", "seed", Unit::number, ChangeReach::network, network_seed, "of the hash of flows"},
};

constexpr std::array kNamed{
    NamedDevice{"nic", DeviceKind::nic},           NamedDevice{"gpu", DeviceKind::gpu},
    NamedDevice{"nvswitch", DeviceKind::nvswitch}, NamedDevice{"pcie", DeviceKind::pcie_switch},
    NamedDevice{"numa", DeviceKind::numa},         NamedDevice{"switch", DeviceKind::network_switch},
};

}  // namespace

std::span<const Property> properties() { return kProperties; }
std::span<const NamedDevice> named_devices() { return kNamed; }

bool is_fabric(std::string_view thing, const Nic& nic) {
    return std::equal(thing.begin(), thing.end(), nic.fabric.begin(), nic.fabric.end(), [](char low, char any) {
        return low == static_cast<char>(std::tolower(static_cast<unsigned char>(any)));
    });
}

std::string_view example_of(Unit unit) {
    switch (unit) {
        case Unit::rate:
            return "a rate with a unit, such as 50GB/s";
        case Unit::span:
            return "a time with a unit, such as 1us";
        case Unit::bytes:
            return "a size with a unit, such as 96GB";
        case Unit::flops:
            return "a rate with a unit, such as 989TFLOP/s";
        case Unit::number:
            return "a number";
    }
    return "";
}

std::optional<double> parse_quantity(Unit unit, std::string_view text) {
    switch (unit) {
        case Unit::rate:
            if (const auto rate = parse_rate(text)) return rate->value;
            return {};
        case Unit::span:
            if (const auto span = parse_span(text)) return seconds(*span);
            return {};
        case Unit::bytes:
            if (const auto bytes = parse_bytes(text)) return static_cast<double>(bytes->count);
            return {};
        case Unit::flops:
            if (text.ends_with("/s")) return parse_flops(text.substr(0, text.size() - 2));
            return {};
        case Unit::number:
            break;
    }
    // Of a plain number the work in FLOPs with its unit is the same number.
    return parse_flops(std::string(text) + "FLOP");
}

std::string quantity_text(Unit unit, double value) {
    constexpr double kGiga = 1e9, kMicro = 1e-6, kTera = 1e12;
    switch (unit) {
        case Unit::rate:
            return fmt::format("{:.12g} GB/s", value / kGiga);
        case Unit::span:
            return fmt::format("{:.12g} us", value / kMicro);
        case Unit::bytes:
            return fmt::format("{:.0f} B", value);
        case Unit::flops:
            return fmt::format("{:.12g} TFLOP/s", value / kTera);
        case Unit::number:
            break;
    }
    return fmt::format("{:.12g}", value);
}

}  // namespace fmsim
