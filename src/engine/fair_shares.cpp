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

void FairShares::fill(std::span<const ActivityId> activities, std::span<const ResourceId> resources,
                      const Flowing& flowing, const Column<ResourceId, double>& available,
                      Column<ActivityId, Standing>& standing) {
    for (const ResourceId resource : resources) count(resource, flowing, available[resource], standing);
    if (activities.size() == 1) {
        standing[activities[0]] = only_one(activities[0], resources);
        return;
    }
    unfixed_ = activities.size();
    heap_.clear();
    for (const ResourceId resource : resources)
        if (filling_[resource].rising != 0) heap_.push_back({filling_[resource].level(), resource.value});
    std::make_heap(heap_.begin(), heap_.end(), std::greater{});
    gather_limits(activities);

    auto limit = limits_.begin();
    while (unfixed_ != 0) {  // then the heap or the limits are not empty: every activity has a resource or a limit
        if (limit != limits_.end() && (heap_.empty() || limit->level < heap_.front().level)) {
            const ActivityId activity{limit->id};
            if (standing[activity].level == kRising)
                fix(activity, {limit->level, kOwnLimit}, flowing, available, standing);
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
        for (const auto& taker : flowing.on(resource))
            if (standing[taker.activity].level == kRising)
                fix(taker.activity, {level, resource}, flowing, available, standing);
    }
}

void FairShares::count(ResourceId resource, const Flowing& flowing, double available,
                       const Column<ActivityId, Standing>& standing) {
    Filling state{.left = available};
    for (const auto& [activity, use, demand] : flowing.on(resource)) {
        const double level = standing[activity].level;
        if (level == kRising) {
            state.demand += demand;
            ++state.rising;
        } else {
            state.left -= demand * level;
        }
    }
    state.recount_below = state.demand / 2;
    filling_[resource] = state;
}

// Its own limit, or the first of its resources to be full.
Standing FairShares::only_one(ActivityId activity, std::span<const ResourceId> resources) const {
    Level first{kRising, kOwnLimit.value};
    for (const ResourceId resource : resources)
        if (filling_[resource].rising != 0) first = std::min(first, Level{filling_[resource].level(), resource.value});
    const double limit = system_.rate_limit[activity] / system_.share[activity];
    if (std::isfinite(limit) && limit < first.level) return {limit, kOwnLimit};
    return {first.level, ResourceId{first.id}};
}

void FairShares::fix(ActivityId activity, Standing at, const Flowing& flowing,
                     const Column<ResourceId, double>& available, Column<ActivityId, Standing>& standing) {
    --unfixed_;
    standing[activity] = at;
    const double share = system_.share[activity];
    for (const auto& [resource, weight] : system_.uses.of(activity.value)) {
        Filling& state = filling_[resource];
        const double demand = weight * share;
        state.left -= demand * at.level;
        state.demand -= demand;
        if (--state.rising != 0 && state.demand < state.recount_below)
            count(resource, flowing, available[resource], standing);
    }
}

void FairShares::gather_limits(std::span<const ActivityId> activities) {
    limits_.clear();
    for (const ActivityId activity : activities)
        if (std::isfinite(system_.rate_limit[activity]))
            limits_.push_back({system_.rate_limit[activity] / system_.share[activity], activity.value});
    std::sort(limits_.begin(), limits_.end());
}

}  // namespace fmsim
