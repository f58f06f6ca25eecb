// A change applied to a cluster: a property's values, a device's fault, or a word.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "properties.hpp"

namespace fmsim {
namespace {

[[noreturn]] void refuse(const Change& change, std::string expected, std::string found = "") {
    throw InputError({{.file = "--what-if",
                       .line = 0,
                       .pointer = fmt::format("'{}'", printable(change.text)),
                       .expected = std::move(expected),
                       .found = std::move(found)}});
}

const Property& property_of(const Change& change) {
    return *std::find_if(properties().begin(), properties().end(),
                         [&](const Property& row) { return row.thing == change.thing && row.name == change.property; });
}

double applied(const Change& change, double value) {
    switch (change.op) {
        case ChangeOperator::set:
            return change.number;
        case ChangeOperator::scale:
            return value * change.number;
        case ChangeOperator::add:
            return value + change.number;
    }
    return value;
}

void change_property(Cluster& cluster, const Change& change) {
    const Property& row = property_of(change);
    std::vector<std::string> parts;
    bool any = false;
    row.visit(cluster, change.thing, [&](std::string_view part, double value) {
        if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.emplace_back(part);
        if (!change.part.empty() && part != change.part) return value;
        any = true;
        const double after = applied(change, value);
        // A rate of nothing never ends, and there is no time before the start. What was 0 can stay so: it is not there.
        const bool least = row.unit == Unit::span || row.name == "seed" ? after >= 0 : after > 0 || after == value;
        if (!least)
            refuse(change, fmt::format("expected more than {}", row.unit == Unit::span ? "no time" : "0"),
                   quantity_text(row.unit, after));
        return after;
    });
    if (any) return;
    if (parts.empty()) refuse(change, fmt::format("the cluster has no {} with {}", change.thing, change.property));
    const auto meant = nearest(change.part, parts);
    refuse(change, fmt::format("no such part of {}.{}: {}; {}", change.thing, change.property, change.part,
                               meant ? fmt::format("did you mean \"{}\"?", *meant)
                                     : fmt::format("expected {}", fmt::join(parts, ", "))));
}

std::uint32_t devices_of_instance(const Cluster& cluster, const InstanceType& type, DeviceKind kind) {
    switch (kind) {
        case DeviceKind::gpu:
            return type.gpus;
        case DeviceKind::nic:
            return type.nics;
        case DeviceKind::pcie_switch:
            return static_cast<std::uint32_t>(type.switches.size());
        case DeviceKind::nvswitch:
            return type.nvlink ? 1 : 0;
        case DeviceKind::numa: {
            std::set<std::uint32_t> nodes;
            for (const PcieSwitch& pcie : type.switches) nodes.insert(pcie.numa);
            return static_cast<std::uint32_t>(nodes.size());
        }
        default:
            break;
    }
    return static_cast<std::uint32_t>(cluster.network.layers.size());
}

// Instance and number in it, as a fault has them.
Fault device_of(const Cluster& cluster, const Change& change, DeviceKind kind) {
    Fault fault{.kind = kind};
    const bool counted = change.index.size() == 1;
    if (!counted) {
        fault.instance = change.index[0];
        fault.index = change.index[1];
    }
    if (kind == DeviceKind::network_switch || cluster.graph) {
        if (counted)
            refuse(change, kind == DeviceKind::network_switch
                               ? "expected a layer and a number in it, such as switch[0,3]"
                               : "expected a machine and a number in it, since machines differ");
        return fault;  // build_topology knows whether there is one
    }
    std::uint32_t left = counted ? change.index[0] : fault.instance, instance = 0, all = 0;
    for (const DomainBlock& block : cluster.blocks) {
        const std::uint32_t each = devices_of_instance(cluster, block.type.instance, kind);
        const std::uint32_t instances = block.count * block.type.instances;
        if (!counted && left < instances) {
            if (fault.index >= each)
                refuse(change, fmt::format("instance {} has {} {}s", fault.instance, each, change.thing),
                       fmt::format("number {}, counted from 0", fault.index));
            return fault;
        }
        if (counted && left < instances * each) {
            fault.instance = instance + left / each;
            fault.index = left % each;
            return fault;
        }
        left -= counted ? instances * each : instances;
        instance += instances;
        all += instances * each;
    }
    refuse(change,
           counted ? fmt::format("the cluster has {} {}s", all, change.thing)
                   : fmt::format("the cluster has {} instances", instance),
           fmt::format("number {}, counted from 0", change.index[0]));
}

void change_device(Cluster& cluster, const Change& change) {
    const auto row = std::find_if(named_devices().begin(), named_devices().end(),
                                  [&](const NamedDevice& named) { return named.thing == change.thing; });
    Fault fault = device_of(cluster, change, row->kind);
    double before = 1;
    std::erase_if(cluster.faults, [&](const Fault& known) {
        const bool same = known.kind == fault.kind && known.instance == fault.instance && known.index == fault.index;
        if (same) before *= known.fraction;
        return same;
    });
    fault.fraction = applied(change, before);
    if (fault.fraction < 1) cluster.faults.push_back(fault);
}

void change_word(Cluster& cluster, const Change& change) {
    if (change.thing == "spreading") {
        const Spreading spreading = change.word == "hash" ? Spreading::hash : Spreading::spray;
        for (DomainBlock& block : cluster.blocks)
            if (block.type.instance.nic) block.type.instance.nic->spreading = spreading;
        if (cluster.graph)
            for (Nic& nic : cluster.graph->nics) nic.spreading = spreading;
        return;
    }
    for (const RailPolicy policy : {RailPolicy::keep, RailPolicy::even, RailPolicy::neighbour})
        if (change.word == name(policy)) cluster.rail_policy = policy;
}

bool is_down(const Change& change) {
    return change.thing == "nic" && !change.index.empty() && change.op == ChangeOperator::set && change.number == 0;
}

}  // namespace

Cluster changed(Cluster cluster, const Change& change) { return changed(std::move(cluster), std::vector{change}); }

Cluster changed(Cluster cluster, const std::vector<Change>& changes) {
    bool policy = cluster.rail_policy != RailPolicy::keep, down = false;
    for (const Change& change : changes) {
        if (is_scenario_word(change)) continue;
        if (change.property.empty())
            change_word(cluster, change);
        else if (!change.index.empty())
            change_device(cluster, change);
        else
            change_property(cluster, change);
        policy = policy || change.thing == "rail_policy";
        down = down || is_down(change);
    }
    if (down && !policy) cluster.rail_policy = RailPolicy::even;
    return cluster;
}

ChangeReach reach_of(const Change& change) {
    if (change.property.empty()) return ChangeReach::all;
    if (!change.index.empty()) return change.thing == "gpu" ? ChangeReach::all : ChangeReach::links;
    return property_of(change).reach;
}

namespace {

bool is_of(const Topology& topology, const Change& change, DeviceId device, const Fault& fault, DeviceKind kind) {
    const Device& known = topology.devices[device];
    if (known.kind != kind) return false;
    return change.index.empty() || topology.device(kind, InstanceId{fault.instance}, fault.index) == device;
}

}  // namespace

bool touches(const Topology& topology, const Change& change, LinkId link) {
    if (reach_of(change) != ChangeReach::links) return false;
    const Link& known = topology.links[link];
    if (!change.index.empty()) {
        const auto row = std::find_if(named_devices().begin(), named_devices().end(),
                                      [&](const NamedDevice& named) { return named.thing == change.thing; });
        const Fault fault = device_of(topology.cluster, change, row->kind);
        return is_of(topology, change, known.from, fault, row->kind) ||
               is_of(topology, change, known.to, fault, row->kind);
    }
    if (change.thing == "nvlink" || change.thing == "nvswitch") return known.kind == LinkKind::nvlink;
    if (change.thing == "pcie") return known.kind == LinkKind::pcie;
    if (change.thing == "numa") return known.kind == LinkKind::numa;
    if (known.kind != LinkKind::network) return false;
    // Of the NICs those of the fabric.
    for (const DeviceId end : {known.from, known.to}) {
        const Device& device = topology.devices[end];
        if (device.kind != DeviceKind::nic) continue;
        const auto& nic = topology.type_of(device.instance).instance.nic;
        return change.thing == "nic" || (nic && is_fabric(change.thing, *nic));
    }
    return false;
}

std::vector<ClusterFact> facts_of(const Cluster& cluster) {
    Cluster copy = cluster;  // visits edit
    std::vector<ClusterFact> facts;
    for (const Property& row : properties()) {
        if (row.thing == "nic" || row.name == "seed") continue;  // the fabrics say it; no fact of a machine
        std::vector<std::pair<std::string, std::set<double>>> values;
        row.visit(copy, row.thing, [&](std::string_view part, double value) {
            auto known = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == part; });
            if (known == values.end()) known = values.insert(values.end(), {std::string(part), {}});
            known->second.insert(value);
            return value;
        });
        for (const auto& [part, all] : values)
            if (all.size() == 1 && *all.begin() > 0)
                facts.push_back({fmt::format("{}.{}{}{}", row.thing, row.name, part.empty() ? "" : ".", part),
                                 quantity_text(row.unit, *all.begin())});
    }
    return facts;
}

}  // namespace fmsim
