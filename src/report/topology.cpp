// A cluster for people (a tree with rates), for programs (JSON, CSV of its links) and for Graphviz.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "fmsim/report.hpp"
#include "table.hpp"

namespace fmsim {
namespace {

std::string gbytes(BytesPerSecond rate) { return fmt::format("{:.6g} GB/s", rate.value * 1e-9); }
std::string gbits(double bytes_a_second) {
    const double gigabits = bytes_a_second * 8e-9;
    return gigabits >= 1000 ? fmt::format("{:.6g} Tb/s", gigabits / 1000) : fmt::format("{:.6g} Gb/s", gigabits);
}

std::string numbers(const std::vector<std::uint32_t>& list) {
    const bool run = list.size() > 2 && list.back() - list.front() + 1 == list.size();
    return run ? fmt::format("{}-{}", list.front(), list.back()) : fmt::format("{}", fmt::join(list, ","));
}

std::string below_each(const NetworkLayer& layer) {
    if (layer.sizes.empty()) return fmt::format("{}", layer.children);
    const auto [least, most] = std::minmax_element(layer.sizes.begin(), layer.sizes.end());
    return fmt::format("{}-{}", *least, *most);
}

std::string instance_text(const InstanceType& type) {
    std::string text =
        fmt::format("    {} x {}, {} GiB of HBM each\n", type.gpus, type.gpu.name, type.gpu.memory.count >> 30);
    if (type.nvlink)
        text += fmt::format("    NVLink: {} a GPU and direction ({} carried){}\n", gbytes(type.nvlink->rate),
                            gbytes(type.nvlink->carries()), type.nvlink->multicast ? ", multicast" : "");
    if (type.nic)
        text += fmt::format("    {} x {} {}: {} in all ({} carried each), {} group{} of {}\n", type.nics,
                            type.nic->fabric, gbits(type.nic->rate.value), gbits(type.nic->rate.value * type.nics),
                            gbytes(type.nic->carries), type.groups(), type.groups() == 1 ? "" : "s", type.rails);
    for (std::size_t s = 0; s < type.switches.size(); ++s) {
        const PcieSwitch& pcie = type.switches[s];
        if (type.pcie_host.value == 0) {  // of a graph, where only what is nearest to what is known
            if (!pcie.nics.empty())
                text += fmt::format("      GPU {} ({}) beside NIC {} ({} each)\n", numbers(pcie.gpus),
                                    gbytes(type.pcie_gpu), numbers(pcie.nics), gbytes(type.pcie_nic));
            continue;
        }
        text += fmt::format("      pcie{} on NUMA {}: GPU {} ({})", s, pcie.numa, numbers(pcie.gpus),
                            gbytes(type.pcie_gpu));
        if (!pcie.nics.empty()) text += fmt::format(", NIC {} ({} each)", numbers(pcie.nics), gbytes(type.pcie_nic));
        text += fmt::format(", host ({})\n", gbytes(type.pcie_host));
    }
    return text;
}

std::string cuts_text(const std::vector<NamedCut>& cuts) {
    std::string text;
    for (const NamedCut& cut : cuts) text += fmt::format("  cut {}: {}\n", cut.name, gbytes(cut.rate));
    return text;
}

// What there is in all, the links of each kind by their rates, and what is broken.
std::string graph_text(const Topology& topology) {
    const FreeGraph& graph = *topology.cluster.graph;
    std::map<DeviceKind, std::uint32_t> devices;
    for (const FreeGraph::Device& device : graph.devices) ++devices[device.kind];
    std::string text =
        fmt::format("  graph of {} machine{}:", graph.machines.size(), graph.machines.size() == 1 ? "" : "s");
    for (const auto& [kind, count] : devices) text += fmt::format(" {} {}", count, name(kind));
    text += "\n";
    std::map<std::tuple<LinkKind, double, std::uint32_t>, std::uint32_t> links;
    for (const FreeGraph::Link& link : graph.links) ++links[{link.kind, link.rate.value, link.count}];
    for (const auto& [link, count] : links)
        text += fmt::format("  {} x {}: {} x {}\n", count, name(std::get<0>(link)), std::get<2>(link),
                            gbytes({std::get<1>(link)}));
    for (const Fault& fault : topology.cluster.faults)
        text +=
            fmt::format("  fault: {} at {:g} of its rate\n",
                        printable(topology.name(topology.device(fault.kind, InstanceId{fault.instance}, fault.index))),
                        fault.fraction);
    return text;
}

std::string text_of(const TopologyReport& report) {
    const Cluster& cluster = report.topology->cluster;
    std::string text =
        fmt::format("{}: {} GPUs in {} NVLink domain{}\n", printable(cluster.name), report.topology->gpus(),
                    report.topology->domains(), report.topology->domains() == 1 ? "" : "s");
    for (const DomainBlock& block : cluster.blocks) {
        text += fmt::format("  {} x {}", block.count, block.type.name);
        if (block.type.instances > 1)
            text += fmt::format(", each {} x {}", block.type.instances, block.type.instance.name);
        text += "\n" + instance_text(block.type.instance);
    }
    for (const NetworkLayer& layer : cluster.network.layers)
        text += fmt::format("  {} switches{}: {} below each, {}:1, {} uplink{}\n", printable(layer.name),
                            layer.rail_optimized ? ", one a NIC group" : "", below_each(layer), layer.oversubscription,
                            layer.uplinks, layer.uplinks == 1 ? "" : "s");
    if (cluster.graph) return text + graph_text(*report.topology) + cuts_text(report.cuts);
    text += "  fabric: non-blocking\n";
    for (const Fault& fault : cluster.faults)
        text += fmt::format("  fault: {} {} of {} {} at {:g} of its rate\n", name(fault.kind), fault.index,
                            fault.kind == DeviceKind::network_switch ? "layer" : "instance", fault.instance,
                            fault.fraction);
    return text + cuts_text(report.cuts);
}

Table links_table(const Topology& topology) {
    Table table;
    table.columns = {{.key = "link", .head = "link"},
                     {.key = "from", .head = "from"},
                     {.key = "to", .head = "to"},
                     {.key = "kind", .head = "kind"},
                     {.key = "rate_GBps", .head = "rate", .unit = "(GB/s)"}};
    for (std::uint32_t i = 0; i < topology.links.size(); ++i) {
        const Link& link = topology.links[LinkId{i}];
        table.rows.push_back({std::int64_t{i}, topology.name(link.from), topology.name(link.to),
                              std::string(kind_name(topology, link.kind)), link.rate.value * 1e-9});
    }
    return table;
}

std::string json_of(const TopologyReport& report) {
    const Topology& topology = *report.topology;
    nlohmann::ordered_json json;
    json["name"] = topology.cluster.name;
    json["gpus"] = topology.gpus();
    json["domains"] = topology.domains();
    json["instances"] = topology.instances.size();
    auto cuts = nlohmann::ordered_json::array();
    for (const NamedCut& cut : report.cuts) cuts.push_back({{"name", cut.name}, {"rate_GBps", cut.rate.value * 1e-9}});
    json["cuts"] = std::move(cuts);
    json["links"] = to_json(links_table(topology));
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string write(const TopologyReport& report, Format format) {
    const auto csv_of = [](const TopologyReport& r) { return to_csv(links_table(*r.topology)); };
    return in_format(format, report, text_of, json_of, csv_of);
}

std::string to_graphviz(const Topology& topology) {
    std::string text = "graph cluster {\n  node [shape=box];\n";
    for (std::uint32_t i = 0; i < topology.devices.size(); ++i)
        text += fmt::format("  d{} [label=\"{}\"];\n", i, topology.name(DeviceId{i}));
    // Each link stands with its way back: one edge for the two.
    for (std::uint32_t i = 0; i < topology.links.size(); i += 2) {
        const Link& link = topology.links[LinkId{i}];
        text += fmt::format("  d{} -- d{} [label=\"{}\"];\n", link.from.value, link.to.value, gbytes(link.rate));
    }
    return text + "}\n";
}

}  // namespace fmsim
