// The rates of all that flows: who must be shared anew at an instant, and when the next of them ends.
//
// Where sharing starts anew. Filling raises one level for all. When an activity ends that stood at some level, all that
// stood lower stand where they stood: until then it took more room than now is free, and no more. When one begins,
// nothing changes below the level at which its resources are full with it. So only what stands at or above the lowest
// of these levels rises again, and only what is joined to a change through such activities.
//
// Ends. All that one resource holds rise and fall together, so the calendar has one event for a resource, the first end
// among them, and not one for each: a change of level costs no heap operation for each of its activities. What its own
// limit holds has an event of its own.
//
// tests/engine/plain_engine.hpp, which shares everything anew at every instant, is the slow twin.
#pragma once

#include <algorithm>
#include <vector>

#include "calendar.hpp"
#include "fair_shares.hpp"
#include "flowing.hpp"
#include "fmsim/engine.hpp"

namespace fmsim {

class Sharing {
public:
    // `timeline` gets the solves, and the records when they are asked for.
    Sharing(const System& system, Record record, Calendar& calendar, Timeline& timeline);

    void join(ActivityId activity, SimTime now);
    void leave(ActivityId activity);
    void hold(ResourceId resource, double amount);  // more of its capacity; less when negative
    void reshare(SimTime now);                      // after all changes of one instant

    // When the event of `resource` has come: those of its activities that end now.
    void ends_on(ResourceId resource, SimTime now, std::vector<ActivityId>& ends) const;
    // What flows and has at most this part of its work left, by id; only this visits all that flows.
    void nearly_done(double part, SimTime now, std::vector<ActivityId>& found) const;
    double left(ActivityId activity, SimTime now) const { return left(flow_[slot_[activity]], now); }  // work
    bool is_over(ActivityId activity, SimTime now) const { return flow_[slot_[activity]].end <= now; }
    // Of an activity that flows, or has flowed and no other has joined since.
    Share share(ActivityId activity) const;

private:
    struct Flow {
        double rate{};
        double remaining{};              // work, as of `since`
        SimTime since;                   // the last change of the rate
        SimTime end = SimTime::max();    // with this rate
        ResourceId held_by = kOwnLimit;  // when it was last shared
        bool has_event = false;          // of its own in the calendar
    };
    static double left(const Flow& flow, SimTime now) {
        return flow.remaining - std::min(flow.remaining, flow.rate * seconds(now - flow.since));
    }
    void lower_floor(double level) { floor_ = level < floor_ ? level : floor_; }
    double full_at(ResourceId resource) const;
    void find_floor();
    bool share_alone(ResourceId seed, SimTime now);
    void gather(ResourceId seed);
    void gather_takers(ResourceId resource);
    SlotId take_slot(ActivityId activity, SimTime now);
    void adopt_rates(SimTime now);
    void set_events();
    void adopt_rate(SlotId slot, SimTime now);
    void set_own_event(SlotId slot);
    void record_use(SimTime now);
    EventId event_of(ResourceId resource) const {
        return {static_cast<std::uint32_t>(system_.activities()) + resource.value};
    }

    const System& system_;
    const Record record_;
    Calendar& calendar_;
    Timeline& timeline_;
    Flowing flowing_;
    FairShares fair_shares_;

    Column<ActivityId, SlotId> slot_;
    std::vector<SlotId> free_;
    Column<SlotId, Standing> standing_;
    Column<SlotId, Flow> flow_;
    Column<ResourceId, double> available_;
    Column<ResourceId, double> held_;
    Column<ResourceId, SimTime> first_end_;  // among the gathered ones it holds

    double floor_;  // what stands lower is not touched by the changes of this instant
    std::vector<SlotId> joined_;
    std::vector<ResourceId> touched_;
    std::vector<SlotId> unbound_;  // began to flow using nothing: only their own limit holds them
    // Those joined to one seed; a resource's stamp says in which instant it was last seen.
    std::vector<SlotId> slots_;
    std::vector<ResourceId> resources_;
    std::uint32_t instant_ = 0;
    Column<ResourceId, std::uint32_t> seen_;
};

}  // namespace fmsim
