// A system as a test writes it: activities that own their uses and holds, so that they can be tabled, changed, copied
// and shuffled; and random ones, the same for the same seed on every machine.
//
//   const ResourceId link{0};
//   Draft draft{.capacity = {1e9}, .activities = {{.work = 1000, .uses = {{link, 1}}}}};
//   run(build(draft)).ended[ActivityId{0}];  // 1 us: the toy links carry one byte a nanosecond
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "fmsim/engine.hpp"

namespace fmsim::test {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();
inline constexpr SimTime ns(std::int64_t n) { return {n * 1'000'000}; }

struct DraftActivity {
    SimTime delay{};
    double work{};
    double share = 1;
    double rate_limit = kUnlimited;
    std::vector<Use> uses{};
    std::vector<Hold> holds{};
};

struct DraftOrder {
    std::uint32_t before{};
    std::uint32_t after{};
    SimTime lag{};
};

struct Draft {
    std::vector<double> capacity{};
    std::vector<DraftActivity> activities{};
    std::vector<DraftOrder> orders{};
};

System build(const Draft& draft);

// Random numbers whose row depends on the seed only; the distributions of <random> differ between libraries.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : bits_(seed) {}
    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(bits_() % end); }
    bool chance(std::uint32_t percent) { return below(100) < percent; }
    double between(double low, double high) {
        return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53;
    }
    template <class T>
    void shuffle(std::vector<T>& rows) {
        for (std::size_t i = rows.size(); i > 1; --i)
            std::swap(rows[i - 1], rows[below(static_cast<std::uint32_t>(i))]);
    }

private:
    std::mt19937_64 bits_;
};

// Up to 12 resources near 1e9 units a second and 30 activities of microseconds to milliseconds, with everything that
// an activity can have. Every third seed draws from few round values instead, so that much happens at one instant.
Draft random_draft(std::uint64_t seed);

// Equal as two ways of computing a time may differ: 1e-9 of it, and 1 fs for each event it depends on.
bool close(SimTime a, SimTime b, std::size_t events);

}  // namespace fmsim::test
