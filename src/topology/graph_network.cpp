// Ways of a free graph between domains: PCIe, the network, PCIe.
#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "graph_routes.hpp"
#include "mixed.hpp"

namespace fmsim {
namespace {

// Of 0 to 1, from a hash.
double fraction(std::uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

}  // namespace

// Of the GPUs beside a NIC the one whose share of the NICs there has it.
DeviceId GraphRoutes::gpu_of(const Domain& domain, DeviceId nic, const std::vector<DeviceId>& near) const {
    if (near.size() == 1) return near.front();
    std::size_t before = 0, all = 0;
    for (const DeviceId other : domain.nics) {
        if (beside(domain, other) != near) continue;
        ++all;
        if (other < nic) ++before;
    }
    return near[before * near.size() / all];
}

// A GPU that is not beside the NIC sends over NVLink to one that is, as NCCL's PXN does.
void GraphRoutes::add_end(Route& route, DeviceId gpu, const Domain& domain, DeviceId nic, bool sends) const {
    const auto near = beside(domain, nic);
    assert(!near.empty());  // it is a NIC of the domain
    const DeviceId by = std::find(near.begin(), near.end(), gpu) != near.end() ? gpu : gpu_of(domain, nic, near);
    if (by != gpu)
        for (const auto& [link, share] : sends ? nvlink_route(gpu, by) : nvlink_route(by, gpu))
            add_share(route, link, share);
    // The way back takes each link's opposite, which is its neighbour.
    for (const LinkId link : pcie_way(by, nic)) add_share(route, {link.value ^ (sends ? 0u : 1u)}, 1);
}

// From the receiver back, until the sender is reached, never through another NIC.
GraphRoutes::NetworkWays GraphRoutes::network_ways(DeviceId out, DeviceId in) const {
    NetworkWays found{{{in.value, 0}}, {{in.value, 1}}, {in}};
    for (std::size_t at = 0; at < found.nearest_first.size() && found.nearest_first[at] != out; ++at) {
        const DeviceId here = found.nearest_first[at];
        const std::uint32_t steps = found.steps.at(here.value) + 1;
        for (const Out& back : network_[here.value]) {
            if (kind_[back.to.value] == DeviceKind::nic && back.to != out) continue;
            const auto [known, is_new] = found.steps.emplace(back.to.value, steps);
            if (is_new) found.nearest_first.push_back(back.to);
            if (known->second == steps) found.ways[back.to.value] += found.ways.at(here.value);
        }
    }
    return found;
}

// The links that lead on from a device, each with its part of the ways from there; with a hash the one it draws.
std::vector<RouteLink> GraphRoutes::links_on(DeviceId device, const NetworkWays& found,
                                             std::optional<std::uint64_t> hash) const {
    const double all = found.ways.at(device.value);
    const std::uint32_t steps = found.steps.at(device.value);
    double drawn = hash ? fraction(mixed(*hash + steps)) * all : 0;
    std::vector<RouteLink> on;
    for (const Out& out : network_[device.value]) {
        const auto there = found.steps.find(out.to.value);
        if (there == found.steps.end() || there->second + 1 != steps) continue;
        const double its = found.ways.at(out.to.value);
        if (!hash)
            on.push_back({out.link, its / all});
        else if (drawn < its)
            return {{out.link, 1}};
        drawn -= its;
    }
    return on;
}

bool GraphRoutes::add_between(Route& route, DeviceId out, DeviceId in, std::optional<std::uint64_t> hash) const {
    if (out == in) {  // one NIC of two domains: to its switch and back
        if (network_[out.value].empty()) return false;
        const LinkId first = network_[out.value].front().link;
        add_share(route, first, 1);
        add_share(route, {first.value ^ 1u}, 1);
        return true;
    }
    const NetworkWays found = network_ways(out, in);
    if (!found.steps.contains(out.value)) return false;
    std::map<std::uint32_t, double> share{{out.value, 1}};
    for (auto at = found.nearest_first.rbegin(); at != found.nearest_first.rend(); ++at) {
        const auto here = share.find(at->value);
        if (here == share.end() || *at == in) continue;
        for (const auto& [link, part] : links_on(*at, found, hash)) {
            add_share(route, link, here->second * part);
            share[end_of_.at(link.value).value] += here->second * part;
        }
    }
    return true;
}

Route GraphRoutes::network_route(const Topology& topology, GpuPlace from, std::uint32_t leave, std::uint32_t enter,
                                 GpuPlace to, std::uint64_t flow) const {
    const Domain& sender = domains_[from.domain.value];
    const Domain& receiver = domains_[to.domain.value];
    const DeviceId out = sender.nics[leave], in = receiver.nics[enter];
    const FreeGraph& graph = *topology.cluster.graph;
    const bool hashes = graph.nics[graph.devices[out.value].part].spreading == Spreading::hash;
    std::optional<std::uint64_t> hash;
    if (hashes) hash = mixed(topology.cluster.network.seed ^ mixed(flow * 64));
    Route route;
    add_end(route, gpu(from), sender, out, true);
    if (!add_between(route, out, in, hash))
        throw Infeasible(
            fmt::format("no way leads from {} to {} over the network", topology.name(out), topology.name(in)));
    add_end(route, gpu(to), receiver, in, false);
    return route;
}

}  // namespace fmsim
