// Answers of EC2 -> hosts with the network nodes above each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network_tree.hpp"

namespace fmsim {

// What DescribeInstanceTypes says of a type. It knows nothing of NVLink, PCIe or the generation of EFA.
struct Ec2Type {
    std::string name;
    std::uint64_t gpus{};
    std::uint64_t efas{};
    std::uint64_t cards{};          // network cards; an answer may describe fewer than there are
    std::vector<double> card_gbps;  // the peak of each that is described
};

struct Ec2Answers {
    NetworkTree tree;
    std::vector<Ec2Type> types;
};
Ec2Answers parse_ec2(std::string_view text, const std::string& file);

// Where the answers and the catalogue disagree. Types that the catalogue lacks become notes.
std::vector<Problem> differences(const std::vector<Ec2Type>& types, const std::string& file, const Catalogue& catalogue,
                                 std::vector<Problem>& notes);

}  // namespace fmsim
