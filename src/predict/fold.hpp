// Ranks, groups and domains that behave alike, found once for a workload: see fold.cpp and docs/models/folding.md.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fmsim/lowering.hpp"
#include "fmsim/topology.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {

inline constexpr std::uint32_t kNoClass = std::numeric_limits<std::uint32_t>::max();

// Ranks of one job with one program, on the same GPU of alike domains.
struct RankClass {
    std::uint32_t first{};  // its first rank
    std::uint32_t count{};
    std::uint32_t program{};
};
struct GroupClass {
    std::uint32_t first{};  // its first group, in the family
    std::uint32_t count{};
    bool alike_parts{};  // all its domains are of one class, and the same of their GPUs take part
};
struct FoldedFamily {
    std::vector<std::vector<std::uint32_t>> groups;  // ranks of each
    std::vector<std::uint32_t> class_of;             // of a group
    std::vector<GroupClass> classes;
};
struct FoldedJob {
    std::vector<std::uint32_t> class_of;  // of a rank; kNoClass: it has no program
    std::vector<RankClass> ranks;
    std::vector<FoldedFamily> families;
};
struct Fold {
    LinkClasses links;
    std::vector<FoldedJob> jobs;
    std::vector<std::string> apart;  // of each class of domains: see Folding::DomainClass
};

// What each part of a group is to the group, beyond which of its GPUs take part: parts with equal roles and equal GPUs
// load their links alike in all calls of the family.
using PartRoles =
    std::function<std::vector<std::uint64_t>(const Group& group, std::uint32_t job, std::uint32_t family)>;

// Nothing where folding is unsound or would gain nothing: a free graph, hashed flows on layers that can saturate,
// messages within a class.
std::optional<Fold> fold(const Topology& topology, const Workload& workload, const std::vector<Placement>& placements,
                         const PartRoles& roles_of);

}  // namespace fmsim
