// Which changes cannot matter: those of what no byte crosses, or of what nothing asks for.
#include <algorithm>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

// Of a folded run the link of the first domain of its class, at the same place in it.
LinkId carrier_of(const Topology& topology, const Prediction& prediction, LinkId link) {
    if (!prediction.folding || prediction.lowered.stands_for.empty()) return link;
    for (const DeviceId end : {topology.links[link].from, topology.links[link].to}) {
        const Device& device = topology.devices[end];
        if (device.kind == DeviceKind::network_switch || device.kind == DeviceKind::fabric) continue;
        const DomainId domain = topology.instances[device.instance].domain;
        const Folding& folding = *prediction.folding;
        const DomainId first = folding.domains[folding.class_of[domain]].first;
        const auto begin = [&](DomainId d) { return topology.instances[topology.first_instance[d]].link; };
        return {link.value - begin(domain) + begin(first)};
    }
    return link;
}

bool computes(const Prediction& prediction) {
    return std::any_of(prediction.calls.begin(), prediction.calls.end(),
                       [](const CallPrediction& call) { return call.kind == "compute"; });
}
bool communicates(const Prediction& prediction) {
    return std::any_of(prediction.calls.begin(), prediction.calls.end(),
                       [](const CallPrediction& call) { return call.kind != "compute" && call.kind != "delay"; });
}

}  // namespace

std::map<LinkId, double> bytes_over_links(const Topology& topology, const Prediction& prediction) {
    const System& system = prediction.lowered.system;
    const auto& stands_for = prediction.lowered.stands_for;
    std::vector<double> carried(system.capacity.size());  // by each resource
    for (std::uint32_t i = 0; i < system.activities(); ++i)
        for (const auto& [resource, weight] : system.uses.of(i))
            carried[resource.value] += weight * prediction.lowered.moves(ActivityId{i});
    std::map<LinkId, double> bytes;
    for (std::uint32_t r = 0; r < carried.size(); ++r) {
        const ResourceId shown = stands_for.empty() ? ResourceId{r} : stands_for[r];
        if (carried[r] > 0 && shown.value < topology.links.size()) bytes[LinkId{shown.value}] += carried[r];
    }
    return bytes;
}

std::optional<std::string> no_effect(const Topology& topology, const Prediction& prediction, const Change& change) {
    switch (reach_of(change)) {
        case ChangeReach::links: {
            std::map<LinkId, double> bytes = bytes_over_links(topology, prediction);
            for (std::uint32_t i = 0; i < topology.links.size(); ++i)
                if (touches(topology, change, {i}) && bytes[carrier_of(topology, prediction, {i})] > 0) return {};
            return "0 bytes";
        }
        case ChangeReach::computing:
            if (computes(prediction)) return {};
            return "no computing";
        case ChangeReach::kernels:
            if (communicates(prediction)) return {};
            return "no communication";
        case ChangeReach::memory:
            return "it says what fits, not how long it takes";
        case ChangeReach::network:
        case ChangeReach::all:
            break;
    }
    return {};
}

}  // namespace fmsim
