// NCCL's topology XML -> the GPUs, NICs and PCIe switches of one machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/formats.hpp"

namespace fmsim {

struct NcclGpu {
    std::uint32_t compute_capability{};  // 0: not said, as in files that NCCL completes when it runs
    std::uint32_t nvlinks{};             // 0: not said
    BytesPerSecond pcie;                 // 0: not said
    BytesPerSecond c2c;                  // NVLink to the CPU; 0: none
    std::size_t line{};
};
struct NcclNic {
    double mbps{};  // as NCCL counts it: 10,000 where the file does not say
    bool has_speed{};
    BytesPerSecond pcie;  // 0: not said
    std::size_t line{};
};
struct NcclMachine {
    std::string file;
    std::vector<NcclGpu> gpus;
    std::vector<NcclNic> nics;
    std::vector<PcieSwitch> switches;
    std::vector<BytesPerSecond> to_host;  // of each switch; 0: not said
    std::optional<CpuVendor> cpu;
    std::optional<bool> gpudirect;
    std::vector<Problem> notes;
};
NcclMachine parse_nccl_xml(std::string_view text, const std::string& file);

// The machine in the terms of an instance type of the catalogue: what the file says, and for the rest `base`.
// Throws InputError where its GPUs or NICs are of another kind.
InstanceType laid_over(const InstanceType& base, NcclMachine& machine);

}  // namespace fmsim
