#include "sharing.hpp"

#include <algorithm>
#include <limits>

namespace fmsim {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();
// Of one that has begun and not yet risen: above any floor.
constexpr double kJustJoined = std::numeric_limits<double>::max();
// Above this many that begin at one instant the lowest level that could change is hardly worth finding.
constexpr std::size_t kFewJoined = 4;
// Levels that are equal but for rounding count as touched.
constexpr double kMargin = 1e-9;

}  // namespace

Sharing::Sharing(const System& system, Record record, Calendar& calendar, Timeline& timeline)
    : system_(system),
      record_(record),
      calendar_(calendar),
      timeline_(timeline),
      flowing_(system),
      fair_shares_(system),
      floor_(kNowhere) {
    const std::size_t n = system.activities();
    standing_.rows.assign(n, {kJustJoined, kOwnLimit});
    rate_.rows.resize(n);
    remaining_ = system.work;
    since_.rows.resize(n);
    timeline_.held_by.rows.assign(n, kOwnLimit);
    available_ = system.capacity;
    held_.rows.resize(system.resources());
    first_end_.rows.resize(system.resources());
    seen_.rows.resize(system.resources());
}

void Sharing::join(ActivityId activity, SimTime now) {
    since_[activity] = now;
    timeline_.ended[activity] = SimTime::max();
    const auto uses = system_.uses.of(activity.value);
    if (uses.empty()) return unbound_.push_back(activity);
    flowing_.join(activity);
    joined_.push_back(activity);
    for (const Use& use : uses) touched_.push_back(use.resource);
}

void Sharing::leave(ActivityId activity) {
    flowing_.leave(activity);
    lower_floor(standing_[activity].level);
    for (const Use& use : system_.uses.of(activity.value)) touched_.push_back(use.resource);
}

void Sharing::hold(ResourceId resource, double amount) {
    held_[resource] += amount;
    // More may be held than there is: then nothing is left to share, and nothing flows.
    available_[resource] = std::max(0.0, system_.capacity[resource] - held_[resource]);
    touched_.push_back(resource);
    lower_floor(0);
}

void Sharing::ends_on(ResourceId resource, SimTime now, std::vector<ActivityId>& ends) const {
    for (const auto& taker : flowing_.on(resource))
        if (standing_[taker.activity].held_by == resource && timeline_.ended[taker.activity] == now)
            ends.push_back(taker.activity);
}

void Sharing::reshare(SimTime now) {
    find_floor();
    ++instant_;
    for (const ResourceId seed : touched_) {
        if (seen_[seed] == instant_) continue;
        gather(seed);
        if (!activities_.empty()) {
            fair_shares_.fill(activities_, resources_, flowing_, available_, standing_);
            ++timeline_.solves;
        }
        adopt_rates(now);
        set_events();
        if (record_ == Record::rates) record_use(now);
    }
    touched_.clear();
    floor_ = kNowhere;
    activities_.assign(unbound_.begin(), unbound_.end());
    unbound_.clear();
    for (const ActivityId activity : activities_)
        standing_[activity] = {system_.rate_limit[activity] / system_.share[activity], kOwnLimit};
    adopt_rates(now);
}

void Sharing::find_floor() {
    if (joined_.size() > kFewJoined) floor_ = 0;
    for (const ActivityId activity : joined_)
        if (floor_ > 0)
            for (const Use& use : system_.uses.of(activity.value)) lower_floor(full_at(use.resource));
    joined_.clear();
    floor_ *= 1 - kMargin;
}

// The level at which a resource is full when those that have a level rise no further than that. From below: each round
// knows of more that do not rise as far.
double Sharing::full_at(ResourceId resource) const {
    for (double level = 0;;) {
        double left = available_[resource], demand_of_rising = 0;
        for (const auto& [activity, use, demand] : flowing_.on(resource)) {
            if (standing_[activity].level < level)
                left -= demand * standing_[activity].level;
            else
                demand_of_rising += demand;
        }
        const double next = std::max(0.0, left) / demand_of_rising;
        if (!(next > level)) return level;
        level = next;
    }
}

// Everything not below the floor that shares a resource with the seed, directly or through others. Iterative: a
// component may have as many links in a row as the machine has memory for.
void Sharing::gather(ResourceId seed) {
    activities_.clear();
    resources_.clear();
    resources_.push_back(seed);
    seen_[seed] = instant_;
    for (std::size_t next = 0; next < resources_.size(); ++next) {
        for (const auto& taker : flowing_.on(resources_[next])) {
            double& level = standing_[taker.activity].level;
            if (level < floor_ || level == kRising) continue;
            level = kRising;
            activities_.push_back(taker.activity);
            for (const Use& other : system_.uses.of(taker.activity.value)) {
                if (seen_[other.resource] == instant_) continue;
                seen_[other.resource] = instant_;
                resources_.push_back(other.resource);
            }
        }
    }
    for (const ResourceId resource : resources_) first_end_[resource] = SimTime::max();
}

void Sharing::adopt_rates(SimTime now) {
    for (const ActivityId activity : activities_) {
        const Share next = FairShares::share_of(system_, activity, standing_[activity]);
        double& rate = rate_[activity];
        ResourceId& held_by = timeline_.held_by[activity];
        if (record_ == Record::rates && !(next == Share{rate, held_by}))
            timeline_.rates.push_back({activity, now, next});
        if (next.rate != rate) {
            remaining_[activity] -= std::min(remaining_[activity], rate * seconds(now - since_[activity]));
            since_[activity] = now;
            rate = next.rate;
            schedule(activity, remaining_[activity] == 0 ? 0 : remaining_[activity] / rate, now);
        }
        const SimTime end = timeline_.ended[activity];
        if (next.held_by == kOwnLimit) {
            if (end < SimTime::max())
                calendar_.put({activity.value}, end);
            else
                calendar_.withdraw({activity.value});
        } else {
            if (held_by == kOwnLimit) calendar_.withdraw({activity.value});
            first_end_[next.held_by] = std::min(first_end_[next.held_by], end);
        }
        held_by = next.held_by;
    }
}

// An end beyond the last representable time is no event: a higher rate may yet bring it nearer.
void Sharing::schedule(ActivityId activity, double in_seconds, SimTime now) {
    timeline_.ended[activity] = in_seconds * 1e15 < static_cast<double>(SimTime::max().fs - now.fs)
                                    ? now + from_seconds(in_seconds)
                                    : SimTime::max();
}

void Sharing::set_events() {
    for (const ResourceId resource : resources_) {
        if (first_end_[resource] < SimTime::max())
            calendar_.put(event_of(resource), first_end_[resource]);
        else
            calendar_.withdraw(event_of(resource));
    }
}

void Sharing::record_use(SimTime now) {
    for (const ResourceId resource : resources_) {
        double used = 0;
        for (const auto& taker : flowing_.on(resource))
            used += system_.uses.rows[taker.use].weight * rate_[taker.activity];
        timeline_.use.push_back({resource, now, used});
    }
}

}  // namespace fmsim
