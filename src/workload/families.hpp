// A family of groups once the number of ranks is known: who is in which group, and where.
//
// Groups by size and stride are counted, not listed, so that a family costs nothing however many ranks there are.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "fmsim/workload.hpp"

namespace fmsim {

class Family {
public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    // The family must suit the ranks: see family_problem.
    Family(const GroupFamily& written, std::uint32_t ranks);

    std::uint32_t groups() const;
    std::uint32_t group_of(std::uint32_t rank) const;  // kNone where it is in none
    std::uint32_t size(std::uint32_t group) const;
    std::uint32_t member(std::uint32_t group, std::uint32_t position) const;
    std::vector<std::uint32_t> members(std::uint32_t group) const;

private:
    const GroupFamily* written_;
    std::uint32_t ranks_, size_, stride_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> listed_;  // rank and group, by rank; of groups with members
};

// What keeps a family from these ranks, if anything: a member beyond them, a size that does not divide them.
std::vector<Problem> family_problem(const GroupFamily& family, std::uint32_t ranks, const std::string& place);

// "0-3,7": in the order of the numbers.
std::string ranges_of(std::vector<std::uint32_t> ranks);

// "rank 7", "ranks 4-6".
std::string ranks_text(const std::vector<std::uint32_t>& ranks);

}  // namespace fmsim
