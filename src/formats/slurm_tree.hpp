// Slurm's switches and blocks, from either of its files -> hosts with the switches above each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "network_tree.hpp"

namespace fmsim {

struct SlurmSwitch {
    std::string name;
    std::string nodes;  // hostlists; a switch has one of the two
    std::string switches;
    std::size_t line{};
};
struct SlurmBlock {
    std::string name;
    std::string nodes;
    std::size_t line{};
};
struct SlurmTopology {
    std::string file;
    std::vector<SlurmSwitch> switches;
    std::vector<SlurmBlock> blocks;
    std::vector<std::size_t> block_sizes;
    std::size_t sizes_line{};
    std::vector<Problem> notes;
    std::vector<Problem> problems;  // found while reading; more are added
};

// Throws InputError with all problems.
NetworkTree tree_of(SlurmTopology topology);

NetworkTree parse_slurm_conf(std::string_view text, const std::string& file);
NetworkTree parse_slurm_yaml(std::string_view text, const std::string& file);

}  // namespace fmsim
