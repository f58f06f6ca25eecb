// From one instant to the next: end what ends, start what is ready, share anew where something changed.
//
// The state of an activity moves one way: waiting (for predecessors) -> arriving (for a lag) -> delayed -> flowing ->
// done. Until it flows, its one entry in the calendar is the end of the stage it is in; then Sharing says when it ends.
#include <algorithm>

#include "calendar.hpp"
#include "fmsim/engine.hpp"
#include "sharing.hpp"

namespace fmsim {
namespace {

enum class Stage : std::uint8_t { waiting, arriving, delayed, flowing, done };

class RunState {
public:
    RunState(const System& system, Record record);

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
    void fetch(ActivityId activity) const;
    void hold(ActivityId activity, double sign);

    const System& system_;
    SimTime now_{};
    Timeline timeline_;
    Calendar calendar_;
    Sharing sharing_;

    Column<ActivityId, Stage> stage_;
    Column<ActivityId, std::uint32_t> missing_;  // predecessors that have not ended
    std::vector<EventId> due_;                   // at this instant, and how many of them have happened
    std::size_t next_due_ = 0;
    std::vector<ActivityId> at_once_;  // entered at this very instant, without the calendar
    std::vector<ActivityId> ends_;     // of one resource
};

RunState::RunState(const System& system, Record record)
    : system_(system),
      calendar_(system.activities() + system.resources()),
      sharing_(system, record, calendar_, timeline_),
      missing_(system.predecessors) {
    const std::size_t n = system.activities();
    stage_.rows.assign(n, Stage::waiting);
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
    now_ = calendar_.take(due_);
    next_due_ = 0;
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
