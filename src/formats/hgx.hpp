// Machines that are read from their name: eight GPUs on NVIDIA's HGX board, one PCIe switch each, NICs spread over
// them.
//
//   hgx_machine(files, "hgx-h100-8x400");   // H100, 8 InfiniBand NICs of 400 Gb/s
//
// What they share, and what a board or a NIC adds, is in topologies/hgx.json.
#pragma once

#include <string_view>

#include "leaves.hpp"

namespace fmsim {

// Throws InputError when there is no such board or NIC.
InstanceType hgx_machine(const Files& files, std::string_view name);

}  // namespace fmsim
