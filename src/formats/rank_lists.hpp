// Ranks and groups of them, as a workload file writes them: [0, 1, 2], "0-7,16", or a size and a stride.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allowance.hpp"
#include "document.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {

// So many ranks the lists of one file may give: a range of a few letters can name a million.
inline constexpr std::size_t kMostListedRanks = 10'000'000;

// A list of numbers, or ranges.
std::vector<std::uint32_t> ranks_at(const Document::Spot& spot, Allowance& left);

// The groups under their names, behind the one of all ranks, which no file has to name.
std::vector<GroupFamily> families_at(const Document::Spot& groups, Allowance& left);
GroupFamily all_ranks();

}  // namespace fmsim
