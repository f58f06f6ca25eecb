// The parts that machines are made of, each a file of the catalogue of its own.
//
//   const Gpu gpu = read_gpu(files, value(root["gpu"]).text(), "instances/p5.48xlarge.json");
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leaves.hpp"

namespace fmsim {

Gpu read_gpu(const Files& files, const std::string& name, const std::string& wanted_by);
NvLink read_nvlink(const Files& files, const std::string& name, const std::string& wanted_by);
Nic read_nic(const Files& files, const std::string& name, const std::string& wanted_by);

CpuVendor vendor_named(std::string_view word);  // "amd", "intel" or "arm"
CpuVendor cpu_of(const Document::Spot& leaf);
std::vector<std::uint32_t> counts(const Document::Spot& list);
void read_drives(const Document::Spot& drives, InstanceType& type);

// What NCCL's search finds, where somebody published it.
struct Searches {
    std::optional<RingSearch> alone;
    std::optional<RingSearch> several;
    PublishedGraphs alone_graphs, several_graphs;
};
Searches searches_of(const Document::Spot& nccl);

}  // namespace fmsim
