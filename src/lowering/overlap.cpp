// Steps come after those that they wait for. While all moves so far stand in one row, a move that waits for the last of
// them waits for all.
#include "overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fmsim {

bool may_overlap(std::span<const Step> steps) {
    std::vector<std::uint32_t> behind(steps.size());  // how many moves in the row end before the step does
    std::uint32_t moves = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        for (const std::uint32_t before : step.after) behind[i] = std::max(behind[i], behind[before]);
        if (step.schedule == nullptr || !step.schedule->moves()) continue;
        if (behind[i] < moves || step.copies > 1) return true;
        behind[i] = ++moves;
    }
    return false;
}

}  // namespace fmsim
