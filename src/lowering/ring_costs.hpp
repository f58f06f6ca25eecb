// What the hops of a schedule cost on a topology: rates when the operation has the machine to itself, and latencies.
//
// "To itself" means with its own channels only: a link that four of them cross gives each a quarter.
#pragma once

#include <cstdint>
#include <vector>

#include "fmsim/collective.hpp"
#include "fmsim/topology.hpp"
#include "pipeline.hpp"

namespace fmsim {

// A channel's hops on the machine. Rates count wire bytes a second.
struct HopOnLinks {
    Route route;
    bool leaves_domain{};
    SimTime latency;
    SimTime credit_latency;
    double copy_limit{};   // of the SM
    double links_share{};  // what the links of the route give when all channels of the operation flow
};
// Whether two hops cost the same, whatever the links they take.
bool cost_alike(const HopOnLinks& a, const HopOnLinks& b);

struct ChannelOnLinks {
    std::vector<HopOnLinks> hops;
};

std::vector<ChannelOnLinks> place(const Topology& topology, const Group& group, const Schedule& schedule);

// The rate that a message of so many wire bytes can have with its stripes, not counting who else flows.
double message_limit(const InstanceType& type, double wire_bytes);

// Seconds that a cell of the pipeline takes alone.
double solo_seconds(const InstanceType& type, const HopOnLinks& hop, Stage stage, double wire_bytes);

// What a cell's rate is held to by itself: the SM, or the stripes of its message.
double own_limit(const InstanceType& type, const HopOnLinks& hop, Stage stage, double wire_bytes);

}  // namespace fmsim
