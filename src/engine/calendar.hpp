// The pending events, earliest first: at most one an activity, which may be moved or withdrawn.
//
// An addressable heap with four children a node. At one time the lower id comes first, so that no two keys are equal
// and neither the heap's inside nor the order of insertion can show in a result.
// Cost: O(log n) for each put and take, no allocation after construction.
#pragma once

#include <vector>

#include "fmsim/engine.hpp"

namespace fmsim {

class Calendar {
public:
    explicit Calendar(std::size_t activities) : place_(activities, kAbsent) {}

    bool empty() const { return heap_.empty(); }
    SimTime next() const { return heap_.front().when; }

    void put(ActivityId activity, SimTime when);  // or move, when it is already in
    void withdraw(ActivityId activity);           // nothing happens when it is not in
    ActivityId take();                            // the first

private:
    static constexpr std::uint32_t kAbsent = 0xffffffff;
    struct Entry {
        SimTime when;
        ActivityId activity;
        auto operator<=>(const Entry&) const = default;
    };
    void rise(std::size_t hole, Entry entry);
    void sink(std::size_t hole, Entry entry);
    void remove_at(std::size_t hole);
    void set(std::size_t hole, Entry entry) {
        heap_[hole] = entry;
        place_[entry.activity.value] = static_cast<std::uint32_t>(hole);
    }

    std::vector<Entry> heap_;
    std::vector<std::uint32_t> place_;  // of an activity in the heap
};

}  // namespace fmsim
