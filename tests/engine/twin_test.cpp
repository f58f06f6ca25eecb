// The engine against its slow twin on 1,000 random systems. The seed of a failing one is printed.
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "engine/draft.hpp"
#include "engine/plain_engine.hpp"

namespace fmsim::test {
namespace {

// In femtoseconds; neither may have come where the other did not.
bool agree(SimTime fast, long double plain, std::size_t events) {
    const long double fs = plain * 1e15L;
    return std::abs(static_cast<long double>(fast.fs) - fs) <= 1e-9L * fs + static_cast<long double>(events);
}

bool unfinished(const Timeline& timeline, std::uint32_t activity) {
    return std::binary_search(timeline.unfinished.begin(), timeline.unfinished.end(), ActivityId{activity});
}

TEST_CASE("the fast engine and the plain one give the same timeline") {
    std::size_t finished = 0;
    std::size_t stuck = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        const System system = build(random_draft(seed));
        const Timeline fast = run(system);
        const PlainTimeline plain = run_plainly(system);
        for (std::uint32_t i = 0; i < system.activities(); ++i) {
            CAPTURE(seed, i, plain.started[i], plain.flowing[i], plain.ended[i]);
            const ActivityId activity{i};
            const bool stands = std::isinf(plain.ended[i]);
            REQUIRE(unfinished(fast, i) == stands);
            ++(stands ? stuck : finished);
            if (stands) continue;
            CHECK(agree(fast.started[activity], plain.started[i], plain.instants));
            CHECK(agree(fast.flowing[activity], plain.flowing[i], plain.instants));
            CHECK(agree(fast.ended[activity], plain.ended[i], plain.instants));
        }
    }
    // The systems are not all trivial, nor all stuck.
    CHECK(finished > 10'000);
    CHECK(stuck > 100);
}

}  // namespace
}  // namespace fmsim::test
