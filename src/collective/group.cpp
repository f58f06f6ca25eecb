// Groups of ranks, and the rings that NCCL finds on the part of each domain that a group has.
//
// A whole domain has the search result of its type. On a part of one NCCL finds, by its published results for one and
// four GPUs of p5, a path for each NIC group that hangs beside a GPU of the part, in the order of the whole, entering
// and leaving by that group:
//
//   p5, GPUs 0 to 3:  by group 0: 0 3 2 1,  by group 1: 1 2 3 0,  ...   and as few as these twice, at half the speed
#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "fmsim/collective.hpp"

namespace fmsim {
namespace {

// The part of a path that is on these GPUs.
std::vector<std::uint32_t> kept(const RingPath& path, const std::set<std::uint32_t>& gpus) {
    std::vector<std::uint32_t> here;
    for (const std::uint32_t gpu : path.gpus)
        if (gpus.contains(gpu)) here.push_back(gpu);
    return here;
}

RingSearch part_search(const DomainType& type, const std::set<std::uint32_t>& gpus, bool alone) {
    RingSearch whole = alone ? type.alone : type.several;
    if (alone) {  // no NICs: as many paths as on all GPUs
        for (RingPath& path : whole.paths) path.gpus = kept(path, gpus);
        return whole;
    }
    whole = undoubled(std::move(whole));
    RingSearch search{.paths = {}, .crosses_nics = false, .intra = whole.intra, .inter = whole.inter};
    for (const RingPath& path : whole.paths)
        if (gpus.contains(path.gpus.front()))
            search.paths.push_back(
                {.gpus = kept(path, gpus), .enter_group = path.enter_group, .leave_group = path.enter_group});
    if (search.paths.empty()) {  // none begins here: one by the NICs beside its first GPU
        const std::uint32_t group = type.nic_group_of(*gpus.begin());
        search.paths.push_back({.gpus = {gpus.begin(), gpus.end()}, .enter_group = group, .leave_group = group});
    }
    return doubled(std::move(search), type.instance.gpu);
}

}  // namespace

Group group_of(const Placement& placement) {
    Group group{.places = placement, .parts = {}};
    std::unordered_map<std::uint32_t, std::uint32_t> part;  // of a domain; only looked up
    for (std::uint32_t position = 0; position < placement.size(); ++position) {
        const DomainId domain = placement[position].domain;
        // Neighbours mostly share a domain.
        if (!group.parts.empty() && group.parts.back().domain == domain) {
            group.parts.back().positions.push_back(position);
            continue;
        }
        // As long as they come in order none has come before.
        const bool in_order = part.empty() && (group.parts.empty() || group.parts.back().domain < domain);
        if (!in_order && part.empty())
            for (std::uint32_t p = 0; p < group.parts.size(); ++p) part.emplace(group.parts[p].domain.value, p);
        std::uint32_t its = static_cast<std::uint32_t>(group.parts.size());
        if (!in_order) its = part.try_emplace(domain.value, its).first->second;
        if (its == group.parts.size()) group.parts.push_back({domain, {}});
        group.parts[its].positions.push_back(position);
    }
    for (Group::Part& one : group.parts) {
        if (one.positions.size() == 1) continue;
        std::sort(one.positions.begin(), one.positions.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return placement[a].gpu < placement[b].gpu; });
        for (std::size_t i = 1; i < one.positions.size(); ++i)
            if (placement[one.positions[i]] == placement[one.positions[i - 1]])
                throw InputError({{.file = "",
                                   .line = 0,
                                   .pointer = "",
                                   .expected = "expected each GPU once in a group",
                                   .found = fmt::format("GPU {} of domain {}, twice", placement[one.positions[i]].gpu,
                                                        one.domain.value)}});
    }
    return group;
}

GroupRings rings_of(const Topology& topology, const Group& group) {
    GroupRings rings;
    const auto alike = [&](const Group::Part& a, const Group::Part& b) {
        return &topology.type_of(a.domain) == &topology.type_of(b.domain) &&
               std::equal(a.positions.begin(), a.positions.end(), b.positions.begin(), b.positions.end(),
                          [&](std::uint32_t x, std::uint32_t y) { return group.places[x].gpu == group.places[y].gpu; });
    };
    for (const Group::Part& part : group.parts) {
        if (&part != &group.parts.front() && alike(part, *(&part - 1))) {  // mostly
            rings.of_part.push_back(rings.of_part.back());
            continue;
        }
        const DomainType& type = topology.type_of(part.domain);
        const bool alone = group.parts.size() == 1;
        if (part.positions.size() == type.gpus()) {
            rings.of_part.push_back(alone ? type.alone : type.several);
            continue;
        }
        std::set<std::uint32_t> gpus;
        for (const std::uint32_t position : part.positions) gpus.insert(group.places[position].gpu);
        rings.of_part.push_back(part_search(type, gpus, alone));
    }
    // A channel passes through all domains: there are as many as the poorest can have.
    std::size_t least = rings.of_part.front().paths.size();
    for (const RingSearch& search : rings.of_part) least = std::min(least, search.paths.size());
    for (RingSearch& search : rings.of_part) search.paths.resize(least);
    return rings;
}

}  // namespace fmsim
