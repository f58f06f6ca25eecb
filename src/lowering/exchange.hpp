// Grouped sends and receives on links: see exchange.cpp.
#pragma once

#include <vector>

#include "fmsim/collective.hpp"
#include "fmsim/engine.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

// How far apart the two ends of a message are: they finish at different times.
inline constexpr std::uint32_t kLevels = 3;  // within a domain, within a leaf, beyond

// A message as it goes.
struct MessageOnLinks {
    std::uint32_t level{};
    bool leaves_domain{};
    Route route;
    ResourceId proxy;   // of the GPU by whose NIC it leaves
    ResourceId copier;  // of the sender
    SimTime latency;
    SimTime credit_latency;
    double bytes{};              // wire
    double parts{};              // channels that carry it
    double messages{};           // of a NIC
    double message_seconds{};    // of the proxy, for each of them
    double copy_limit{};         // of one channel, wire bytes a second
    double last_copy_seconds{};  // of the last chunk out of the receiver's buffer
    SimTime unit_cost;        // of a channel, for each chunk that it copies; its SM's other transfers go on meanwhile
    double copier_seconds{};  // of all channels of the kernel, for a wire byte
    double first_bytes{};     // that are copied before the first flight of a message of this size
};
MessageOnLinks place(const Topology& topology, const Group& group, const Schedule& schedule, const Message& message);

// What a rank sends to itself, which its SMs copy.
MessageOnLinks kept_at(const Topology& topology, GpuPlace place, const Exchange& exchange);

// Visits each message; of an all-to-all with equal parts they are made on the way.
template <class Visit>
void each_message(const Exchange& exchange, std::uint32_t ranks, Visit visit) {
    for (const Message& message : exchange.messages) visit(message);
    if (exchange.each <= 0) return;
    for (std::uint32_t from = 0; from < ranks; ++from)
        for (std::uint32_t ahead = 1; ahead < ranks; ++ahead)
            visit(Message{from, (from + ahead) % ranks, exchange.each});
}

// All messages of one level at once.
struct LevelFlow {
    double work{};  // wire bytes on the busiest link, or of the busiest rank where no link is used
    std::vector<Use> uses;
    double rate_limit{};
    SimTime alone;     // the work at that limit, which is the longest message's copies and signals
    SimTime copying;   // of it
    double share = 1;  // transfers at once on that link, each of which has its part of it
    SimTime delay;     // before the bytes
    SimTime tail;      // after them
};
std::vector<LevelFlow> level_flows(const Topology& topology, const Group& group, const Schedule& schedule);
// The same with each message placed by itself, also where they are equal: its slow twin.
std::vector<LevelFlow> level_flows_by_message(const Topology& topology, const Group& group, const Schedule& schedule);

}  // namespace fmsim
