// The operations of one program, as a workload file writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "allowance.hpp"
#include "document.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {

// So many operations and parts of them a file may give once its repetitions are written out.
inline constexpr std::size_t kMostOperations = 1'000'000;

std::vector<Operation> operations_at(const Document::Spot& list, const std::vector<GroupFamily>& groups,
                                     Allowance& left);

}  // namespace fmsim
