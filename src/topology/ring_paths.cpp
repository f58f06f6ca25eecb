// Ring paths for a machine whose NCCL search nobody has published: by the patterns that the published ones show.
//
//   alone     one order of all GPUs, on as many paths as NVLink's generation carries at NCCL's speed
//   several   one path a NIC group. Where another GPU hangs beside the group's, data enter at one and leave at the
//   other
//             (p5en, p4d: 1 2 3 4 5 6 7 0 by group 0). Where each GPU has groups of its own, neighbours pair up: a path
//             enters by one group and leaves by the other (p5: 0 7 6 5 4 3 2 1 in by 0, out by 1, and mirrored).
//             Otherwise it enters and leaves by one group, and the last GPU reaches it over NVLink.
//
// Source: NCCL 2.30's search results for AWS machines; the speeds are from its lists (graph/search.cc).
#include <algorithm>
#include <numeric>

#include "fmsim/topology.hpp"

namespace fmsim {
namespace {

// GPUs of a domain that hang on the same PCIe switch as a NIC group, counted through the domain.
std::vector<std::uint32_t> beside(const InstanceType& type, std::uint32_t group) {
    const std::uint32_t host = group / type.groups();
    const std::uint32_t nic = group % type.groups() * type.rails;
    std::vector<std::uint32_t> gpus;
    for (const PcieSwitch& pcie : type.switches)
        if (std::find(pcie.nics.begin(), pcie.nics.end(), nic) != pcie.nics.end())
            for (const std::uint32_t gpu : pcie.gpus) gpus.push_back(host * type.gpus + gpu);
    if (gpus.empty()) gpus.push_back(host * type.gpus);
    return gpus;
}

// All GPUs in a circle, from `first`; the other way round where `last` would not come last.
std::vector<std::uint32_t> circle(std::uint32_t count, std::uint32_t first, std::uint32_t last) {
    std::vector<std::uint32_t> gpus(count);
    const bool down = (first + 1) % count == last && count > 2;
    for (std::uint32_t i = 0; i < count; ++i) gpus[i] = (first + (down ? count - i : i)) % count;
    // Where they are no neighbours, the last one is moved to the end.
    if (count > 1 && last != first) {
        gpus.erase(std::find(gpus.begin(), gpus.end(), last));
        gpus.push_back(last);
    }
    return gpus;
}

// NCCL's speeds by generation: of a path inside a domain, and the number of paths it then finds there.
struct Speed {
    BytesPerSecond path;
    std::uint32_t paths;
};
Speed speed_alone(const Gpu& gpu) {
    if (gpu.compute_capability >= 100) return {{45e9}, 16};
    if (gpu.compute_capability >= 90) return {{30e9}, 12};
    return {{20e9}, 12};
}

RingSearch search_alone(const InstanceType& type, std::uint32_t gpus) {
    const Speed speed = speed_alone(type.gpu);
    RingPath path{.gpus = std::vector<std::uint32_t>(gpus), .enter_group = 0, .leave_group = 0};
    std::iota(path.gpus.begin(), path.gpus.end(), 0u);
    return {.paths = std::vector(speed.paths, path), .crosses_nics = false, .intra = speed.path, .inter = speed.path};
}

}  // namespace

RingSearch default_search(const InstanceType& type, std::uint32_t instances, bool alone) {
    const std::uint32_t gpus = instances * type.gpus;
    const std::uint32_t groups = instances * type.groups();
    if (alone || groups == 0) return search_alone(type, gpus);
    // NCCL counts a x16 Gen5 slot as 48 GB/s, and no NIC group as more.
    const BytesPerSecond path{std::min(48e9, type.nic->rate.value * type.rails)};
    RingSearch search{.paths = {}, .crosses_nics = false, .intra = path, .inter = path};
    const bool own_groups = beside(type, 0).size() == 1 && groups % 2 == 0 && instances == 1;
    for (std::uint32_t group = 0; group < groups; ++group) {
        const auto near = beside(type, group);
        const std::uint32_t other = own_groups ? group ^ 1u : group;
        const std::uint32_t last = own_groups ? beside(type, other)[0] : near.size() > 1 ? near[0] : near.back();
        const std::uint32_t first = near.size() > 1 ? near[1] : near[0];
        const bool apart = first != last;
        search.paths.push_back({.gpus = circle(gpus, first, apart ? last : (first + 1) % gpus),
                                .enter_group = group,
                                .leave_group = apart ? other : group});
        search.crosses_nics = search.crosses_nics || (apart && other != group);
    }
    return search;
}

}  // namespace fmsim
