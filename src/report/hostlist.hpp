// Host names -> Slurm's hostlist expressions: n001, n002, n003, n020 is "n[001-003,020]". formats reads them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace fmsim {

// One expression for each run of names that differ in their last number only. The order stays.
std::vector<std::string> folded_hosts(std::span<const std::string> names);

// All of them, between commas.
std::string hostlist(std::span<const std::string> names);

}  // namespace fmsim
