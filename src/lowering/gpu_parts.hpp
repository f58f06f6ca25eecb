// Resources that are no links: what each GPU has to give to exchanges. They come after the links.
//
//   proxy   the host thread that posts messages to the NICs: seconds of it a second
//   copier  the SMs of a send/receive kernel: seconds of them a second
#pragma once

#include "fmsim/engine.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

enum class GpuPart : std::uint8_t { proxy, copier };
inline constexpr std::uint32_t kGpuParts = 2;

inline ResourceId resource_of(const Topology& topology, GpuPlace place, GpuPart part) {
    const auto links = static_cast<std::uint32_t>(topology.links.size());
    return {links + topology.device(place).value * kGpuParts + static_cast<std::uint32_t>(part)};
}

}  // namespace fmsim
