// Steps come after those that they wait for. While all moves so far stand in one row, a move that waits for the last of
// them waits for all.
#include "overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fmsim {
namespace {

constexpr std::uint32_t kLeastRounds = 2, kMostRounds = 12, kRoundsInARow = 2000;

}  // namespace

Overlap overlap_of(std::span<const Step> steps) {
    std::vector<std::uint32_t> behind(steps.size());  // how many moves in the row end before the step does
    std::vector<std::uint32_t> chain(steps.size());   // moves on the longest way to its end
    std::uint32_t moves = 0, longest = 0;
    bool in_a_row = true, families = false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        for (const std::uint32_t before : step.after) {
            behind[i] = std::max(behind[i], behind[before]);
            chain[i] = std::max(chain[i], chain[before]);
        }
        if (step.schedule == nullptr || !step.schedule->moves()) continue;
        longest = std::max(longest, ++chain[i]);
        families = families || step.copies > 1;
        in_a_row = in_a_row && behind[i] == moves;
        behind[i] = ++moves;
    }
    if (in_a_row && !families) return {};
    return {.meets = true, .rounds = std::clamp(kRoundsInARow / longest, kLeastRounds, kMostRounds)};
}

}  // namespace fmsim
