// A system of activities on resources -> a timeline: when each ran and what held it back.
//
//   SystemBuilder builder;
//   const ResourceId link = builder.add_resource(1e9);                       // 1 GB/s
//   const std::array uses{Use{link, 1}};
//   const ActivityId send = builder.add({.work = 1000, .uses = uses});       // 1000 bytes, one a nanosecond
//   const Timeline timeline = run(std::move(builder).build());
//   timeline.ended[send];                                                    // 1 us
//
// Not here: GPUs, ranks, collectives, files. A unit of work is whatever the caller means by it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fmsim/base.hpp"

namespace fmsim {

using ResourceId = Index<struct ResourceTag>;
using ActivityId = Index<struct ActivityTag>;

// Stands in `held_by` for the activity's own rate limit, and for an activity that never flowed.
inline constexpr ResourceId kOwnLimit{std::numeric_limits<std::uint32_t>::max()};

// At rate x an activity takes weight * x of the resource.
struct Use {
    ResourceId resource;
    double weight;  // units of the resource for each unit of work; above 0
};

// Taken from the resource's capacity from the activity's start to its end, its delay included.
struct Hold {
    ResourceId resource;
    double amount;  // units of the resource; not negative
};

// `after` may start no earlier than `lag` after the end of the activity whose row this is: the flight of the last
// byte, which keeps nobody busy. (docs/decisions/0001-lags.md)
struct Successor {
    ActivityId after;
    SimTime lag;
};
// Row i: the successors of activity i. Most systems have no lag at all, so lags lie apart, and none where all are 0.
struct Successors {
    std::vector<std::uint32_t> first{0};
    std::vector<ActivityId> after;
    std::vector<SimTime> lag;  // one for each of `after`, or none

    struct Row {
        const Successors& all;
        std::uint32_t from, to;
        struct Position {
            const Successors& all;
            std::uint32_t at;
            Successor operator*() const { return {all.after[at], all.lag.empty() ? SimTime{} : all.lag[at]}; }
            Position& operator++() { return ++at, *this; }
            bool operator!=(const Position& other) const { return at != other.at; }
        };
        Position begin() const { return {all, from}; }
        Position end() const { return {all, to}; }
        bool empty() const { return from == to; }
    };
    Row of(std::size_t activity) const { return {*this, first[activity], first[activity + 1]}; }
};

// A column that is one value as long as all its rows are alike.
template <class Id, class T>
class Alike {
public:
    T operator[](Id id) const { return rows_.empty() ? same_ : rows_[id.value]; }
    std::size_t size() const { return size_; }
    void push_back(T value) {
        if (rows_.empty() && (size_ == 0 || value == same_)) {
            same_ = value;
        } else {
            if (rows_.empty()) rows_.assign(size_, same_);
            rows_.push_back(value);
        }
        ++size_;
    }
    void set(Id id, T value) {
        if (rows_.empty() && value == same_) return;
        if (rows_.empty()) rows_.assign(size_, same_);
        rows_[id.value] = value;
    }

private:
    T same_{};
    std::size_t size_ = 0;
    std::vector<T> rows_;  // none while all are alike
};

// Structure of arrays; made by SystemBuilder, which keeps its promises.
struct System {
    Column<ResourceId, double> capacity;  // units a second

    Alike<ActivityId, SimTime> delay;
    Column<ActivityId, double> work;
    Alike<ActivityId, double> share;       // above 0: while filling, the rate is share * level
    Alike<ActivityId, double> rate_limit;  // units of work a second; infinity for none
    Column<ActivityId, std::uint32_t> predecessors;
    Rows<Use> uses;
    Rows<Hold> holds;
    Successors successors;

    std::size_t activities() const { return work.size(); }
    std::size_t resources() const { return capacity.size(); }
};

struct Activity {
    SimTime delay{};
    double work{};
    double share = 1;
    double rate_limit = std::numeric_limits<double>::infinity();
    std::span<const Use> uses{};
    std::span<const Hold> holds{};
};

// Collects a system. Throws std::invalid_argument on a value that could give no meaningful run: a negative or
// non-finite number, an unknown id, a resource used twice, work with neither a use nor a rate limit.
class SystemBuilder {
public:
    ResourceId add_resource(double capacity);
    double capacity(ResourceId resource) const { return system_.capacity[resource]; }
    ActivityId add(const Activity& activity);
    // `after` waits for the end of `before` and then for `lag`.
    void order(ActivityId before, ActivityId after, SimTime lag = {});
    void reserve(std::size_t activities, std::size_t uses, std::size_t orders);
    System build() &&;

private:
    struct Order {
        ActivityId before, after;
    };
    System system_;
    std::vector<Order> orders_;
    std::vector<SimTime> lags_;                   // of the orders; none while all are 0
    std::uint32_t adds_ = 0;                      // calls of add(), refused ones too
    Column<ResourceId, std::uint32_t> last_add_;  // that used the resource: finds one used twice
};

// What an activity got and what held it there: a resource, or kOwnLimit.
struct Share {
    double rate{};
    ResourceId held_by = kOwnLimit;
    bool operator==(const Share&) const = default;
};

struct RateStep {
    ActivityId activity;
    SimTime from;
    Share share;
};
struct UseStep {
    ResourceId resource;
    SimTime from;
    double used;  // units a second, holds not counted
};

struct Timeline {
    Column<ActivityId, SimTime> started;  // all predecessors done
    Column<ActivityId, SimTime> flowing;  // the delay is over
    Column<ActivityId, SimTime> ended;
    Column<ActivityId, ResourceId> held_by;  // at the last rate it had
    SimTime end{};                           // of the last activity that ended
    std::vector<ActivityId> unfinished;      // in a cycle, behind one, or at rate 0 for ever; in order of id
    std::uint64_t solves{};                  // components filled
    std::uint64_t early{};                   // activities that coalescing ended before all their work was done
    double left_out{};            // seconds the resource that was spared most would have needed for that work
    std::vector<RateStep> rates;  // only when asked for, in order of time
    std::vector<UseStep> use;     // only when asked for, in order of time
};

enum class Record { ends, rates };

// Runs to the end. Weighted max-min fair rates at every instant; the result depends on the input only. Throws
// LimitReached beyond 2.56 hours. Cost: docs/models/engine.md.
//
// `coalesce` of 0 is exact. Above 0 (and below 1), when an activity ends, all that flow and have at most this part of
// their work left end with it: fewer instants, each activity does at least 1 - coalesce of its work, and the timeline
// says what was left out. (docs/decisions/0013-coalescing.md)
Timeline run(const System& system, Record record = Record::ends, double coalesce = 0);

}  // namespace fmsim
