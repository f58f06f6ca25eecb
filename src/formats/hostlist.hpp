// Slurm's hostlist expressions -> names: "n[001-003,020]" is n001, n002, n003, n020. report writes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/base.hpp"

namespace fmsim {

// So many names one file may give: what is beyond is a slip of the pen, or malice.
inline constexpr std::size_t kMostHosts = 1'000'000;

// Several brackets multiply, the leftmost slowest. Where the first number of a range has leading zeros its width holds
// for the range. `place` (its file, line and pointer) goes into the problem of the InputError thrown for what is no
// expression or gives more than `most` names.
std::vector<std::string> expand_hosts(std::string_view text, const Problem& place, std::size_t most = kMostHosts);

}  // namespace fmsim
