// From one instant to the next: end what ends, start what is ready, share anew where something changed.
//
// The state of an activity moves one way: waiting (for predecessors) -> arriving (for a lag) -> delayed -> flowing ->
// done. Until it flows, its one entry in the calendar is the end of the stage it is in; then Sharing says when it ends.
#include <algorithm>
#include <stdexcept>

#include "calendar.hpp"
#include "fmsim/engine.hpp"
#include "sharing.hpp"

namespace fmsim {
namespace {

enum class Stage : std::uint8_t { waiting, arriving, delayed, flowing, done };

class RunState {
public:
    RunState(const System& system, Record record, double coalesce);

    void start_first();
    bool next_instant();  // moves to the time of the next event; false when there is none
    void apply_events();  // all of this instant, and what follows from them at once
    void reshare() { sharing_.reshare(now_); }
    Timeline timeline() &&;

private:
    void happen(EventId event);
    void enter(ActivityId activity);  // the stage at whose end it stands
    void start(ActivityId activity);
    void flow(ActivityId activity);
    void finish(ActivityId activity);
    void coalesce();
    void leave_out(ActivityId activity);
    void fetch(ActivityId activity) const;
    void hold(ActivityId activity, double sign);

    const System& system_;
    const double coalesce_;
    SimTime now_{};
    Timeline timeline_;
    Calendar calendar_;
    Sharing sharing_;

    Column<ActivityId, Stage> stage_;
    Column<ActivityId, std::uint32_t> missing_;  // predecessors that have not ended
    std::vector<EventId> due_;                   // at this instant, and how many of them have happened
    std::size_t next_due_ = 0;
    std::vector<ActivityId> at_once_;      // entered at this very instant, without the calendar
    std::vector<ActivityId> ends_;         // of one resource
    Column<ResourceId, double> left_out_;  // by coalescing, units of the resource
};

RunState::RunState(const System& system, Record record, double coalesce)
    : system_(system),
      coalesce_(coalesce),
      calendar_(system.activities() + system.resources()),
      sharing_(system, record, calendar_, timeline_),
      missing_(system.predecessors) {
    const std::size_t n = system.activities();
    stage_.rows.assign(n, Stage::waiting);
    timeline_.started.rows.resize(n);
    timeline_.flowing.rows.resize(n);
    timeline_.ended.rows.resize(n);
    timeline_.held_by.rows.assign(n, kOwnLimit);
    if (coalesce > 0) left_out_.rows.resize(system.resources());
}

void RunState::start_first() {
    // A stack: the lowest id on top.
    for (auto i = static_cast<std::uint32_t>(system_.activities()); i-- > 0;)
        if (missing_[ActivityId{i}] == 0) at_once_.push_back({i});
}

bool RunState::next_instant() {
    if (calendar_.empty()) return false;
    now_ = calendar_.take(due_);
    next_due_ = 0;
    if (coalesce_ > 0) coalesce();
    return true;
}

void RunState::apply_events() {
    for (;;) {
        if (!at_once_.empty()) {
            const ActivityId activity = at_once_.back();
            at_once_.pop_back();
            enter(activity);
        } else if (next_due_ < due_.size()) {
            happen(due_[next_due_++]);
        } else {
            return;
        }
    }
}

// Where one ends at this instant, those that have nearly ended do so too.
void RunState::coalesce() {
    const auto is_end = [&](EventId event) {
        return event.value >= system_.activities() || stage_[ActivityId{event.value}] == Stage::flowing;
    };
    if (std::none_of(due_.begin(), due_.end(), is_end)) return;
    ends_.clear();
    sharing_.nearly_done(coalesce_, now_, ends_);
    at_once_.insert(at_once_.end(), ends_.rbegin(), ends_.rend());  // a stack
}

void RunState::leave_out(ActivityId activity) {
    if (sharing_.is_over(activity, now_)) return;
    const double left = sharing_.left(activity, now_);
    ++timeline_.early;
    for (const auto& [resource, weight] : system_.uses.of(activity.value)) {
        left_out_[resource] += weight * left;
        timeline_.left_out = std::max(timeline_.left_out, left_out_[resource] / system_.capacity[resource]);
    }
}

void RunState::happen(EventId event) {
    if (event.value < system_.activities()) return enter({event.value});
    ends_.clear();
    sharing_.ends_on({event.value - static_cast<std::uint32_t>(system_.activities())}, now_, ends_);
    for (const ActivityId activity : ends_) enter(activity);
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
            if (coalesce_ > 0) leave_out(activity);
            sharing_.leave(activity);
            timeline_.held_by[activity] = sharing_.share(activity).held_by;
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
    calendar_.put({activity.value}, later(now_, system_.delay[activity]));
}

void RunState::flow(ActivityId activity) {
    timeline_.flowing[activity] = now_;
    if (system_.work[activity] == 0) return finish(activity);
    stage_[activity] = Stage::flowing;
    sharing_.join(activity, now_);
}

void RunState::finish(ActivityId activity) {
    stage_[activity] = Stage::done;
    hold(activity, -1);
    timeline_.ended[activity] = now_;
    timeline_.end = now_;
    // Until its last predecessor has ended, `started` holds the latest arrival known so far.
    for (const auto [after, lag] : system_.successors.of(activity.value)) {
        SimTime& ready = timeline_.started[after];
        ready = std::max(ready, later(now_, lag));
        if (--missing_[after] != 0) {
            if (missing_[after] == 1) fetch(after);
            continue;
        }
        if (ready == now_) {
            at_once_.push_back(after);
        } else {
            stage_[after] = Stage::arriving;
            calendar_.put({after.value}, ready);
        }
    }
}

// What it uses lies far from here and is read when its last predecessor has ended: by then it is on its way.
void RunState::fetch(ActivityId activity) const {
    __builtin_prefetch(system_.uses.rows.data() + system_.uses.first[activity.value]);
    __builtin_prefetch(&system_.work.rows[activity.value]);
}

void RunState::hold(ActivityId activity, double sign) {
    if (system_.holds.rows.empty()) return;
    for (const auto& [resource, amount] : system_.holds.of(activity.value)) sharing_.hold(resource, sign * amount);
}

Timeline RunState::timeline() && {
    for (std::uint32_t i = 0; i < system_.activities(); ++i) {
        const ActivityId activity{i};
        if (stage_[activity] == Stage::done) continue;
        timeline_.unfinished.push_back(activity);
        if (stage_[activity] != Stage::flowing) continue;
        const Share share = sharing_.share(activity);
        if (share.rate > 0) throw LimitReached("an activity would end beyond the 2.56 hours of one run");
        timeline_.held_by[activity] = share.held_by;
    }
    return std::move(timeline_);
}

}  // namespace

Timeline run(const System& system, Record record, double coalesce) {
    if (!(coalesce >= 0 && coalesce < 1)) throw std::invalid_argument("engine: coalesce must be from 0 to below 1");
    RunState state(system, record, coalesce);
    state.start_first();
    do {
        state.apply_events();
        state.reshare();
    } while (state.next_instant());
    return std::move(state).timeline();
}

}  // namespace fmsim
