#include "families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fmsim {

Family::Family(const GroupFamily& written, std::uint32_t ranks)
    : written_(&written), ranks_(ranks), size_(written.size), stride_(written.stride) {
    if (size_ == 0) size_ = ranks, stride_ = 1;
    for (std::uint32_t group = 0; group < written.members.size(); ++group)
        for (const std::uint32_t rank : written.members[group]) listed_.emplace_back(rank, group);
    std::sort(listed_.begin(), listed_.end());
}

std::uint32_t Family::groups() const {
    if (!listed_.empty()) return static_cast<std::uint32_t>(written_->members.size());
    return ranks_ / size_;
}

std::uint32_t Family::group_of(std::uint32_t rank) const {
    if (listed_.empty()) return rank / size_ / stride_ * stride_ + rank % stride_;
    const auto found = std::lower_bound(listed_.begin(), listed_.end(), std::pair{rank, std::uint32_t{0}});
    return found != listed_.end() && found->first == rank ? found->second : kNone;
}

std::uint32_t Family::size(std::uint32_t group) const {
    return listed_.empty() ? size_ : static_cast<std::uint32_t>(written_->members[group].size());
}

std::uint32_t Family::member(std::uint32_t group, std::uint32_t position) const {
    if (!listed_.empty()) return written_->members[group][position];
    return group / stride_ * size_ * stride_ + group % stride_ + position * stride_;
}

std::vector<std::uint32_t> Family::members(std::uint32_t group) const {
    if (!listed_.empty()) return written_->members[group];
    std::vector<std::uint32_t> all(size_);
    for (std::uint32_t i = 0; i < size_; ++i) all[i] = member(group, i);
    return all;
}

std::vector<std::vector<std::uint32_t>> groups_of(const GroupFamily& written, std::uint32_t ranks) {
    if (auto problems = family_problem(written, ranks, written.place); !problems.empty())
        throw InputError(std::move(problems));
    const Family family(written, ranks);
    std::vector<std::vector<std::uint32_t>> groups;
    for (std::uint32_t group = 0; group < family.groups(); ++group) groups.push_back(family.members(group));
    return groups;
}

std::vector<Problem> family_problem(const GroupFamily& family, std::uint32_t ranks, const std::string& place) {
    const auto problem = [&](std::string expected, std::string found) {
        return std::vector<Problem>{{.pointer = place, .expected = std::move(expected), .found = std::move(found)}};
    };
    for (const auto& group : family.members)
        for (const std::uint32_t rank : group)
            if (rank >= ranks)
                return problem(fmt::format("expected members of the job's ranks, which are 0 to {}", ranks - 1),
                               fmt::format("{}", rank));
    if (family.size != 0 && ranks % (std::uint64_t{family.size} * family.stride) != 0)
        return problem(fmt::format("expected a size and a stride whose product divides the job's {} ranks", ranks),
                       fmt::format("{} x {}", family.size, family.stride));
    return {};
}

std::string ranges_of(std::vector<std::uint32_t> ranks) {
    std::sort(ranks.begin(), ranks.end());
    std::string text;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < ranks.size();) {
        if (++shown > 8) return text + ",...";
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
        i = last + 1;
    }
    return text;
}

std::string ranks_text(const std::vector<std::uint32_t>& ranks) {
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", ranges_of(ranks));
}

}  // namespace fmsim
