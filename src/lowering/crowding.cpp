// How a channel slows down when others share its links, in the terms of a stream.
//
// Let T(u) be its makespan when each of its transfers gets one part in u of its links. Its chunks wait for each other,
// so T is convex: flat while latencies and SMs hold it back, a straight line in the end. A stream takes
//
//   fill + max(span, more x u x busy)     fill: the transit of chunks through the pipeline, in which its links are
//                                         not full; busy: seconds that its bytes need of the busiest link
//
// span is what T(1) leaves: alone it ends exactly then. `more` and fill are those of the line through T(2) and T(8), so
// it is right there too. A chain on whose links each chunk is sent on only when it is whole has more than 1: its
// transit takes longer on slower links as well. Never less than 1: all bytes go over the links.
//
// Half of the fill lies before the bytes and half after them: the first hops of a pipeline begin at once, the last
// ones end last.
//
// By hand: busy 10 us; T(1) = 50, T(2) = 52, T(8) = 112. The line has 10 us a part: more = 1, and 112 - 8 x 10 = 32 us
// of fill; alone 16 + 18 + 16, the bytes at 10/18 of the links; beside a twin 32 + max(18, 20) = 52 us.
#include "crowding.hpp"

#include <algorithm>

namespace fmsim {

CrowdedPace crowded_pace(const SoloRun& run) {
    const double alone = seconds(run.makespan), eight = seconds(run.among_eight);
    CrowdedPace pace;
    double fill = alone - run.busiest;  // without links nobody can share any
    if (run.links > 0) {
        pace.more = std::max(1.0, seconds(run.among_eight - run.among_two) / (6 * run.links));
        fill = std::min(eight - 8 * pace.more * run.links, alone - std::max(run.busiest, pace.more * run.links));
    }
    fill = std::max(0.0, fill);
    // Alone its links have room for it.
    if (run.links > 0) pace.more = std::clamp((alone - fill) / run.links, 1.0, pace.more);
    pace.delay = pace.tail = from_seconds(fill / 2);
    pace.span = run.makespan - pace.delay - pace.tail;
    return pace;
}

}  // namespace fmsim
