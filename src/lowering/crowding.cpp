// How a channel slows down when others share its links, in the terms of a stream.
//
// Let T(u) be its makespan when each of its transfers gets one part in u of its links. Its chunks wait for each other,
// so T is convex: flat while latencies and SMs hold it back, a straight line in the end. A stream takes
//
//   fill + u x tight + max(span - tight, u x (more x busy - tight))
//
// fill: waiting, in which its links are not full; busy: seconds that its bytes need of the busiest link; span is what
// T(1) leaves: alone it ends exactly then. `more` and fill are those of the line through T(2) and T(8), so it is right
// there too. A chain on whose links each chunk is sent on only when it is whole has more than 1: its transit takes
// longer on slower links as well. Never less than 1: all bytes go over the links. Where that line rises by less than
// the bytes, T bends beyond 2 once more: `tight` is then what T(2) adds to T(1), and T(8) leaves the fill.
//
// Chunks wait all along, not before the first byte and after the last, so a stream is cut into rounds of some waiting,
// some bytes and some waiting (lower.cpp): whoever shares its links for a while slows down that part of all of it.
//
// By hand: busy 10 us; T(1) = 50, T(2) = 52, T(8) = 112. The line has 10 us a part: more = 1, and 112 - 8 x 10 = 32 us
// of fill; alone 32 + 18, the bytes at 10/18 of the links; beside a twin 32 + max(18, 20) = 52 us.
// T(2) = 56, T(8) = 104: the line has 8 us a part, less than 10. 104 - 8 x 10 = 24 us of fill, 6 us tight, and 20 us
// for the bytes left, which need 4 us of the links: beside a twin 24 + 12 + 20, beside seven 24 + 48 + max(20, 32) =
// 104 us.
#include "crowding.hpp"

#include <algorithm>

namespace fmsim {
namespace {

constexpr double kStraight = 1e-3;  // a bend by less is none

}  // namespace

CrowdedPace crowded_pace(const SoloRun& run) {
    const double alone = seconds(run.makespan), eight = seconds(run.among_eight);
    CrowdedPace pace;
    double fill = alone - run.busiest;  // without links nobody can share any
    if (run.links > 0) {
        const double rise = seconds(run.among_eight - run.among_two) / 6;
        pace.more = std::max(1.0, rise / run.links);
        fill = std::min(eight - 8 * pace.more * run.links, alone - std::max(run.busiest, pace.more * run.links));
        if (rise < run.links * (1 - kStraight))  // convex: no more than the rise after it
            pace.tight = from_seconds(std::clamp(seconds(run.among_two - run.makespan), 0.0, std::max(0.0, rise)));
    }
    fill = std::max(0.0, fill);
    // Alone its links have room for it.
    if (run.links > 0) pace.more = std::clamp((alone - fill) / run.links, 1.0, pace.more);
    pace.fill = from_seconds(fill);
    pace.span = run.makespan - pace.fill;
    return pace;
}

}  // namespace fmsim
