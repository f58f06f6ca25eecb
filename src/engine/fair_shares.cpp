#include "fair_shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fmsim {
namespace {

// Below any demand: a full resource fixes all its activities, so its sums are not needed again.
constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

FairShares::FairShares(const System& system) : system_(system) {
    filling_.rows.resize(system.resources());
    rising_.rows.resize(system.activities());
}

void FairShares::fill(std::span<const ActivityId> activities, std::span<const ResourceId> resources,
                      const Flowing& flowing, const Column<ResourceId, double>& available,
                      Column<ActivityId, Share>& shares) {
    for (const ActivityId activity : activities) rising_[activity] = 1;
    unfixed_ = activities.size();
    heap_.clear();
    for (const ResourceId resource : resources) {
        count(resource, flowing, available[resource], shares);
        push(resource);
    }
    gather_limits(activities);

    auto limit = limits_.begin();
    while (unfixed_ != 0) {  // then the heap or the limits are not empty: every activity has a resource or a limit
        if (limit != limits_.end() && (heap_.empty() || limit->level < heap_.front().level)) {
            const ActivityId activity{limit++->id};
            if (rising_[activity]) fix(activity, {system_.rate_limit[activity], kOwnLimit}, flowing, available, shares);
            continue;
        }
        std::pop_heap(heap_.begin(), heap_.end(), std::greater{});
        const Level top = heap_.back();
        heap_.pop_back();
        const ResourceId resource{top.id};
        Filling& state = filling_[resource];
        if (state.rising == 0) continue;
        const double level = std::max(0.0, state.left) / state.demand;
        if (level > top.level) {  // stale: others were fixed meanwhile
            push(resource);
            continue;
        }
        state.recount_below = kNever;
        for (const auto& [activity, use] : flowing.on(resource))
            if (rising_[activity])
                fix(activity, {system_.share[activity] * level, resource}, flowing, available, shares);
    }
}

void FairShares::count(ResourceId resource, const Flowing& flowing, double available,
                       const Column<ActivityId, Share>& shares) {
    Filling& state = filling_[resource];
    state = {.left = available};
    for (const auto& [activity, use] : flowing.on(resource)) {
        const double weight = system_.uses.rows[use].weight;
        if (rising_[activity]) {
            state.demand += weight * system_.share[activity];
            ++state.rising;
        } else {
            state.left -= weight * shares[activity].rate;
        }
    }
    state.recount_below = state.demand / 2;
}

void FairShares::push(ResourceId resource) {
    const Filling& state = filling_[resource];
    if (state.rising == 0) return;
    heap_.push_back({std::max(0.0, state.left) / state.demand, resource.value});
    std::push_heap(heap_.begin(), heap_.end(), std::greater{});
}

void FairShares::fix(ActivityId activity, Share share, const Flowing& flowing,
                     const Column<ResourceId, double>& available, Column<ActivityId, Share>& shares) {
    rising_[activity] = 0;
    --unfixed_;
    shares[activity] = share;
    for (const auto& [resource, weight] : system_.uses.of(activity.value)) {
        Filling& state = filling_[resource];
        state.left -= weight * share.rate;
        state.demand -= weight * system_.share[activity];
        if (--state.rising != 0 && state.demand < state.recount_below)
            count(resource, flowing, available[resource], shares);
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
