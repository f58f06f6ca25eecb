// The pending events, by instant; each may be moved or withdrawn.
//
// Synchronous schedules end many activities at one time, so events of one time hang on one instant, and an addressable
// heap with four children a node holds the instants. Which instant has a time is looked up among those lately used: one
// that is missed costs a second instant of the same time, nothing else, since all of a time are taken together.
// Of one time the lower id comes first, so that neither the heap's inside nor the order of insertion can show in a
// result.
// Cost: O(1) for an event of a time that is there, else O(log n) in the instants; no allocation once as many were
// pending as ever will be.
#pragma once

#include <array>
#include <vector>

#include "fmsim/engine.hpp"

namespace fmsim {

// What can happen next: an activity goes on to its next stage, or a resource is left by the first of those it holds.
// The activities come first, by id, then the resources.
using EventId = Index<struct EventTag>;

class Calendar {
public:
    explicit Calendar(std::size_t events) : node_(events, kNone) { recent_.fill(kNone); }

    bool empty() const { return heap_.empty(); }
    SimTime next() const { return heap_.front().when; }

    void put(EventId event, SimTime when);  // or move, when it is already in
    void withdraw(EventId event) {          // nothing happens when it is not in
        if (node_[event.value] != kNone) drop(event);
    }
    // All events of the next time, in order of id, replace what is in `events`. Returns the time; not when empty().
    SimTime take(std::vector<EventId>& events);

private:
    static constexpr std::uint32_t kNone = 0xffffffff;
    struct Entry {
        SimTime when;
        std::uint32_t instant;
    };
    struct Instant {
        SimTime when;
        std::uint32_t first = kNone, last = kNone;  // of its nodes; none: the instant is free
        std::uint32_t place{};                      // in the heap
    };
    struct Node {
        EventId event;
        std::uint32_t instant;
        std::uint32_t before, after;  // on the same instant
    };

    std::uint32_t& recent(SimTime when) {
        return recent_[static_cast<std::uint64_t>(when.fs) * 0x9e3779b97f4a7c15 >> 58];
    }
    std::uint32_t instant_of(SimTime when);
    std::uint32_t open(SimTime when);
    void rekey(std::uint32_t instant, SimTime when);
    void close(std::uint32_t instant);
    void link(std::uint32_t node, std::uint32_t instant);
    void unlink(std::uint32_t node);
    void drop(EventId event);
    void rise(std::size_t hole, Entry entry);
    void sink(std::size_t hole, Entry entry);
    void remove_at(std::size_t hole);
    void set(std::size_t hole, Entry entry) {
        heap_[hole] = entry;
        instants_[entry.instant].place = static_cast<std::uint32_t>(hole);
    }

    std::vector<Entry> heap_;
    std::vector<Instant> instants_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> free_instants_, free_nodes_;
    std::vector<std::uint32_t> node_;         // of an event that is in
    std::array<std::uint32_t, 64> recent_{};  // instants by a hash of their time; may be out of date
};

}  // namespace fmsim
