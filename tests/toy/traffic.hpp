// What a lowered system carries: bytes over the links that a test asks for.
#pragma once

#include "fmsim/lowering.hpp"

namespace fmsim::toy {

// The sum over all activities of what each puts on the links that `counts` picks: bool counts(const Link&).
template <class Counts>
double bytes_on(const Topology& net, const System& system, Counts counts) {
    double bytes = 0;
    for (std::uint32_t i = 0; i < system.activities(); ++i)
        for (const auto& [resource, weight] : system.uses.of(i))
            if (resource.value < net.links.size() && counts(net.links[LinkId{resource.value}]))
                bytes += weight * system.work[ActivityId{i}];
    return bytes;
}

// Out of an instance's NICs, into them.
inline double bytes_out(const Topology& net, const System& system, InstanceId instance) {
    return bytes_on(net, system, [&](const Link& link) {
        const Device& from = net.devices[link.from];
        return link.kind == LinkKind::network && from.kind == DeviceKind::nic && from.instance == instance;
    });
}
inline double bytes_in(const Topology& net, const System& system, InstanceId instance) {
    return bytes_on(net, system, [&](const Link& link) {
        const Device& to = net.devices[link.to];
        return link.kind == LinkKind::network && to.kind == DeviceKind::nic && to.instance == instance;
    });
}
// Between switches of the network: up and down.
inline double bytes_between_switches(const Topology& net, const System& system) {
    return bytes_on(net, system, [&](const Link& link) {
        return link.kind == LinkKind::network && net.devices[link.from].kind != DeviceKind::nic &&
               net.devices[link.to].kind != DeviceKind::nic;
    });
}

}  // namespace fmsim::toy
