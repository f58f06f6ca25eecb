// A cluster as a file of our own (schemas/cluster.json), which formats reads back to the same cluster.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fmsim/report.hpp"
#include "hostlist.hpp"

namespace fmsim {
namespace {

using Json = nlohmann::ordered_json;

// A decimal number that reads back as the same double.
std::string rate_text(BytesPerSecond rate) { return fmt::format("{} B/s", rate.value); }

const char* cpu_name(CpuVendor cpu) {
    return cpu == CpuVendor::amd ? "amd" : cpu == CpuVendor::intel ? "intel" : "arm";
}

Json instance_json(const InstanceType& type) {
    Json json;
    json["gpus"] = type.gpus;
    json["nics"] = type.nics;
    json["rails"] = type.rails;
    if (type.nvlink) json["nvlink_rate"] = rate_text(type.nvlink->rate);
    json["pcie_gpu_rate"] = rate_text(type.pcie_gpu);
    if (type.nics > 0) json["pcie_nic_rate"] = rate_text(type.pcie_nic);
    json["pcie_host_rate"] = rate_text(type.pcie_host);
    json["cpu"] = cpu_name(type.cpu);
    json["gpudirect"] = type.gpudirect;
    Json switches = Json::array();
    for (const PcieSwitch& pcie : type.switches)
        switches.push_back({{"numa", pcie.numa}, {"gpus", pcie.gpus}, {"nics", pcie.nics}});
    json["switches"] = std::move(switches);
    return json;
}

Json domain_json(const DomainBlock& block, bool with_instances) {
    const DomainType& type = block.type;
    Json json{{"type", type.name}};
    // A domain that has no name of its own has that of its instance type.
    if (type.instances > 1 && type.name == type.instance.name) json["instances"] = type.instances;
    json["count"] = block.count;
    if (with_instances) json["instance"] = instance_json(type.instance);
    return json;
}

Json layer_json(const NetworkLayer& layer) {
    Json json{{"name", layer.name}};
    if (layer.sizes.empty())
        json["children"] = layer.children;
    else
        json["sizes"] = layer.sizes;
    if (layer.oversubscription != 1) json["oversubscription"] = layer.oversubscription;
    if (layer.uplinks != 1) json["uplinks"] = layer.uplinks;
    if (layer.rail_optimized) json["rail_optimized"] = true;
    return json;
}

const std::string& part_name(const FreeGraph& graph, const FreeGraph::Device& device) {
    return device.kind == DeviceKind::gpu   ? graph.gpus[device.part].name
           : device.kind == DeviceKind::nic ? graph.nics[device.part].name
                                            : graph.nvlinks[device.part].name;
}

Json graph_json(const FreeGraph& graph) {
    Json json;
    if (!graph.nvlinks.empty()) json["nvlink"] = graph.nvlinks[0].name;
    for (const FreeGraph::Machine& machine : graph.machines)
        json["machines"].push_back({{"name", machine.name},
                                    {"cpu", cpu_name(machine.cpu)},
                                    {"buffer", fmt::format("{} B", machine.simple_buffer.count)}});
    for (const FreeGraph::Device& device : graph.devices) {
        Json one{{"name", device.name}, {"device", name(device.kind)}};
        if (device.kind == DeviceKind::gpu || device.kind == DeviceKind::nic || device.kind == DeviceKind::nvswitch)
            one["kind"] = part_name(graph, device);
        if (device.machine != FreeGraph::kNone) one["machine"] = graph.machines[device.machine].name;
        json["devices"].push_back(std::move(one));
    }
    json["links"] = Json::array();
    for (const FreeGraph::Link& link : graph.links) {
        Json one{{"from", graph.devices[link.from].name},
                 {"to", graph.devices[link.to].name},
                 {"kind", name(link.kind)},
                 {"rate", rate_text(link.rate)}};
        if (link.count != 1) one["count"] = link.count;
        json["links"].push_back(std::move(one));
    }
    return json;
}

// Faults of a graph have the names of their devices.
Json graph_faults(const Cluster& cluster) {
    Json faults = Json::array();
    for (const Fault& fault : cluster.faults) {
        std::uint32_t index = 0;
        for (const FreeGraph::Device& device : cluster.graph->devices) {
            const bool free = device.kind == DeviceKind::nvswitch || device.kind == DeviceKind::network_switch;
            if (device.kind != fault.kind || (!free && device.machine != fault.instance)) continue;
            if (index++ == fault.index) faults.push_back({{"device", device.name}, {"rate", fault.fraction}});
        }
    }
    return faults;
}

std::string graph_file(const Cluster& cluster) {
    Json json;
    json["name"] = cluster.name;
    json["graph"] = graph_json(*cluster.graph);
    if (!cluster.faults.empty()) json["graph"]["faults"] = graph_faults(cluster);
    if (cluster.network.seed != 0) json["network"]["seed"] = cluster.network.seed;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Like nlohmann's dump(2), but lists of numbers or texts stand in one line.
void dump(const Json& json, const std::string& indent, std::string& out) {
    const auto flat = [](const Json& list) {
        for (const Json& item : list)
            if (item.is_structured()) return false;
        return true;
    };
    if (!json.is_structured() || (json.is_array() && flat(json))) {
        out += json.is_array() ? "[" : json.dump(-1, ' ', false, Json::error_handler_t::replace);
        if (!json.is_array()) return;
        for (const Json& item : json) {
            if (&item != &json.front()) out += ", ";
            dump(item, "", out);
        }
        out += "]";
        return;
    }
    out += json.is_array() ? "[" : "{";
    const std::string inside = indent + "  ";
    bool first = true;
    for (const auto& [key, item] : json.items()) {
        out += (first ? "\n" : ",\n") + inside;
        if (json.is_object()) out += Json(key).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
        dump(item, inside, out);
        first = false;
    }
    out += "\n" + indent + (json.is_array() ? "]" : "}");
}

}  // namespace

std::string to_cluster_file(const Cluster& cluster, bool with_instances) {
    if (cluster.graph) return graph_file(cluster);
    Json json;
    json["name"] = cluster.name;
    for (const DomainBlock& block : cluster.blocks) json["domains"].push_back(domain_json(block, with_instances));
    if (!cluster.instance_names.empty()) json["names"] = folded_hosts(cluster.instance_names);
    for (const NetworkLayer& layer : cluster.network.layers) json["network"]["layers"].push_back(layer_json(layer));
    if (cluster.network.seed != 0) json["network"]["seed"] = cluster.network.seed;
    for (const Fault& fault : cluster.faults)
        json["faults"].push_back({{"device", name(fault.kind)},
                                  {"instance", fault.instance},
                                  {"index", fault.index},
                                  {"rate", fault.fraction}});
    if (cluster.rail_policy != RailPolicy::keep) json["rail_policy"] = name(cluster.rail_policy);
    std::string text;
    dump(json, "", text);
    return text + "\n";
}

}  // namespace fmsim
