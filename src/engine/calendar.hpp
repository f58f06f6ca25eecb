// The pending events, earliest first; each may be moved or withdrawn.
//
// An addressable heap with four children a node. At one time the lower id comes first, so that no two keys are equal
// and neither the heap's inside nor the order of insertion can show in a result.
// Cost: O(log n) for each put and take, no allocation once as many were pending as ever will be.
#pragma once

#include <vector>

#include "fmsim/engine.hpp"

namespace fmsim {

// What can happen next: an activity goes on to its next stage, or a resource is left by the first of those it holds.
// The activities come first, by id, then the resources.
using EventId = Index<struct EventTag>;

class Calendar {
public:
    explicit Calendar(std::size_t events) : place_(events, kAbsent) {}

    bool empty() const { return heap_.empty(); }
    SimTime next() const { return heap_.front().when; }

    void put(EventId event, SimTime when);  // or move, when it is already in
    void withdraw(EventId event) {          // nothing happens when it is not in
        if (place_[event.value] != kAbsent) remove_at(place_[event.value]);
    }
    EventId take();  // the first

private:
    static constexpr std::uint32_t kAbsent = 0xffffffff;
    struct Entry {
        SimTime when;
        EventId event;
        bool operator<(const Entry& other) const {
            return when.fs < other.when.fs || (when.fs == other.when.fs && event.value < other.event.value);
        }
    };
    void rise(std::size_t hole, Entry entry);
    void sink(std::size_t hole, Entry entry);
    void remove_at(std::size_t hole);
    void set(std::size_t hole, Entry entry) {
        heap_[hole] = entry;
        place_[entry.event.value] = static_cast<std::uint32_t>(hole);
    }

    std::vector<Entry> heap_;
    std::vector<std::uint32_t> place_;  // of an event in the heap
};

}  // namespace fmsim
