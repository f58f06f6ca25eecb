// From one instant to the next: end what ends, start what is ready, share anew where something changed.
//
// The state of an activity moves one way: waiting (for predecessors) -> arriving (for a lag) -> delayed -> flowing ->
// done. Its one entry in the calendar is the end of the stage it is in. While an activity flows, its remaining work is
// kept as of the last change of its rate, so that an activity whose rate stays is not touched.
#include <algorithm>
#include <cmath>

#include "calendar.hpp"
#include "fair_shares.hpp"
#include "flowing.hpp"
#include "fmsim/engine.hpp"

namespace fmsim {
namespace {

enum class Stage : std::uint8_t { waiting, arriving, delayed, flowing, done };

class RunState {
public:
    RunState(const System& system, Record record);

    void start_first();
    bool next_instant();  // moves to the time of the next event; false when there is none
    void apply_events();  // all of this instant, and what follows from them at once
    void reshare();       // the components that changed at this instant
    Timeline timeline() &&;

private:
    void enter(ActivityId activity);  // the stage at whose end it stands
    void start(ActivityId activity);
    void flow(ActivityId activity);
    void finish(ActivityId activity);
    void hold(ActivityId activity, double sign);
    void touch(ActivityId activity);  // its resources must be shared anew
    void gather_component(ResourceId seed);
    void adopt_rates();
    void schedule_end(ActivityId activity, double in_seconds);
    void record_use();

    const System& system_;
    const Record record_;
    SimTime now_{};
    Calendar calendar_;
    Flowing flowing_;
    FairShares fair_shares_;

    Column<ActivityId, Stage> stage_;
    Column<ActivityId, std::uint32_t> missing_;  // predecessors that have not ended
    Column<ActivityId, double> remaining_;       // work, as of since_
    Column<ActivityId, SimTime> since_;
    Column<ActivityId, Share> share_;
    Column<ActivityId, Share> next_share_;
    Column<ResourceId, double> available_;
    Column<ResourceId, double> held_;

    std::vector<ActivityId> at_once_;  // entered at this very instant, without the calendar
    std::vector<ResourceId> touched_;
    std::vector<ActivityId> unbound_;  // began to flow using nothing: only their own limit holds them
    // The component being gathered; the stamp says in which walk a thing was last seen.
    std::vector<ActivityId> activities_;
    std::vector<ResourceId> resources_;
    std::uint32_t walk_ = 0;
    Column<ActivityId, std::uint32_t> activity_seen_;
    Column<ResourceId, std::uint32_t> resource_seen_;

    Timeline timeline_;
};

RunState::RunState(const System& system, Record record)
    : system_(system), record_(record), calendar_(system.activities()), flowing_(system), fair_shares_(system) {
    const std::size_t n = system.activities();
    stage_.rows.assign(n, Stage::waiting);
    missing_ = system.predecessors;
    remaining_ = system.work;
    since_.rows.resize(n);
    share_.rows.resize(n);
    next_share_.rows.resize(n);
    activity_seen_.rows.resize(n);
    available_ = system.capacity;
    held_.rows.resize(system.resources());
    resource_seen_.rows.resize(system.resources());
    timeline_.started.rows.resize(n);
    timeline_.flowing.rows.resize(n);
    timeline_.ended.rows.resize(n);
    timeline_.held_by.rows.assign(n, kOwnLimit);
}

void RunState::start_first() {
    // A stack: the lowest id on top.
    for (auto i = static_cast<std::uint32_t>(system_.activities()); i-- > 0;)
        if (missing_[ActivityId{i}] == 0) at_once_.push_back({i});
}

bool RunState::next_instant() {
    if (calendar_.empty()) return false;
    now_ = calendar_.next();
    return true;
}

void RunState::apply_events() {
    for (;;) {
        if (!at_once_.empty()) {
            const ActivityId activity = at_once_.back();
            at_once_.pop_back();
            enter(activity);
        } else if (!calendar_.empty() && calendar_.next() == now_) {
            enter(calendar_.take());
        } else {
            return;
        }
    }
}

void RunState::enter(ActivityId activity) {
    switch (stage_[activity]) {
        case Stage::waiting:
        case Stage::arriving:
            start(activity);
            break;
        case Stage::delayed:
            flow(activity);
            break;
        case Stage::flowing:
            flowing_.leave(activity);
            touch(activity);
            finish(activity);
            break;
        case Stage::done:
            break;
    }
}

void RunState::start(ActivityId activity) {
    timeline_.started[activity] = now_;
    hold(activity, 1);
    if (system_.delay[activity].fs == 0) return flow(activity);
    stage_[activity] = Stage::delayed;
    calendar_.put(activity, later(now_, system_.delay[activity]));
}

void RunState::flow(ActivityId activity) {
    timeline_.flowing[activity] = now_;
    if (system_.work[activity] == 0) return finish(activity);
    stage_[activity] = Stage::flowing;
    since_[activity] = now_;
    flowing_.join(activity);
    touch(activity);
    if (system_.uses.of(activity.value).empty()) unbound_.push_back(activity);
}

void RunState::finish(ActivityId activity) {
    stage_[activity] = Stage::done;
    hold(activity, -1);
    timeline_.ended[activity] = now_;
    timeline_.end = now_;
    // Until its last predecessor has ended, `started` holds the latest arrival known so far.
    for (const auto& [after, lag] : system_.successors.of(activity.value)) {
        SimTime& ready = timeline_.started[after];
        ready = std::max(ready, later(now_, lag));
        if (--missing_[after] != 0) continue;
        if (ready == now_) {
            at_once_.push_back(after);
        } else {
            stage_[after] = Stage::arriving;
            calendar_.put(after, ready);
        }
    }
}

void RunState::hold(ActivityId activity, double sign) {
    for (const auto& [resource, amount] : system_.holds.of(activity.value)) {
        held_[resource] += sign * amount;
        // More may be held than there is: then nothing is left to share, and nothing flows.
        available_[resource] = std::max(0.0, system_.capacity[resource] - held_[resource]);
        touched_.push_back(resource);
    }
}

void RunState::touch(ActivityId activity) {
    for (const Use& use : system_.uses.of(activity.value)) touched_.push_back(use.resource);
}

void RunState::reshare() {
    ++walk_;
    for (const ResourceId seed : touched_) {
        if (resource_seen_[seed] == walk_) continue;
        gather_component(seed);
        if (!activities_.empty()) {
            fair_shares_.fill(activities_, resources_, flowing_, available_, next_share_);
            ++timeline_.solves;
            adopt_rates();
        }
        if (record_ == Record::rates) record_use();
    }
    touched_.clear();
    activities_.assign(unbound_.begin(), unbound_.end());
    unbound_.clear();
    for (const ActivityId activity : activities_) next_share_[activity] = {system_.rate_limit[activity], kOwnLimit};
    adopt_rates();
}

// Everything that shares a resource with the seed, directly or through others. Iterative: a component may have as many
// links in a row as the machine has memory for.
void RunState::gather_component(ResourceId seed) {
    activities_.clear();
    resources_.clear();
    resources_.push_back(seed);
    resource_seen_[seed] = walk_;
    for (std::size_t next = 0; next < resources_.size(); ++next) {
        for (const auto& [activity, use] : flowing_.on(resources_[next])) {
            if (activity_seen_[activity] == walk_) continue;
            activity_seen_[activity] = walk_;
            activities_.push_back(activity);
            for (const Use& other : system_.uses.of(activity.value)) {
                if (resource_seen_[other.resource] == walk_) continue;
                resource_seen_[other.resource] = walk_;
                resources_.push_back(other.resource);
            }
        }
    }
}

void RunState::adopt_rates() {
    for (const ActivityId activity : activities_) {
        const Share& next = next_share_[activity];
        Share& share = share_[activity];
        timeline_.held_by[activity] = next.held_by;
        if (record_ == Record::rates && !(next == share)) timeline_.rates.push_back({activity, now_, next});
        if (next.rate != share.rate) {
            remaining_[activity] -= std::min(remaining_[activity], share.rate * seconds(now_ - since_[activity]));
            since_[activity] = now_;
            schedule_end(activity, remaining_[activity] == 0 ? 0 : remaining_[activity] / next.rate);
        }
        share = next;
    }
}

// An end beyond the last representable time is no event: a higher rate may yet bring it nearer.
void RunState::schedule_end(ActivityId activity, double in_seconds) {
    if (in_seconds * 1e15 < static_cast<double>(SimTime::max().fs - now_.fs))
        calendar_.put(activity, now_ + from_seconds(in_seconds));
    else
        calendar_.withdraw(activity);
}

void RunState::record_use() {
    for (const ResourceId resource : resources_) {
        double used = 0;
        for (const auto& [activity, use] : flowing_.on(resource))
            used += system_.uses.rows[use].weight * share_[activity].rate;
        timeline_.use.push_back({resource, now_, used});
    }
}

Timeline RunState::timeline() && {
    for (std::uint32_t i = 0; i < system_.activities(); ++i) {
        const ActivityId activity{i};
        if (stage_[activity] == Stage::done) continue;
        if (share_[activity].rate > 0) throw LimitReached("an activity would end beyond the 2.56 hours of one run");
        timeline_.unfinished.push_back(activity);
    }
    return std::move(timeline_);
}

}  // namespace

Timeline run(const System& system, Record record) {
    RunState state(system, record);
    state.start_first();
    do {
        state.apply_events();
        state.reshare();
    } while (state.next_instant());
    return std::move(state).timeline();
}

}  // namespace fmsim
