#include "fair_shares.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace fmsim {
namespace {

// Below any demand: a full resource fixes all its activities, so its sums are not needed again.
constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

// At most the largest number, since infinity means that an activity still rises.
double FairShares::Filling::level() const {
    return std::min(std::max(0.0, left) / demand, std::numeric_limits<double>::max());
}

void FairShares::fill(std::span<const SlotId> slots, std::span<const ResourceId> resources, const Flowing& flowing,
                      const Column<ResourceId, double>& available, Column<SlotId, Standing>& standing) {
    unfixed_ = slots.size();
    heap_.clear();
    for (const ResourceId resource : resources)
        if (filling_[resource].rising != 0) heap_.push_back({filling_[resource].level(), resource.value});
    std::make_heap(heap_.begin(), heap_.end(), std::greater{});
    gather_limits(slots, standing);

    auto limit = limits_.begin();
    while (unfixed_ != 0) {  // then the heap or the limits are not empty: every activity has a resource or a limit
        if (limit != limits_.end() && (heap_.empty() || limit->level < heap_.front().level)) {
            Standing& limited = standing[SlotId{limit->id}];
            if (limited.level == kRising) fix(limited, limit->level, kOwnLimit, flowing, available, standing);
            ++limit;
            continue;
        }
        std::pop_heap(heap_.begin(), heap_.end(), std::greater{});
        const Level top = heap_.back();
        heap_.pop_back();
        const ResourceId resource{top.id};
        Filling& state = filling_[resource];
        if (state.rising == 0) continue;
        const double level = state.level();
        if (level > top.level) {  // stale: others were fixed meanwhile
            heap_.push_back({level, top.id});
            std::push_heap(heap_.begin(), heap_.end(), std::greater{});
            continue;
        }
        state.recount_below = kNever;
        for (const auto& taker : flowing.on(resource)) {
            Standing& held = standing[taker.slot];
            if (held.level == kRising) fix(held, level, resource, flowing, available, standing);
        }
    }
}

void FairShares::count(ResourceId resource, const Flowing& flowing, double available,
                       const Column<SlotId, Standing>& standing) {
    Filling state{.left = available};
    for (const auto& [slot, use, demand] : flowing.on(resource)) {
        const double level = standing[slot].level;
        if (level == kRising) {
            state.demand += demand;
            ++state.rising;
        } else {
            state.left -= demand * level;
        }
    }
    begin(resource, state);
}

// At its own limit, or by the first of its resources to be full.
void FairShares::fill_alone(const System& system, const Column<ResourceId, double>& available, Standing& standing) {
    const double share = system.share[standing.activity];
    Level first{kRising, kOwnLimit.value};
    for (const auto& [resource, weight] : system.uses.of(standing.activity.value)) {
        const Filling filling{.left = available[resource], .demand = weight * share};
        first = std::min(first, Level{filling.level(), resource.value});
    }
    const double limit = system.rate_limit[standing.activity] / share;
    if (std::isfinite(limit) && limit < first.level) first = {limit, kOwnLimit.value};
    standing.level = first.level;
    standing.held_by = ResourceId{first.id};
}

void FairShares::fix(Standing& standing, double level, ResourceId held_by, const Flowing& flowing,
                     const Column<ResourceId, double>& available, const Column<SlotId, Standing>& all) {
    --unfixed_;
    standing.level = level;
    standing.held_by = held_by;
    const double share = system_.share[standing.activity];
    for (const auto& [resource, weight] : system_.uses.of(standing.activity.value)) {
        Filling& state = filling_[resource];
        const double demand = weight * share;
        state.left -= demand * level;
        state.demand -= demand;
        if (--state.rising != 0 && state.demand < state.recount_below)
            count(resource, flowing, available[resource], all);
    }
}

void FairShares::gather_limits(std::span<const SlotId> slots, const Column<SlotId, Standing>& standing) {
    limits_.clear();
    for (const SlotId slot : slots) {
        const ActivityId activity = standing[slot].activity;
        if (std::isfinite(system_.rate_limit[activity]))
            limits_.push_back({system_.rate_limit[activity] / system_.share[activity], slot.value});
    }
    std::sort(limits_.begin(), limits_.end(), [&](const Level& a, const Level& b) {
        return a.level < b.level ||
               (a.level == b.level && standing[SlotId{a.id}].activity < standing[SlotId{b.id}].activity);
    });
}

}  // namespace fmsim
