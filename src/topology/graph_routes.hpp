// Ways through a free graph.
//
//   gpu0 == gpu1            a direct link                      the whole of it
//   gpu0 == sw0, sw1 == gpu1  NVSwitches beside each other     a share on each, as wide as it is
//   gpu0 == gpu2 == gpu1    through a GPU, where nothing else leads there: the widest of the shortest
//   gpu0 -- pcie -- nic0 -- leaf -- spine0, spine1 -- leaf -- nic5 -- pcie -- gpu9
//                           sprayed evenly over all shortest ways, or hashed on one of them
//
// Ties go to the lower id. Every link stands with its way back: 2k and 2k + 1.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "fmsim/topology.hpp"

namespace fmsim {

class GraphRoutes {
public:
    // Of a topology whose devices and links are laid out. Finds the domains.
    explicit GraphRoutes(const Topology& topology);

    struct Domain {
        std::vector<DeviceId> gpus;
        std::vector<DeviceId> nics;  // its groups; a NIC may be of several domains of a machine
    };
    const std::vector<Domain>& domains() const { return domains_; }

    DeviceId gpu(GpuPlace place) const { return domains_[place.domain.value].gpus[place.gpu]; }
    GpuPlace place_of(DeviceId gpu) const { return place_of_.at(gpu.value); }
    std::vector<GpuPlace> gpus_of(InstanceId machine) const;
    std::optional<DeviceId> device(DeviceKind kind, InstanceId instance, std::uint32_t index) const;

    Route nvlink_route(DeviceId from, DeviceId to) const;
    // Whether a route has no GPU but its ends.
    bool joined(DeviceId from, DeviceId to) const;
    Route network_route(const Topology& topology, GpuPlace from, std::uint32_t leave, std::uint32_t enter, GpuPlace to,
                        std::uint64_t flow) const;

    // GPUs of a domain that are nearest to a NIC over PCIe; none where none is.
    std::vector<DeviceId> beside(const Domain& domain, DeviceId nic) const;
    // The links from a GPU to a NIC over PCIe.
    std::vector<LinkId> pcie_way(DeviceId gpu, DeviceId nic) const;

    struct Out {
        DeviceId to;
        LinkId link;
        double rate{};
    };
    const std::vector<Out>& nvlinks_of(DeviceId device) const { return nvlink_[device.value]; }
    const std::vector<Out>& network_of(DeviceId device) const { return network_[device.value]; }

private:
    using Links = std::vector<std::vector<Out>>;  // of each device
    struct Distances {
        std::vector<DeviceId> nearest_first;           // that were reached
        std::map<std::uint32_t, std::uint32_t> steps;  // of each
    };

    // Of each device that was reached from the receiver: how far it is, and how many shortest ways lead on from it.
    struct NetworkWays {
        std::map<std::uint32_t, std::uint32_t> steps;
        std::map<std::uint32_t, double> ways;
        std::vector<DeviceId> nearest_first;
    };

    void find_domains(const Topology& topology);
    void find_nics(const Topology& topology);
    Distances nvlink_steps_to(DeviceId to, DeviceId from) const;
    std::uint32_t nvlink_step(DeviceId through, DeviceId end) const;
    std::map<std::uint32_t, std::uint32_t> pcie_steps_from(DeviceId end) const;
    DeviceId gpu_of(const Domain& domain, DeviceId nic, const std::vector<DeviceId>& near) const;
    void add_end(Route& route, DeviceId gpu, const Domain& domain, DeviceId nic, bool sends) const;
    bool add_between(Route& route, DeviceId out, DeviceId in, std::optional<std::uint64_t> hash) const;
    NetworkWays network_ways(DeviceId out, DeviceId in) const;
    std::vector<RouteLink> links_on(DeviceId device, const NetworkWays& found, std::optional<std::uint64_t> hash) const;
    std::vector<Out> nvlink_ways(DeviceId device, DeviceId to, const Distances& distances,
                                 const std::map<std::uint32_t, double>& width) const;

    std::vector<DeviceKind> kind_;
    std::vector<DeviceId> end_of_;  // of a link
    Links nvlink_, pcie_, network_;
    std::vector<Domain> domains_;
    std::map<std::uint32_t, GpuPlace> place_of_;
    std::map<std::tuple<DeviceKind, std::uint32_t, std::uint32_t>, DeviceId> numbered_;
};

// Adds a share on a link, once a link.
void add_share(Route& route, LinkId link, double share);

}  // namespace fmsim
