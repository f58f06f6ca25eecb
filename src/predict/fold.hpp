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
    std::vector<std::uint32_t> members;  // the ranks of its first group
    std::uint32_t count{};
    bool alike_parts{};  // all its domains are of one class, and the same of their GPUs take part
};
struct FoldedFamily {
    std::uint32_t groups{};
    std::vector<GroupClass> classes;
    std::vector<std::uint32_t> of_ranks;  // of each class of ranks: the class of its groups; kNoClass: in none
};
struct FoldedJob {
    std::vector<std::uint32_t> class_of;  // of a rank, as often as it repeats; kNoClass: it has no program
    std::vector<RankClass> ranks;
    std::vector<FoldedFamily> families;
    std::uint32_t class_of_rank(std::uint32_t rank) const { return class_of[rank % class_of.size()]; }
};
struct Fold {
    LinkClasses links;
    std::vector<FoldedJob> jobs;
    std::vector<std::string> apart;  // of each class of domains: see Folding::DomainClass
    bool by_symmetry{};              // classes are orbits: members do the same at every moment, in `chunk` too
};

// What each part of a group is to the group, beyond which of its GPUs take part: parts with equal roles and equal GPUs
// load their links alike in all calls of the family.
using PartRoles =
    std::function<std::vector<std::uint64_t>(const Group& group, std::uint32_t job, std::uint32_t family)>;

// Whether all parts of a group are of one class of domains with the same GPUs and roles.
bool alike_parts(const Group& group, const LinkClasses& links, const std::vector<std::uint64_t>& roles);

// The classes of a job that repeats itself domain by domain, without a look at most of its ranks: see regular_fold.cpp.
// Nothing where it does not, or a domain differs.
std::optional<Fold> regular_fold(const Topology& topology, const Workload& workload,
                                 const std::vector<Placement>& placements, const PartRoles& roles_of);

// Nothing where folding is unsound or would gain nothing: a free graph, hashed flows on layers that can saturate,
// messages within a class.
std::optional<Fold> fold(const Topology& topology, const Workload& workload, const std::vector<Placement>& placements,
                         const PartRoles& roles_of);

}  // namespace fmsim
