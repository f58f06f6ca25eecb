// Free graphs of a cluster file: machines, devices and links by name (docs/models/cluster.md).
//
//   "machines": [{"name": "m[0-1]", "cpu": "amd"}],
//   "devices":  [{"name": "m[0-1]g[0-3]", "device": "gpu", "kind": "h100", "machine": "m[0-1]"}, ..],
//   "links":    [{"from": "m0g0", "to": "m0g1", "kind": "nvlink", "rate": "25 GB/s", "count": 2}, ..]
//
// A name may be several, as hostlists have them. Of two lists that belong together the shorter is stretched: eight GPUs
// on two machines are four on each.
#pragma once

#include "document.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {

inline constexpr std::size_t kMostGraphDevices = 100'000;
inline constexpr std::size_t kMostGraphLinks = 1'000'000;

// Refuses at its place what does not fit together.
void read_graph(Cluster& cluster, const Document::Spot& spot, const Catalogue& catalogue);

}  // namespace fmsim
