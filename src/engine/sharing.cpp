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
    slot_.rows.resize(system.activities());
    available_ = system.capacity;
    held_.rows.resize(system.resources());
    first_end_.rows.resize(system.resources());
    seen_.rows.resize(system.resources());
}

void Sharing::join(ActivityId activity, SimTime now) {
    const SlotId slot = take_slot(activity, now);
    const auto uses = system_.uses.of(activity.value);
    if (uses.empty()) return unbound_.push_back(slot);
    flowing_.join(activity, slot);
    joined_.push_back(slot);
    for (const Use& use : uses) touched_.push_back(use.resource);
}

SlotId Sharing::take_slot(ActivityId activity, SimTime now) {
    if (free_.empty()) {
        free_.push_back({static_cast<std::uint32_t>(flow_.size())});
        standing_.rows.emplace_back();
        flow_.rows.emplace_back();
    }
    const SlotId slot = free_.back();
    free_.pop_back();
    slot_[activity] = slot;
    standing_[slot] = {kJustJoined, kOwnLimit, activity};
    flow_[slot] = {.rate = 0, .remaining = system_.work[activity], .since = now};
    return slot;
}

void Sharing::leave(ActivityId activity) {
    const SlotId slot = slot_[activity];
    free_.push_back(slot);
    flow_[slot].remaining = kNowhere;  // a slot that is free is never nearly done
    if (flow_[slot].has_event) calendar_.withdraw({activity.value});
    flowing_.leave(activity);
    lower_floor(standing_[slot].level);
    for (const Use& use : system_.uses.of(activity.value)) touched_.push_back(use.resource);
}

Share Sharing::share(ActivityId activity) const {
    const Flow& flow = flow_[slot_[activity]];
    return {flow.rate, flow.held_by};
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
        if (standing_[taker.slot].held_by == resource && flow_[taker.slot].end == now)
            ends.push_back(standing_[taker.slot].activity);
}

void Sharing::nearly_done(double part, SimTime now, std::vector<ActivityId>& found) const {
    for (std::uint32_t i = 0; i < flow_.size(); ++i) {
        const ActivityId activity = standing_[SlotId{i}].activity;
        if (left(flow_[SlotId{i}], now) <= part * system_.work[activity]) found.push_back(activity);
    }
    std::sort(found.begin(), found.end());
}

void Sharing::reshare(SimTime now) {
    find_floor();
    ++instant_;
    for (const ResourceId seed : touched_) {
        if (seen_[seed] == instant_ || share_alone(seed, now)) continue;
        gather(seed);
        if (!slots_.empty()) {
            fair_shares_.fill(slots_, resources_, flowing_, available_, standing_);
            ++timeline_.solves;
        }
        adopt_rates(now);
        set_events();
        if (record_ == Record::rates) record_use(now);
    }
    touched_.clear();
    floor_ = kNowhere;
    slots_.assign(unbound_.begin(), unbound_.end());
    unbound_.clear();
    for (const SlotId slot : slots_) {
        const ActivityId activity = standing_[slot].activity;
        standing_[slot].level = system_.rate_limit[activity] / system_.share[activity];
    }
    adopt_rates(now);
}

void Sharing::find_floor() {
    if (joined_.size() > kFewJoined) floor_ = 0;
    for (const SlotId slot : joined_)
        if (floor_ > 0)
            for (const Use& use : system_.uses.of(standing_[slot].activity.value)) lower_floor(full_at(use.resource));
    joined_.clear();
    floor_ *= 1 - kMargin;
}

// The level at which a resource is full when those that have a level rise no further than that. From below: each round
// knows of more that do not rise as far.
double Sharing::full_at(ResourceId resource) const {
    for (double level = 0;;) {
        double left = available_[resource], demand_of_rising = 0;
        for (const auto& [slot, use, demand] : flowing_.on(resource)) {
            if (standing_[slot].level < level)
                left -= demand * standing_[slot].level;
            else
                demand_of_rising += demand;
        }
        const double next = std::max(0.0, left) / demand_of_rising;
        if (!(next > level)) return level;
        level = next;
    }
}

// What nearly all changes of an ordered schedule come to: nobody is on the seed any more, or one activity has all its
// resources for itself. The walk and the filling would find the same.
bool Sharing::share_alone(ResourceId seed, SimTime now) {
    const auto takers = flowing_.on(seed);
    if (takers.size() > 1 || record_ == Record::rates) return false;
    if (takers.empty()) {
        calendar_.withdraw(event_of(seed));
        return true;
    }
    const SlotId slot = takers.front().slot;
    Standing& standing = standing_[slot];
    const auto uses = system_.uses.of(standing.activity.value);
    for (const Use& use : uses)
        if (flowing_.count(use.resource) > 1) return false;
    FairShares::fill_alone(system_, available_, standing);
    ++timeline_.solves;
    adopt_rate(slot, now);
    set_own_event(slot);
    const Flow& flow = flow_[slot];
    for (const Use& use : uses) {
        seen_[use.resource] = instant_;
        if (use.resource == flow.held_by && flow.end < SimTime::max())
            calendar_.put(event_of(use.resource), flow.end);
        else
            calendar_.withdraw(event_of(use.resource));
    }
    return true;
}

// Everything not below the floor that shares a resource with the seed, directly or through others; and what each of the
// resources starts with. Iterative: a component may have as many links in a row as the machine has memory for.
void Sharing::gather(ResourceId seed) {
    slots_.clear();
    resources_.clear();
    resources_.push_back(seed);
    seen_[seed] = instant_;
    for (std::size_t next = 0; next < resources_.size(); ++next) {
        const std::size_t known = slots_.size();
        gather_takers(resources_[next]);
        for (std::size_t i = known; i < slots_.size(); ++i)
            for (const Use& other : system_.uses.of(standing_[slots_[i]].activity.value)) {
                if (seen_[other.resource] == instant_) continue;
                seen_[other.resource] = instant_;
                resources_.push_back(other.resource);
            }
    }
    for (const ResourceId resource : resources_) first_end_[resource] = SimTime::max();
}

// Those of one resource that rise, as far as they are new. Who is new, and who rises at all, no processor can guess: so
// every taker goes the same way, without a branch.
void Sharing::gather_takers(ResourceId resource) {
    const auto takers = flowing_.on(resource);
    std::size_t count = slots_.size();
    slots_.resize(count + takers.size());
    FairShares::Filling filling{.left = available_[resource]};
    for (const auto& [slot, use, demand] : takers) {
        double& level = standing_[slot].level;
        const bool stands = level < floor_, is_new = !stands && level != kRising;
        filling.left -= stands ? demand * level : 0;
        filling.demand += stands ? 0 : demand;
        filling.rising += stands ? 0 : 1;
        slots_[count] = slot;
        count += is_new ? 1 : 0;
        level = stands ? level : kRising;
    }
    slots_.resize(count);
    fair_shares_.begin(resource, filling);
}

void Sharing::adopt_rates(SimTime now) {
    for (const SlotId slot : slots_) {
        adopt_rate(slot, now);
        set_own_event(slot);
        const Flow& flow = flow_[slot];
        if (flow.held_by != kOwnLimit) first_end_[flow.held_by] = std::min(first_end_[flow.held_by], flow.end);
    }
}

void Sharing::set_own_event(SlotId slot) {
    Flow& flow = flow_[slot];
    const bool wanted = flow.held_by == kOwnLimit && flow.end < SimTime::max();
    if (!wanted && !flow.has_event) return;
    const EventId event{standing_[slot].activity.value};
    if (wanted)
        calendar_.put(event, flow.end);
    else
        calendar_.withdraw(event);
    flow.has_event = wanted;
}

void Sharing::adopt_rate(SlotId slot, SimTime now) {
    const Share next = FairShares::share_of(system_, standing_[slot]);
    Flow& flow = flow_[slot];
    if (record_ == Record::rates && !(next == Share{flow.rate, flow.held_by}))
        timeline_.rates.push_back({standing_[slot].activity, now, next});
    flow.held_by = next.held_by;
    if (next.rate == flow.rate) return;
    flow.remaining = left(flow, now);
    flow.since = now;
    flow.rate = next.rate;
    // An end beyond the last representable time is no event: a higher rate may yet bring it nearer.
    const double left = flow.remaining == 0 ? 0 : flow.remaining / flow.rate;
    flow.end =
        left * 1e15 < static_cast<double>(SimTime::max().fs - now.fs) ? now + from_seconds(left) : SimTime::max();
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
            used += system_.uses.rows[taker.use].weight * flow_[taker.slot].rate;
        timeline_.use.push_back({resource, now, used});
    }
}

}  // namespace fmsim
