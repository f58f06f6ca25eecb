#include "graph_routes.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>

namespace fmsim {
namespace {

// A step through a GPU costs more than any way over switches.
constexpr std::uint32_t kThroughGpu = 1u << 20;

bool is_end(DeviceKind kind) { return kind == DeviceKind::gpu || kind == DeviceKind::nic; }

}  // namespace

void add_share(Route& route, LinkId link, double share) {
    const auto same =
        std::find_if(route.begin(), route.end(), [&](const RouteLink& part) { return part.link == link; });
    if (same == route.end())
        route.push_back({link, share});
    else
        same->share += share;
}

GraphRoutes::GraphRoutes(const Topology& topology)
    : nvlink_(topology.devices.size()), pcie_(topology.devices.size()), network_(topology.devices.size()) {
    for (std::uint32_t d = 0; d < topology.devices.size(); ++d) {
        const Device& device = topology.devices[DeviceId{d}];
        kind_.push_back(device.kind);
        numbered_.emplace(std::tuple(device.kind, device.instance.value, device.index), DeviceId{d});
    }
    for (std::uint32_t l = 0; l < topology.links.size(); ++l) {
        const Link& link = topology.links[LinkId{l}];
        end_of_.push_back(link.to);
        Links& of_kind = link.kind == LinkKind::nvlink ? nvlink_ : link.kind == LinkKind::network ? network_ : pcie_;
        of_kind[link.from.value].push_back({link.to, LinkId{l}, link.rate.value});
    }
    for (Links* links : {&nvlink_, &pcie_, &network_})
        for (auto& outs : *links)
            std::sort(outs.begin(), outs.end(),
                      [](const Out& a, const Out& b) { return std::tie(a.to, a.link) < std::tie(b.to, b.link); });
    find_domains(topology);
    find_nics(topology);
}

// What NVLink joins, by the first GPU of each.
void GraphRoutes::find_domains(const Topology& topology) {
    std::vector<std::uint8_t> seen(topology.devices.size());
    for (std::uint32_t d = 0; d < topology.devices.size(); ++d) {
        if (kind_[d] != DeviceKind::gpu || seen[d]) continue;
        std::vector<DeviceId> reached{{d}};
        seen[d] = 1;
        for (std::size_t at = 0; at < reached.size(); ++at)
            for (const Out& out : nvlink_[reached[at].value])
                if (!seen[out.to.value]) {
                    seen[out.to.value] = 1;
                    reached.push_back(out.to);
                }
        std::sort(reached.begin(), reached.end());
        Domain domain;
        for (const DeviceId device : reached) {
            if (kind_[device.value] != DeviceKind::gpu) continue;
            place_of_[device.value] = {DomainId{static_cast<std::uint32_t>(domains_.size())},
                                       static_cast<std::uint32_t>(domain.gpus.size())};
            domain.gpus.push_back(device);
        }
        domains_.push_back(std::move(domain));
    }
}

// A NIC is of a domain that has one of the GPUs nearest to it, or a GPU to which it is nearest.
void GraphRoutes::find_nics(const Topology& topology) {
    std::vector<std::set<DeviceId>> nics(domains_.size());
    const auto nearest_of = [&](std::uint32_t end, DeviceKind wanted) {
        std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
        std::vector<std::uint32_t> nearest;
        for (const auto& [device, steps] : pcie_steps_from({end})) {
            if (kind_[device] != wanted || steps > least) continue;
            if (steps < least) nearest.clear();
            least = steps;
            nearest.push_back(device);
        }
        return nearest;
    };
    for (std::uint32_t d = 0; d < topology.devices.size(); ++d) {
        if (kind_[d] == DeviceKind::nic)
            for (const std::uint32_t gpu : nearest_of(d, DeviceKind::gpu))
                nics[place_of_.at(gpu).domain.value].insert({d});
        if (kind_[d] == DeviceKind::gpu)
            for (const std::uint32_t nic : nearest_of(d, DeviceKind::nic))
                nics[place_of_.at(d).domain.value].insert({nic});
    }
    for (std::size_t d = 0; d < domains_.size(); ++d) domains_[d].nics.assign(nics[d].begin(), nics[d].end());
}

std::vector<GpuPlace> GraphRoutes::gpus_of(InstanceId machine) const {
    std::vector<GpuPlace> gpus;
    for (std::uint32_t index = 0;; ++index) {
        const auto gpu = device(DeviceKind::gpu, machine, index);
        if (!gpu) return gpus;
        gpus.push_back(place_of(*gpu));
    }
}

std::optional<DeviceId> GraphRoutes::device(DeviceKind kind, InstanceId instance, std::uint32_t index) const {
    const auto known = numbered_.find({kind, instance.value, index});
    return known == numbered_.end() ? std::nullopt : std::optional(known->second);
}

// ---- NVLink ----

std::uint32_t GraphRoutes::nvlink_step(DeviceId through, DeviceId end) const {
    return 1 + (through != end && kind_[through.value] == DeviceKind::gpu ? kThroughGpu : 0);
}

// Dijkstra from the end, until `from` is reached.
GraphRoutes::Distances GraphRoutes::nvlink_steps_to(DeviceId to, DeviceId from) const {
    using Reached = std::pair<std::uint32_t, DeviceId>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
    Distances done;
    open.push({0, to});
    while (!open.empty()) {
        const auto [steps, device] = open.top();
        open.pop();
        if (!done.steps.emplace(device.value, steps).second) continue;
        done.nearest_first.push_back(device);
        if (device == from) break;
        for (const Out& out : nvlink_[device.value])
            if (!done.steps.contains(out.to.value)) open.push({steps + nvlink_step(device, to), out.to});
    }
    return done;
}

bool GraphRoutes::joined(DeviceId from, DeviceId to) const {
    const Distances distances = nvlink_steps_to(to, from);
    const auto found = distances.steps.find(from.value);
    return found != distances.steps.end() && found->second < kThroughGpu;
}

// What leads on from a device that is so many steps from the end, each as wide as the rest of its way.
std::vector<GraphRoutes::Out> GraphRoutes::nvlink_ways(DeviceId device, DeviceId to, const Distances& distances,
                                                       const std::map<std::uint32_t, double>& width) const {
    std::vector<Out> ways;
    for (const Out& out : nvlink_[device.value]) {
        const auto there = distances.steps.find(out.to.value);
        if (there != distances.steps.end() &&
            there->second + nvlink_step(out.to, to) == distances.steps.at(device.value))
            ways.push_back({out.to, out.link, std::min(out.rate, width.at(out.to.value))});
    }
    const auto widest =
        std::max_element(ways.begin(), ways.end(), [](const Out& a, const Out& b) { return a.rate < b.rate; });
    // Switches beside each other work as one; of GPUs one passes it on.
    if (kind_[widest->to.value] != DeviceKind::nvswitch) return {Out(*widest)};
    ways.erase(std::remove_if(ways.begin(), ways.end(),
                              [&](const Out& out) { return kind_[out.to.value] != DeviceKind::nvswitch; }),
               ways.end());
    return ways;
}

Route GraphRoutes::nvlink_route(DeviceId from, DeviceId to) const {
    const Distances distances = nvlink_steps_to(to, from);
    // How wide the rest of the way is from each device, from the end back; and what is next there.
    std::map<std::uint32_t, double> width{{to.value, std::numeric_limits<double>::infinity()}};
    std::map<std::uint32_t, std::vector<Out>> next;
    for (const DeviceId device : distances.nearest_first) {
        if (device == to) continue;
        next[device.value] = nvlink_ways(device, to, distances, width);
        width[device.value] = 0;
        for (const Out& out : next[device.value]) width[device.value] += out.rate;
    }
    Route route;
    std::map<std::uint32_t, double> share{{from.value, 1}};
    for (auto at = distances.nearest_first.rbegin(); at != distances.nearest_first.rend(); ++at) {
        const auto here = share.find(at->value);
        if (here == share.end() || *at == to) continue;
        const double sum = width.at(at->value);
        const auto& ways = next.at(at->value);
        for (const Out& out : ways) {
            // All broken: evenly, so that whoever takes it sees which link it is.
            const double part = here->second * (sum > 0 ? out.rate / sum : 1.0 / static_cast<double>(ways.size()));
            if (part <= 0) continue;
            add_share(route, out.link, part);
            share[out.to.value] += part;
        }
    }
    return route;
}

// ---- PCIe ----

// Over switches and NUMA nodes, never through a GPU or a NIC.
std::map<std::uint32_t, std::uint32_t> GraphRoutes::pcie_steps_from(DeviceId end) const {
    std::map<std::uint32_t, std::uint32_t> steps{{end.value, 0}};
    std::vector<DeviceId> reached{end};
    for (std::size_t at = 0; at < reached.size(); ++at) {
        if (reached[at] != end && is_end(kind_[reached[at].value])) continue;
        for (const Out& out : pcie_[reached[at].value])
            if (steps.emplace(out.to.value, steps.at(reached[at].value) + 1).second) reached.push_back(out.to);
    }
    return steps;
}

std::vector<LinkId> GraphRoutes::pcie_way(DeviceId gpu, DeviceId nic) const {
    const auto steps = pcie_steps_from(nic);
    std::map<std::uint32_t, double> width{{nic.value, std::numeric_limits<double>::infinity()}};
    std::map<std::uint32_t, Out> next;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> by_steps;
    for (const auto& [device, count] : steps) by_steps.emplace_back(count, device);
    std::sort(by_steps.begin(), by_steps.end());
    for (const auto& [count, device] : by_steps) {
        if (count == 0) continue;
        for (const Out& out : pcie_[device]) {
            const auto there = steps.find(out.to.value);
            if (there == steps.end() || there->second + 1 != count || !width.contains(out.to.value)) continue;
            if (out.to != nic && is_end(kind_[out.to.value])) continue;
            const double wide = std::min(out.rate, width.at(out.to.value));
            if (!width.contains(device) || wide > width.at(device)) {
                width[device] = wide;
                next.insert_or_assign(device, out);
            }
        }
    }
    std::vector<LinkId> way;
    for (DeviceId at = gpu; at != nic && next.contains(at.value); at = next.at(at.value).to)
        way.push_back(next.at(at.value).link);
    return way;
}

std::vector<DeviceId> GraphRoutes::beside(const Domain& domain, DeviceId nic) const {
    const auto steps = pcie_steps_from(nic);
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    std::vector<DeviceId> nearest;
    for (const DeviceId gpu : domain.gpus) {
        const auto found = steps.find(gpu.value);
        if (found == steps.end() || found->second > least) continue;
        if (found->second < least) nearest.clear();
        least = found->second;
        nearest.push_back(gpu);
    }
    return nearest;
}

}  // namespace fmsim
