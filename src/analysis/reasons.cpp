// All reasons of a run together: its path, what it was spent on, what more of each would bring.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

// The device of a link that is neither a switch of the network nor its fabric, and whether it sends.
std::pair<DeviceId, bool> own_end(const Topology& topology, const Link& link) {
    const auto shared = [&](DeviceId device) {
        const DeviceKind kind = topology.devices[device].kind;
        return kind == DeviceKind::network_switch || kind == DeviceKind::fabric || kind == DeviceKind::nvswitch ||
               kind == DeviceKind::pcie_switch || kind == DeviceKind::numa;
    };
    const bool sends = !shared(link.from) || shared(link.to);
    return {sends ? link.from : link.to, sends};
}

std::string instance_name(const Topology& topology, InstanceId instance) {
    const auto& names = topology.cluster.instance_names;
    if (instance.value < names.size()) return names[instance.value];
    return fmt::format("{} #{}", topology.type_of(instance).instance.name, instance.value);
}

std::string device_word(const Device& device) {
    static constexpr std::array<std::string_view, 7> kWords{"GPU",  "NVSwitch", "PCIe switch", "NIC",
                                                            "NUMA", "switch",   "fabric"};
    return fmt::format("{} {}", kWords[static_cast<std::size_t>(device.kind)], device.index);
}

// Seconds of full use of a resource between two instants.
double busy_seconds(const Rerun& run, ResourceId resource, SimTime from, SimTime to) {
    double busy = 0, used = 0;
    SimTime since = from;
    const auto advance = [&](SimTime when) {
        const SimTime until = std::clamp(when, from, to);
        busy += used * seconds(until - since);
        since = until;
    };
    for (const UseStep& step : run.timeline.use) {
        if (step.resource != resource) continue;
        advance(step.from);
        used = step.used / run.lowered.system.capacity[resource];
    }
    advance(to);
    return busy;
}

class SaturatedFinder {
public:
    SaturatedFinder(const Topology& topology, const RunSteps& made, const Rerun& run)
        : topology_(topology), made_(made), run_(run) {}

    std::vector<Saturated> find(const std::vector<CriticalPart>& path) {
        std::map<std::pair<std::uint32_t, ResourceId>, SimTime> held;  // of a step
        for (const CriticalPart& part : path)
            if (part.flows) {
                SimTime& sum = held[{part.step, part.held_by}];
                sum = sum + (part.to - part.from);
            }
        std::map<std::pair<std::uint32_t, ResourceId>, Saturated> all;  // of a call
        for (const auto& [key, time] : held) {
            const auto& [step, resource] = key;
            const std::uint32_t call = made_.call[step];
            const auto [found, fresh] =
                all.try_emplace({call, resource}, Saturated{.resource = resource, .call = call, .critical = {}});
            found->second.critical = found->second.critical + time;
            if (fresh) set_busy(found->second, step);
        }
        std::vector<Saturated> sorted;
        for (const auto& [key, one] : all) sorted.push_back(one);
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const Saturated& a, const Saturated& b) { return a.critical > b.critical; });
        return sorted;
    }

private:
    void set_busy(Saturated& one, std::uint32_t step) const {
        const SimTime from = run_.timeline.started[run_.lowered.steps[step].launch];
        const SimTime to = run_.timeline.ended[run_.lowered.steps[step].done];
        if (one.resource == kOwnLimit) {
            one.busy = seconds(one.critical) / seconds(to - from);
            return;
        }
        one.busy = busy_seconds(run_, in_system(one.resource), from, to) / seconds(to - from);
        const Cause cause = cause_of(topology_, one.resource);
        std::uint32_t alike = 0;
        for (const ResourceId other : used_by(step)) {
            const ResourceId shown = shown_as(other);
            if (cause_of(topology_, shown) != cause) continue;
            const double busy = busy_seconds(run_, other, from, to) / seconds(to - from);
            if (std::abs(busy - one.busy) <= 1e-6) alike += members_of(topology_, made_, shown);
        }
        one.alike = std::max(alike, 1u);
    }
    std::vector<ResourceId> used_by(std::uint32_t step) const {
        std::vector<ResourceId> all;
        for (std::uint32_t i = 0; i < run_.lowered.origin.size(); ++i)
            if (run_.lowered.origin[ActivityId{i}].step == step)
                for (const Use& use : run_.lowered.system.uses.of(i)) all.push_back(use.resource);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }
    ResourceId shown_as(ResourceId resource) const {
        const auto& stands_for = run_.lowered.stands_for;
        return stands_for.empty() ? resource : stands_for[resource.value];
    }
    ResourceId in_system(ResourceId shown) const {
        const auto& stands_for = run_.lowered.stands_for;
        if (stands_for.empty()) return shown;
        const auto found = std::find(stands_for.begin(), stands_for.end(), shown);
        return {static_cast<std::uint32_t>(found - stands_for.begin())};
    }

    const Topology& topology_;
    const RunSteps& made_;
    const Rerun& run_;
};

}  // namespace

std::uint32_t members_of(const Topology& topology, const RunSteps& made, ResourceId resource) {
    if (!made.classes) return 1;
    const auto links = static_cast<std::uint32_t>(topology.links.size());
    DeviceId device{};
    if (resource.value < links) {
        device = own_end(topology, topology.links[LinkId{resource.value}]).first;
        if (topology.devices[device].kind == DeviceKind::network_switch) {
            const auto layer = topology.devices[device].instance.value;
            std::uint32_t before = 0;
            for (std::uint32_t l = 0; l < layer; ++l) before += topology.switches(l);
            return made.classes->switches[made.classes->of_switch[before + topology.devices[device].index]];
        }
        if (topology.devices[device].kind == DeviceKind::fabric) return 1;
    } else {
        device = {(resource.value - links) / 2};  // a proxy and a copier each
    }
    const InstanceBlock& block = topology.instances[topology.devices[device].instance];
    return made.classes->count[made.classes->of_domain[block.domain]];
}

std::string plain_name(const Topology& topology, ResourceId resource) {
    if (resource == kOwnLimit) return "SMs of NCCL's channels";
    const auto links = static_cast<std::uint32_t>(topology.links.size());
    if (resource.value >= links) {
        const DeviceId device{(resource.value - links) / 2};
        return fmt::format("{}, {}, {}", instance_name(topology, topology.devices[device].instance),
                           device_word(topology.devices[device]),
                           cause_of(topology, resource) == Cause::messages ? "proxy" : "SMs that copy");
    }
    const Link& link = topology.links[LinkId{resource.value}];
    const auto [device, sends] = own_end(topology, link);
    const Device& own = topology.devices[device];
    const Device& other = topology.devices[sends ? link.to : link.from];
    if (own.kind == DeviceKind::network_switch || own.kind == DeviceKind::fabric || topology.cluster.graph)
        return topology.name(LinkId{resource.value});
    const std::string where = fmt::format("{}, {}", instance_name(topology, own.instance), device_word(own));
    if (link.kind == LinkKind::network) return fmt::format("{}, {}", where, sends ? "transmit" : "receive");
    if (link.kind == LinkKind::nvlink) return fmt::format("{}, NVLink, {}", where, sends ? "transmit" : "receive");
    if (link.from == link.to) return fmt::format("{}, {}", where, link.kind == LinkKind::numa ? "memory" : "root port");
    return fmt::format("{}, {} {}", where, sends ? "to" : "from", device_word(other));
}

Reasons reasons_of(const Topology& topology, const Prediction& prediction, std::size_t spans) {
    const RunSteps& made = prediction.made;
    const Rerun run = again(topology, made, {}, Record::rates);
    Reasons reasons{.path = critical_path(topology, made, run),
                    .spent = {},
                    .slopes = slopes(topology, run),
                    .levers = {},
                    .saturated = {},
                    .use = use_over_time(topology, made, run, spans)};
    for (const CriticalPart& part : reasons.path) reasons.spent.add(part.causes);
    reasons.levers = levers(topology, made, run, reasons.slopes);
    reasons.saturated = SaturatedFinder(topology, made, run).find(reasons.path);
    return reasons;
}

}  // namespace fmsim
