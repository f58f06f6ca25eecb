// Ring paths for a machine whose NCCL search nobody has published: by the patterns that the published ones show.
//
//   alone     one order of all GPUs
//   several   one path a NIC group. Where another GPU hangs beside the group's, data enter at one and leave at the
//   other
//             (p5en, p4d: 1 2 3 4 5 6 7 0 by group 0). Where each GPU has groups of its own, neighbours pair up: a path
//             enters by one group and leaves by the other (p5: 0 7 6 5 4 3 2 1 in by 0, out by 1, and mirrored).
//             Otherwise it enters and leaves by one group, and the last GPU reaches it over NVLink.
//
// Of its speeds (nccl_speeds.hpp) NCCL takes that at which paths x speed is most, the highest of equals; a path puts
// its speed on every GPU's NVLink but the last one's, whose NICs take it. Few fast paths become twice as many of half
// the speed.
//
// By hand, 8 x H800, 164.8 GB/s of NVLink as NCCL counts, 8 NICs of 50: 3 x 48, 4 x 40 = 160, but 8 x 22 = 176, of
// which every GPU sends 7 x 22 = 154.
//
// Source: NCCL 2.30's search results for AWS machines.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "fmsim/topology.hpp"
#include "nccl_speeds.hpp"

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

// A hair for sums of speeds that are no binary fractions: sixteen paths of 45.1 on 721.6.
constexpr double kHair = 1e-9;

struct Found {
    std::uint32_t paths{};
    double gbps{};
};

// Of the speeds from high to low the first at which paths x speed is most, of those not much below it. `most` paths may
// there be of a speed.
template <class Most>
Found fastest(std::span<const double> tried, Most most) {
    Found best;
    for (const double gbps : tried) {
        if (best.paths > 0 && gbps < kSlowestTried * best.gbps) break;
        const Found now{std::min(most(gbps), kMostRingPaths), gbps};
        if (now.paths * gbps > best.paths * best.gbps * (1 + kHair)) best = now;
    }
    if (best.paths == 0) best = {1, tried.back()};  // slower than all that NCCL tries
    return best;
}

std::uint32_t times(double whole, double part) { return static_cast<std::uint32_t>(whole / part * (1 + kHair)); }

double nvlink_of(const InstanceType& type) {
    return type.nvlink ? nvlink_gbps(type.gpu, type.nvlink->rate) : std::numeric_limits<double>::infinity();
}

RingSearch search_alone(const InstanceType& type, std::uint32_t gpus) {
    const double all = nvlink_of(type);
    const Found found = fastest(speeds(type.gpu, Reach::domain), [&](double gbps) {
        return type.nvlink ? std::min(kMostRingPaths, times(all, gbps)) : 1u;
    });
    RingPath path{.gpus = std::vector<std::uint32_t>(gpus), .enter_group = 0, .leave_group = 0};
    std::iota(path.gpus.begin(), path.gpus.end(), 0u);
    const BytesPerSecond rate{found.gbps * 1e9};
    return doubled({.paths = std::vector(found.paths, path), .crosses_nics = false, .intra = rate, .inter = rate},
                   type.gpu);
}

// How many of the first `paths` take bytes out of the busiest GPU over NVLink: all that do not end at it, and those
// that end at it but leave by NICs that hang beside another.
std::uint32_t busiest_gpu(const InstanceType& type, const std::vector<RingPath>& paths, std::uint32_t count) {
    std::map<std::uint32_t, std::uint32_t> ends;
    const std::uint32_t gpus = static_cast<std::uint32_t>(paths.front().gpus.size());
    for (std::uint32_t p = 0; p < count; ++p) {
        const std::uint32_t last = paths[p].gpus.back();
        const auto near = beside(type, paths[p].leave_group);
        if (std::find(near.begin(), near.end(), last) != near.end()) ++ends[last];
    }
    if (ends.size() < gpus) return count;
    std::uint32_t least = count;
    for (const auto& [gpu, ended] : ends) least = std::min(least, ended);
    return count - least;
}

// As many of them, at the speed, that all NVLinks, PCIe slots and NICs carry most.
RingSearch fitted(const InstanceType& type, RingSearch search) {
    const double nic = std::min(type.nic->rate.value * type.rails * 1e-9, pcie_gbps(type.pcie_gpu));
    const double nvlink = nvlink_of(type);
    const auto all = static_cast<std::uint32_t>(search.paths.size());
    const Found found = fastest(speeds(type.gpu, Reach::network), [&](double gbps) {
        if (gbps > nic * (1 + kHair)) return 0u;
        std::uint32_t most = std::min(all, kMostRingPaths);
        if (search.crosses_nics) most -= most % 2;
        while (most > 0 && busiest_gpu(type, search.paths, most) * gbps > nvlink * (1 + kHair))
            most -= search.crosses_nics ? 2 : 1;
        return most;
    });
    search.paths.resize(std::min(all, search.crosses_nics ? std::max(2u, found.paths) : found.paths));
    search.intra = search.inter = {found.gbps * 1e9};
    return doubled(std::move(search), type.gpu);
}

// By the patterns above.
RingSearch path_a_group(const InstanceType& type, std::uint32_t instances) {
    const std::uint32_t gpus = instances * type.gpus;
    const std::uint32_t groups = instances * type.groups();
    RingSearch search;
    const bool own_groups = beside(type, 0).size() == 1 && groups % 2 == 0 && instances == 1;
    for (std::uint32_t group = 0; group < groups; ++group) {
        const auto near = beside(type, group);
        const std::uint32_t other = own_groups ? group ^ 1u : group;
        // Of several groups on one switch the second goes the other way round.
        const bool second = group % type.groups() > 0 && near.size() > 1 && beside(type, group - 1) == near &&
                            search.paths.back().gpus.front() == near[1];
        const std::uint32_t last = own_groups ? beside(type, other)[0] : near.size() > 1 ? near[second] : near.back();
        const std::uint32_t first = near.size() > 1 ? near[!second] : near[0];
        const bool apart = first != last;
        search.paths.push_back({.gpus = circle(gpus, first, apart ? last : (first + 1) % gpus),
                                .enter_group = group,
                                .leave_group = apart ? other : group});
        search.crosses_nics = search.crosses_nics || (apart && other != group);
    }
    return search;
}

}  // namespace

RingSearch doubled(RingSearch search, const Gpu& gpu) {
    if (!doubles(gpu, search.paths.size(), search.intra.value * 1e-9)) return search;
    const auto half = search.paths;
    search.paths.insert(search.paths.end(), half.begin(), half.end());
    search.intra.value /= 2;
    search.inter.value /= 2;
    return search;
}

RingSearch undoubled(RingSearch search) {
    const auto half = static_cast<std::ptrdiff_t>(search.paths.size() / 2);
    const auto middle = search.paths.begin() + half;
    if (search.paths.size() % 2 != 0 || half == 0 || !std::equal(search.paths.begin(), middle, middle)) return search;
    search.paths.erase(middle, search.paths.end());
    search.intra.value *= 2;
    search.inter.value *= 2;
    return search;
}

RingSearch default_search(const InstanceType& type, std::uint32_t instances, bool alone) {
    if (alone || type.groups() == 0) return search_alone(type, instances * type.gpus);
    return fitted(type, path_a_group(type, instances));
}

}  // namespace fmsim
