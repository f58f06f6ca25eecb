#include "calendar.hpp"

#include <algorithm>

namespace fmsim {

void Calendar::put(EventId event, SimTime when) {
    std::uint32_t& node = node_[event.value];
    const std::uint32_t there = instant_of(when);
    if (node == kNone) {
        if (free_nodes_.empty()) {
            free_nodes_.push_back(static_cast<std::uint32_t>(nodes_.size()));
            nodes_.emplace_back();
        }
        node = free_nodes_.back();
        free_nodes_.pop_back();
        nodes_[node].event = event;
    } else {
        const std::uint32_t old = nodes_[node].instant;
        if (instants_[old].when == when) return;
        const bool alone = instants_[old].first == instants_[old].last;
        if (there == kNone && alone) return rekey(old, when);
        unlink(node);
    }
    link(node, there == kNone ? open(when) : there);
}

SimTime Calendar::take(std::vector<EventId>& events) {
    events.clear();
    const SimTime when = next();
    do {
        const std::uint32_t instant = heap_.front().instant;
        for (std::uint32_t node = instants_[instant].first; node != kNone; node = nodes_[node].after) {
            events.push_back(nodes_[node].event);
            node_[nodes_[node].event.value] = kNone;
            free_nodes_.push_back(node);
        }
        close(instant);
    } while (!empty() && next() == when);
    // Mostly they were put in order.
    if (!std::is_sorted(events.begin(), events.end())) std::sort(events.begin(), events.end());
    return when;
}

void Calendar::drop(EventId event) {
    unlink(node_[event.value]);
    free_nodes_.push_back(node_[event.value]);
    node_[event.value] = kNone;
}

std::uint32_t Calendar::instant_of(SimTime when) {
    const std::uint32_t instant = recent(when);
    if (instant == kNone || instants_[instant].first == kNone || instants_[instant].when != when) return kNone;
    return instant;
}

std::uint32_t Calendar::open(SimTime when) {
    if (free_instants_.empty()) {
        free_instants_.push_back(static_cast<std::uint32_t>(instants_.size()));
        instants_.emplace_back();
    }
    const std::uint32_t instant = free_instants_.back();
    free_instants_.pop_back();
    instants_[instant] = {.when = when};
    recent(when) = instant;
    heap_.emplace_back();
    rise(heap_.size() - 1, {when, instant});
    return instant;
}

void Calendar::rekey(std::uint32_t instant, SimTime when) {
    const bool earlier = when < instants_[instant].when;
    instants_[instant].when = when;
    recent(when) = instant;
    if (earlier)
        rise(instants_[instant].place, {when, instant});
    else
        sink(instants_[instant].place, {when, instant});
}

void Calendar::close(std::uint32_t instant) {
    remove_at(instants_[instant].place);
    instants_[instant].first = kNone;
    free_instants_.push_back(instant);
}

void Calendar::link(std::uint32_t node, std::uint32_t instant) {
    Instant& there = instants_[instant];
    nodes_[node].instant = instant;
    nodes_[node].before = there.last;
    nodes_[node].after = kNone;
    (there.last == kNone ? there.first : nodes_[there.last].after) = node;
    there.last = node;
}

void Calendar::unlink(std::uint32_t node) {
    const Node out = nodes_[node];
    Instant& there = instants_[out.instant];
    (out.before == kNone ? there.first : nodes_[out.before].after) = out.after;
    (out.after == kNone ? there.last : nodes_[out.after].before) = out.before;
    if (there.first == kNone) close(out.instant);
}

void Calendar::remove_at(std::size_t hole) {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (hole == heap_.size()) return;
    if (hole != 0 && last.when < heap_[(hole - 1) / 4].when)
        rise(hole, last);
    else
        sink(hole, last);
}

void Calendar::rise(std::size_t hole, Entry entry) {
    while (hole != 0 && entry.when < heap_[(hole - 1) / 4].when) {
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
            if (heap_[child].when < heap_[least].when) least = child;
        if (!(heap_[least].when < entry.when)) break;
        set(hole, heap_[least]);
        hole = least;
    }
    set(hole, entry);
}

}  // namespace fmsim
