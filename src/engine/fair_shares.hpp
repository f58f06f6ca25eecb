// Weighted max-min fair shares by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2).
//
// Raise one level for all: an activity's rate is share * level. When a resource is full, its activities keep the rate
// they have; when an activity meets its own limit, it keeps that; go on with the rest.
//
//   A ==2== B --1-- C   flows A-B, A-B-C, B-C: link BC fills at level 1/2 and holds two, A-B rises to 3/2
//
// The level at which a resource fills can only rise while others are fixed below it, so a heap of levels with stale
// keys, pushed back when they turn out too low, visits the resources in the right order.
//
// What is left of a resource and the demand of those still rising are kept by subtraction, and counted anew whenever
// half of the demand has been fixed since the last count: that bounds the rounding, however unequal the weights, and
// for equal ones each count costs one pass for half as many rising. tests/engine/plain_engine.hpp is the slow twin.
//
// Not all activities of a component need to rise: those with a level already keep it, and what they take is gone from
// the start. The caller knows which may keep theirs (sharing.hpp).
// Cost: O(E + R log R + A log A) for E uses, R resources and A limited activities of the component.
#pragma once

#include <limits>
#include <vector>

#include "flowing.hpp"
#include "fmsim/engine.hpp"

namespace fmsim {

// The level at which an activity stopped rising, and what stopped it.
struct Standing {
    double level;
    ResourceId held_by;
    ActivityId activity;
};
inline constexpr double kRising = std::numeric_limits<double>::infinity();

class FairShares {
public:
    explicit FairShares(const System& system) : system_(system) { filling_.rows.resize(system.resources()); }

    // What a resource has left and who rises on it, while activities stand or rise.
    struct Filling {
        double left{};           // what the fixed ones leave
        double demand{};         // of those still rising
        double recount_below{};  // demand
        std::uint32_t rising{};
        double level() const;
    };
    void begin(ResourceId resource, Filling filling) {
        filling.recount_below = filling.demand / 2;
        filling_[resource] = filling;
    }
    void count(ResourceId resource, const Flowing& flowing, double available, const Column<SlotId, Standing>& standing);

    // Ends the rise of `slots`, which are all that rise on any of `resources`, and use no others; begin() or
    // count() has said how each resource starts. `available` is the capacity less what is held. Writes `standing` for
    // these activities only.
    void fill(std::span<const SlotId> slots, std::span<const ResourceId> resources, const Flowing& flowing,
              const Column<ResourceId, double>& available, Column<SlotId, Standing>& standing);

    // The same for one activity that shares none of its resources.
    static void fill_alone(const System& system, const Column<ResourceId, double>& available, Standing& standing);

    static Share share_of(const System& system, const Standing& standing) {
        return {standing.held_by == kOwnLimit ? system.rate_limit[standing.activity]
                                              : system.share[standing.activity] * standing.level,
                standing.held_by};
    }

private:
    struct Level {
        double level;
        std::uint32_t id;  // a resource in the heap, a slot in the list of limits
        bool operator<(const Level& other) const {
            return level < other.level || (level == other.level && id < other.id);
        }
        bool operator>(const Level& other) const { return other < *this; }
    };
    void fix(Standing& standing, double level, ResourceId held_by, const Flowing& flowing,
             const Column<ResourceId, double>& available, const Column<SlotId, Standing>& all);
    void gather_limits(std::span<const SlotId> slots, const Column<SlotId, Standing>& standing);

    const System& system_;
    Column<ResourceId, Filling> filling_;
    std::size_t unfixed_ = 0;
    std::vector<Level> heap_;    // resources, lowest level first; levels may be stale, never too high
    std::vector<Level> limits_;  // activities with a limit of their own, by the level at which they meet it
};

}  // namespace fmsim
