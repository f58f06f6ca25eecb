// What a dispatcher costs a call on a group, leg by leg: see cost.cpp.
#pragma once

#include "fmsim/moe.hpp"

namespace fmsim {

// The network that a group's domains reach each other by, as a dispatcher knows it; null on one domain, and where the
// dispatcher does not run on it.
const DispatcherNetwork* network_of(const Topology& topology, const Group& group, const Dispatcher& dispatcher);
// NICs of one GPU, of the group's poorest domain.
double nics_of_a_gpu(const Topology& topology, const Group& group);
// What puts make of a GPU's links, and the part that it is of what those carry at all; no part is above 1.
struct LinkRate {
    BytesPerSecond rate;
    double share = 1;
};
LinkRate network_rate(const Topology& topology, const Group& group, double share_of_line);
LinkRate nvlink_rate(const Topology& topology, const Group& group, double share_of_published);

struct LegCost {
    double bytes{};         // of the busiest GPU, out or in
    double link_seconds{};  // of its links for them
    double rank_seconds{};  // of the rest of it
    double seconds() const { return link_seconds > rank_seconds ? link_seconds : rank_seconds; }
};
struct CallCost {
    SimTime launch;
    SimTime latency;  // until the first byte goes over the network
    LegCost network, nvlink;
    double overlap{};  // of each leg: its first part, in which the other one cannot work yet, or no longer
    std::uint32_t sms{};
    double seconds() const;
};
CallCost cost_of(const Topology& topology, const Group& group, const ExpertCall& call, const Dispatcher& dispatcher,
                 const TokenTraffic& traffic);

}  // namespace fmsim
