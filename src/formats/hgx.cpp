#include "hgx.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machine_names.hpp"
#include "machine_parts.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

const std::string kFile = "hgx.json";

Spot board_of(const Spot& boards, const std::string& board, std::string_view name) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < boards.size(); ++i) {
        known.push_back(boards[i]["name"].text());
        if (known.back() == board) return boards[i];
    }
    const auto meant = nearest(board, known);
    refuse_words(name, meant ? fmt::format("no such GPU on an HGX board; did you mean \"{}\"?", *meant)
                             : fmt::format("expected \"hgx-GPU\" or \"hgx-GPU-NxG\", such as \"hgx-h100-8x400\"; "
                                           "GPU: {}",
                                           fmt::join(known, ", ")));
}

Spot nic_row(const Spot& nics, std::uint32_t gbps, std::string_view name) {
    std::vector<std::uint32_t> known;
    for (std::size_t i = 0; i < nics.size(); ++i) {
        known.push_back(nics[i]["gbps"].count());
        if (known.back() == gbps) return nics[i];
    }
    refuse_words(name, fmt::format("expected NICs of {} Gb/s", fmt::join(known, ", ")));
}

// NIC n hangs beside the GPU that is as far along among the GPUs as n is among the NICs.
std::vector<PcieSwitch> tree(std::uint32_t gpus, std::uint32_t nics, std::uint32_t numa_nodes) {
    std::vector<PcieSwitch> switches;
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
        switches.push_back({.numa = gpu * numa_nodes / gpus, .gpus = {gpu}, .nics = {}});
    for (std::uint32_t nic = 0; nic < nics; ++nic) switches[nic * gpus / nics].nics.push_back(nic);
    return switches;
}

InstanceType host_of(const Files& files, const Spot& root, const Spot& board) {
    InstanceType type{.name = {},
                      .gpu = read_gpu(files, value(board["gpu"]).text(), kFile),
                      .gpus = value(root["gpus"]).count(),
                      .nvlink = read_nvlink(files, value(board["nvlink"]).text(), kFile),
                      .pcie_gpu = value(board["gpu_rate"]).rate(),
                      .pcie_host = value(board["host_rate"]).rate(),
                      .numa = value(board["numa_rate"]).rate(),
                      .pcie_root = value(board["root_rate"]).rate(),
                      .numa_memory = value(board["memory_rate"]).rate(),
                      .cpu = cpu_of(board["cpu"]),
                      .gpudirect = value(root["gpudirect"]).json().get<bool>(),
                      .host_memory = value(board["host_memory"]).bytes(),
                      .simple_buffer = value(root["buffer"]).bytes()};
    read_drives(board["drives"], type);
    return type;
}

}  // namespace

InstanceType hgx_machine(const Files& files, std::string_view name) {
    const HgxName wanted = hgx_name_of(name);
    Document document(text_of(files, kFile, kFile), kFile, "hgx");
    const Spot root = document.root();
    InstanceType type = host_of(files, root, board_of(root["boards"], wanted.board, name));
    type.name = std::string(name);
    type.switches = tree(type.gpus, wanted.nics, value(root["numa_nodes"]).count());
    if (wanted.nics > 0) {
        const Spot row = nic_row(root["nics"], wanted.gbps, name);
        type.nic = read_nic(files, value(row[wanted.roce ? "roce" : "infiniband"]).text(), kFile);
        type.nics = wanted.nics;
        // The ports beside one GPU are one device to NCCL.
        type.rails = wanted.nics % type.gpus == 0 ? wanted.nics / type.gpus : 1;
        type.pcie_nic = value(row["pcie_rate"]).rate();
    }
    document.finish();
    return type;
}

}  // namespace fmsim
