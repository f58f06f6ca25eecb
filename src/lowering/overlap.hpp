// Whether operations can meet on links.
#pragma once

#include <cstdint>
#include <span>

#include "fmsim/lowering.hpp"

namespace fmsim {

// Whether steps can move bytes at the same time, and how finely a stream then meets those that come and go.
struct Overlap {
    bool meets{};  // not when each that moves anything waits for the one before it, and stands for itself only
    // Of waiting, bytes and waiting in a stream. 12: pairs of operations then end within a point of where they do with
    // 64, with 8 within three (docs/decisions/0017). Fewer where a run has over 166 in a row, which a folded run has
    // too, down to two: 1,200 pairs in a row then take within 6 % of what 30 take, a pair each (overlaps_test.cpp),
    // with four within 3 % for half the time again; with one round some were 23 % off.
    std::uint32_t rounds = 1;
};
Overlap overlap_of(std::span<const Step> steps);

}  // namespace fmsim
