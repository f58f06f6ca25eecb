// Free graphs for tests, device by device: whole rates, one kind of GPU, NIC and NVLink.
//
//   GraphSketch sketch;
//   sketch.machine("m").gpu("g0").gpu("g1").link("g0", "g1", LinkKind::nvlink, 25e9, 2);
#pragma once

#include <string>

#include "fmsim/topology.hpp"

namespace fmsim::toy {

class GraphSketch {
public:
    std::uint32_t compute_capability = 90;

    GraphSketch& machine(const std::string& name);  // devices that follow are in it
    GraphSketch& gpu(const std::string& name) { return add(name, DeviceKind::gpu, true); }
    GraphSketch& nic(const std::string& name) { return add(name, DeviceKind::nic, true); }
    GraphSketch& nvswitch(const std::string& name) { return add(name, DeviceKind::nvswitch, true); }
    GraphSketch& network_switch(const std::string& name) { return add(name, DeviceKind::network_switch, false); }
    GraphSketch& link(const std::string& from, const std::string& to, LinkKind kind, double rate,
                      std::uint32_t count = 1);
    Cluster cluster() const;

private:
    GraphSketch& add(const std::string& name, DeviceKind kind, bool in_machine);
    std::uint32_t find(const std::string& name) const;

    FreeGraph graph_;
};

}  // namespace fmsim::toy
