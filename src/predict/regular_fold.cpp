// Folding by symmetry, for the jobs that most people run: whole alike domains in order, groups by size and stride.
//
// Move every rank on by `shift`, the last ones to the front. When that takes domains to domains, groups to groups and
// programs to like programs, and leaves every role in a ring or tree as it was, then a domain behaves like the one
// `shift` ranks on: the orbits of the domains are classes (a finer partition than refinement's at most, and as exact).
// What is looked at grows with the first group of each class, not with the job.
//
//   8 GPUs a domain, tensor groups of 8, data groups of stride 8 over all domains: shift 8, one class of domains.
//   The same with 4 pipeline stages of 8 domains each (size 4, stride 64): shift 256, 32 classes.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "fold.hpp"

namespace fmsim {
namespace {

constexpr std::uint32_t kMostShifts = 64;  // that are tried, each a multiple of the first

struct Span {  // of a family in ranks
    std::uint32_t size{}, stride{}, block{};
};

class Symmetry {
public:
    Symmetry(const Topology& topology, const Workload& workload, const std::vector<Placement>& placements,
             const PartRoles& roles_of)
        : topology_(topology), workload_(workload), placement_(placements.front()), roles_of_(roles_of) {}

    // Whether there is a shift.
    bool find() {
        if (!is_laid_out_regularly()) return false;
        std::uint64_t shift = per_domain_;
        for (const Job& job : workload_.jobs)
            for (const GroupFamily& family : job.groups) {
                if (!family.members.empty()) return false;
                const Span span = span_of(family);
                if (ranks_ % span.block != 0) return false;
                if (span.block < ranks_) shift = std::lcm(shift, span.block);
                if (shift > ranks_ / 2) return false;
            }
        for (std::uint32_t times = 1; times <= kMostShifts && shift * times <= ranks_ / 2; ++times) {
            if (ranks_ % (shift * times) != 0) continue;
            shift_ = static_cast<std::uint32_t>(shift * times);
            if (programs_repeat() && roles_repeat()) return true;
        }
        return false;
    }
    Fold result();

private:
    bool is_laid_out_regularly();
    bool programs_repeat();
    bool roles_repeat();
    bool rotates(const Span& span, std::uint32_t job, std::uint32_t family);
    LinkClasses link_classes() const;
    FoldedJob folded_job(std::uint32_t job, const LinkClasses& links);
    FoldedFamily folded_family(std::uint32_t job, std::uint32_t family, const FoldedJob& folded,
                               const LinkClasses& links);

    Span span_of(const GroupFamily& family) const {
        if (family.size == 0) return {ranks_, 1, ranks_};
        return {family.size, family.stride, family.size * family.stride};
    }
    // Groups of a family that no shift takes to each other, by their first rank.
    std::vector<std::uint32_t> first_ranks(const Span& span) const {
        std::vector<std::uint32_t> firsts;
        if (span.block == ranks_) {
            firsts.resize(std::gcd(shift_, span.stride));
            std::iota(firsts.begin(), firsts.end(), 0u);
            return firsts;
        }
        for (std::uint32_t block = 0; block < shift_; block += span.block)
            for (std::uint32_t in = 0; in < span.stride; ++in) firsts.push_back(block + in);
        return firsts;
    }
    static std::vector<std::uint32_t> members(const Span& span, std::uint32_t first) {
        std::vector<std::uint32_t> all(span.size);
        for (std::uint32_t i = 0; i < span.size; ++i) all[i] = first + i * span.stride;
        return all;
    }
    const std::vector<std::uint64_t>& roles_of(const Span& span, std::uint32_t first, std::uint32_t job,
                                               std::uint32_t family) {
        const auto [known, fresh] = roles_.try_emplace(std::tuple{job, family, first});
        if (fresh) known->second = roles_of_(group(members(span, first)), job, family);
        return known->second;
    }
    Group group(const std::vector<std::uint32_t>& members) const {
        Placement places;
        for (const std::uint32_t rank : members) places.push_back(placement_[rank]);
        return group_of(places);
    }

    const Topology& topology_;
    const Workload& workload_;
    const Placement& placement_;
    const PartRoles& roles_of_;
    std::uint32_t ranks_{}, per_domain_{}, shift_{};
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> roles_;
    std::vector<std::vector<std::uint32_t>> programs_;  // of a job, of a rank below the shift
};

// The same GPUs of each domain in turn, from the first on.
bool Symmetry::is_laid_out_regularly() {
    ranks_ = static_cast<std::uint32_t>(placement_.size());
    while (per_domain_ < ranks_ && placement_[per_domain_].domain == placement_[0].domain) ++per_domain_;
    if (ranks_ % per_domain_ != 0) return false;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
        if (placement_[rank] != GpuPlace{DomainId{rank / per_domain_}, placement_[rank % per_domain_].gpu})
            return false;
    return true;
}

bool Symmetry::programs_repeat() {
    programs_.clear();
    for (const Job& job : workload_.jobs) {
        const bool listed = std::any_of(job.programs.begin(), job.programs.end(),
                                        [](const Program& program) { return !program.ranks.empty(); });
        std::vector<std::uint32_t> of(listed ? ranks_ : shift_, kNoClass);
        for (std::uint32_t p = 0; p < job.programs.size(); ++p) {
            for (const std::uint32_t rank : job.programs[p].ranks) of[rank] = p;
            if (job.programs[p].ranks.empty()) std::fill(of.begin(), of.end(), p);
            for (const Operation& operation : job.programs[p].operations)
                if (const auto* transfers = std::get_if<Transfers>(&operation.action)) {
                    // To one certain rank: the shift would take it to another.
                    for (const Send& send : transfers->sends)
                        if (!send.to.relative) return false;
                    for (const Receive& receive : transfers->receives)
                        if (!receive.from.relative) return false;
                }
        }
        for (std::uint32_t rank = shift_; rank < of.size(); ++rank)
            if (of[rank] != of[rank - shift_]) return false;
        of.resize(shift_);
        programs_.push_back(std::move(of));
    }
    return true;
}

bool Symmetry::roles_repeat() {
    for (std::uint32_t job = 0; job < workload_.jobs.size(); ++job)
        for (std::uint32_t f = 0; f < workload_.jobs[job].groups.size(); ++f) {
            const Span span = span_of(workload_.jobs[job].groups[f]);
            // Smaller blocks move as they are: each position stays what it was.
            if (span.block == ranks_ && !rotates(span, job, f)) return false;
        }
    return true;
}

// A group over all ranks becomes one of the family with its domains rotated. By how many depends on where the last
// ranks come to stand: by one, or by all that the shift holds.
bool Symmetry::rotates(const Span& span, std::uint32_t job, std::uint32_t family) {
    std::uint32_t by = 1;
    if (span.stride < per_domain_) {
        if (per_domain_ % span.stride != 0) return false;
        by = shift_ / per_domain_;
    } else {
        if (span.stride % per_domain_ != 0) return false;
        if (shift_ % span.stride == 0) by = shift_ / span.stride;
    }
    for (const std::uint32_t first : first_ranks(span)) {
        const std::vector<std::uint64_t>& roles = roles_of(span, first, job, family);
        for (std::size_t p = by; p < roles.size(); ++p)
            if (roles[p] != roles[p - by]) return false;
        if (roles.size() % by != 0) return false;
    }
    return true;
}

LinkClasses Symmetry::link_classes() const {
    LinkClasses links;
    const std::uint32_t classes = shift_ / per_domain_, used = ranks_ / per_domain_;
    for (std::uint32_t d = 0; d < topology_.domains(); ++d)
        links.of_domain.rows.push_back(d < used ? d % classes : classes);
    for (std::uint32_t c = 0; c < classes; ++c) {
        links.first.push_back({c});
        links.count.push_back(used / classes);
    }
    if (used < topology_.domains()) {
        links.first.push_back({used});
        links.count.push_back(topology_.domains() - used);
    }
    return links;
}

FoldedJob Symmetry::folded_job(std::uint32_t job, const LinkClasses& links) {
    FoldedJob folded;
    for (std::uint32_t rank = 0; rank < shift_; ++rank) {
        const std::uint32_t program = programs_[job][rank];
        folded.class_of.push_back(program == kNoClass ? kNoClass : static_cast<std::uint32_t>(folded.ranks.size()));
        if (program != kNoClass) folded.ranks.push_back({rank, ranks_ / shift_, program});
    }
    for (std::uint32_t f = 0; f < workload_.jobs[job].groups.size(); ++f)
        folded.families.push_back(folded_family(job, f, folded, links));
    return folded;
}

FoldedFamily Symmetry::folded_family(std::uint32_t job, std::uint32_t f, const FoldedJob& folded,
                                     const LinkClasses& links) {
    const Span span = span_of(workload_.jobs[job].groups[f]);
    FoldedFamily family{.groups = ranks_ / span.size, .classes = {}, .of_ranks = {}};
    const std::vector<std::uint32_t> firsts = first_ranks(span);
    for (const std::uint32_t first : firsts) {
        GroupClass made{members(span, first), family.groups / static_cast<std::uint32_t>(firsts.size()), false};
        made.alike_parts = alike_parts(group(made.members), links, roles_of(span, first, job, f));
        family.classes.push_back(std::move(made));
    }
    for (const RankClass& ranks : folded.ranks)
        family.of_ranks.push_back(span.block == ranks_
                                      ? ranks.first % static_cast<std::uint32_t>(firsts.size())
                                      : ranks.first / span.block * span.stride + ranks.first % span.stride);
    return family;
}

Fold Symmetry::result() {
    Fold folded{.links = link_classes(), .jobs = {}, .apart = {}, .by_symmetry = true};
    for (std::uint32_t job = 0; job < workload_.jobs.size(); ++job)
        folded.jobs.push_back(folded_job(job, folded.links));
    for (std::uint32_t c = 0; c < folded.links.first.size(); ++c)
        folded.apart.emplace_back(c == 0                     ? ""
                                  : c < shift_ / per_domain_ ? "another place in the programs or groups"
                                                             : "another number of ranks");
    return folded;
}

}  // namespace

bool alike_parts(const Group& group, const LinkClasses& links, const std::vector<std::uint64_t>& roles) {
    const Group::Part& first = group.parts.front();
    const auto same_gpus = [&](const Group::Part& part) {
        return std::equal(part.positions.begin(), part.positions.end(), first.positions.begin(), first.positions.end(),
                          [&](std::uint32_t a, std::uint32_t b) { return group.places[a].gpu == group.places[b].gpu; });
    };
    for (std::size_t p = 1; p < group.parts.size(); ++p)
        if (links.of_domain[group.parts[p].domain] != links.of_domain[first.domain] || roles[p] != roles[0] ||
            !same_gpus(group.parts[p]))
            return false;
    return true;
}

std::optional<Fold> regular_fold(const Topology& topology, const Workload& workload,
                                 const std::vector<Placement>& placements, const PartRoles& roles_of) {
    if (topology.cluster.blocks.size() != 1 || !topology.cluster.faults.empty() || network_counts(topology)) return {};
    if (std::any_of(placements.begin(), placements.end(), [&](const Placement& p) { return p != placements.front(); }))
        return {};
    Symmetry symmetry(topology, workload, placements, roles_of);
    if (!symmetry.find()) return {};
    return symmetry.result();
}

}  // namespace fmsim
