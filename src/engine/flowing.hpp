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

    std::span<const Taker> on(ResourceId resource) const { return takers_[resource.value]; }

    void join(ActivityId activity, SlotId slot) {
        const double share = system_.share[activity];
        for (std::uint32_t use = uses().first[activity.value]; use < uses().first[activity.value + 1]; ++use) {
            const auto& [resource, weight] = uses().rows[use];
            auto& takers = takers_[resource.value];
            place_[use] = static_cast<std::uint32_t>(takers.size());
            takers.push_back({slot, use, weight * share});
        }
    }

    void leave(ActivityId activity) {
        for (std::uint32_t use = uses().first[activity.value]; use < uses().first[activity.value + 1]; ++use) {
            auto& takers = takers_[uses().rows[use].resource.value];
            takers[place_[use]] = takers.back();
            place_[takers.back().use] = place_[use];
            takers.pop_back();
        }
    }

private:
    const Rows<Use>& uses() const { return system_.uses; }

    const System& system_;
    std::vector<std::vector<Taker>> takers_;  // of a resource
    std::vector<std::uint32_t> place_;        // of a use, in its resource's list
};

}  // namespace fmsim
