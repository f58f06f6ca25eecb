#include "graph.hpp"

#include <stdexcept>

#include "toy.hpp"

namespace fmsim::toy {

GraphSketch& GraphSketch::machine(const std::string& name) {
    graph_.machines.push_back({name, CpuVendor::amd, {std::int64_t{1} << 50}});
    return *this;
}

GraphSketch& GraphSketch::add(const std::string& name, DeviceKind kind, bool in_machine) {
    const auto last = static_cast<std::uint32_t>(graph_.machines.size() - 1);
    graph_.devices.push_back({name, kind, in_machine ? last : FreeGraph::kNone, 0});
    return *this;
}

GraphSketch& GraphSketch::link(const std::string& from, const std::string& to, LinkKind kind, double rate,
                               std::uint32_t count) {
    graph_.links.push_back({find(from), find(to), kind, {rate}, count});
    return *this;
}

std::uint32_t GraphSketch::find(const std::string& name) const {
    for (std::uint32_t d = 0; d < graph_.devices.size(); ++d)
        if (graph_.devices[d].name == name) return d;
    throw std::out_of_range(name);
}

Cluster GraphSketch::cluster() const {
    const Cluster kinds = toy::cluster({.nvlink = BytesPerSecond{1e9}, .nic = BytesPerSecond{50e9}});
    const InstanceType& type = kinds.blocks[0].type.instance;
    Cluster made{.name = "sketch", .blocks = {}, .network = {}, .faults = {}};
    made.graph = graph_;
    made.graph->gpus = {type.gpu};
    made.graph->gpus[0].compute_capability = compute_capability;
    made.graph->nics = {*type.nic};
    made.graph->nvlinks = {*type.nvlink};
    made.graph->nvlinks[0].multicast = true;
    for (const FreeGraph::Machine& machine : graph_.machines) made.instance_names.push_back(machine.name);
    return made;
}

}  // namespace fmsim::toy
