#include "calendar.hpp"

#include <algorithm>

namespace fmsim {

void Calendar::put(EventId event, SimTime when) {
    const Entry entry{when, event};
    std::size_t hole = place_[event.value];
    if (hole == kAbsent) {
        hole = heap_.size();
        heap_.emplace_back();
        rise(hole, entry);
    } else if (entry < heap_[hole]) {
        rise(hole, entry);
    } else {
        sink(hole, entry);
    }
}

EventId Calendar::take() {
    const EventId first = heap_.front().event;
    remove_at(0);
    return first;
}

void Calendar::remove_at(std::size_t hole) {
    place_[heap_[hole].event.value] = kAbsent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (hole == heap_.size()) return;
    if (hole != 0 && last < heap_[(hole - 1) / 4])
        rise(hole, last);
    else
        sink(hole, last);
}

void Calendar::rise(std::size_t hole, Entry entry) {
    while (hole != 0 && entry < heap_[(hole - 1) / 4]) {
        set(hole, heap_[(hole - 1) / 4]);
        hole = (hole - 1) / 4;
    }
    set(hole, entry);
}

void Calendar::sink(std::size_t hole, Entry entry) {
    for (;;) {
        const std::size_t children = 4 * hole + 1;
        if (children >= heap_.size()) break;
        std::size_t least = children;
        const std::size_t end = std::min(children + 4, heap_.size());
        for (std::size_t child = children + 1; child < end; ++child)
            if (heap_[child] < heap_[least]) least = child;
        if (entry < heap_[least]) break;
        set(hole, heap_[least]);
        hole = least;
    }
    set(hole, entry);
}

}  // namespace fmsim
