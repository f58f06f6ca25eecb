// Who flows on what, right now: for each resource the flowing activities that use it.
//
// What flows has a slot, taken when it joins and free again when it leaves. Of many activities few flow at once, and
// what is known of these few stays near the processor.
//
// A use remembers its place in the resource's list, so that leaving costs O(uses of the activity): the last of the list
// takes the free place.
#pragma once

#include <vector>

#include "fmsim/engine.hpp"

namespace fmsim {

using SlotId = Index<struct SlotTag>;

class Flowing {
public:
    struct Taker {
        SlotId slot;
        std::uint32_t use;  // position in system.uses.rows
        double demand;      // weight * share: what it takes of the resource for each unit of level
    };

    explicit Flowing(const System& system)
        : system_(system), takers_(system.resources()), place_(system.uses.rows.size()) {}

    std::size_t count(ResourceId resource) const { return takers_[resource.value].count; }
    std::span<const Taker> on(ResourceId resource) const {
        const Takers& takers = takers_[resource.value];
        return {takers.count > 1 ? takers.all.data() : &takers.only, takers.count};
    }

    void join(ActivityId activity, SlotId slot) {
        const double share = system_.share[activity];
        for (std::uint32_t use = uses().first[activity.value]; use < uses().first[activity.value + 1]; ++use) {
            const auto& [resource, weight] = uses().rows[use];
            Takers& takers = takers_[resource.value];
            const Taker next{slot, use, weight * share};
            if (takers.count++ == 0) {  // place_ is 0 from the start
                takers.only = next;
                continue;
            }
            if (takers.count == 2) takers.all.assign(1, takers.only);
            place_[use] = static_cast<std::uint32_t>(takers.all.size());
            takers.all.push_back(next);
        }
    }

    void leave(ActivityId activity) {
        for (std::uint32_t use = uses().first[activity.value]; use < uses().first[activity.value + 1]; ++use) {
            Takers& takers = takers_[uses().rows[use].resource.value];
            if (--takers.count == 0) continue;
            takers.all[place_[use]] = takers.all.back();
            place_[takers.all.back().use] = place_[use];
            takers.all.pop_back();
            if (takers.count == 1) takers.only = takers.all.front();
        }
    }

private:
    // Most resources of an ordered schedule have one taker at a time, kept here instead of behind a pointer.
    struct Takers {
        Taker only;              // when there is one
        std::vector<Taker> all;  // when there are more
        std::uint32_t count = 0;
    };
    const Rows<Use>& uses() const { return system_.uses; }

    const System& system_;
    std::vector<Takers> takers_;        // of a resource
    std::vector<std::uint32_t> place_;  // of a use, in its resource's list
};

}  // namespace fmsim
