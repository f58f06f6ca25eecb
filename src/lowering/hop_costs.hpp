// What the hops of a schedule cost on a topology: rates when the operation has the machine to itself, and latencies.
//
// "To itself" means with its own channels only: a link that four of them cross gives each a quarter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmsim/collective.hpp"
#include "fmsim/engine.hpp"
#include "fmsim/topology.hpp"
#include "loop_order.hpp"
#include "pipeline.hpp"

namespace fmsim {

// A channel's hops on the machine. Rates count wire bytes a second.
struct HopOnLinks {
    Route route;  // shares may exceed 1: what a link spends on a byte that its switch reduces
    bool leaves_domain{};
    bool is_local{};  // stays on its GPU
    SimTime latency;
    SimTime credit_latency;
    double copy_limit{};   // of the SM
    SimTime unit_cost;     // of the SM, for each unit that it copies; of a local copy for each chunk
    SimTime drain;         // of the receiver, to copy the last chunk out when it has nothing more to send
    double links_share{};  // what the links of the route give when all hops of the operation flow at once
    std::uint32_t lane{};
};
// Whether two hops cost the same, whatever the links they take.
bool cost_alike(const HopOnLinks& a, const HopOnLinks& b);
bool alike_but_for_share(const HopOnLinks& a, const HopOnLinks& b);  // of the links

struct ChannelOnLinks {
    std::vector<HopOnLinks> hops;
};

// The parts of the group stand for `part_repeats` as many.
std::vector<ChannelOnLinks> place(const Topology& topology, const Group& group, const Schedule& schedule,
                                  double part_repeats = 1);

// Whether the bytes of a stage take the hop's route: inside a domain the copy does, between domains the flight.
bool on_route(const HopOnLinks& hop, Stage stage);

// Wire bytes a second that a stage is held to by itself: a copy by its SM; a flight by nothing.
double own_limit(const HopOnLinks& hop, Stage stage);

// What its SM needs beside the bytes of a cell.
SimTime cell_cost(const HopOnLinks& hop, const Cell& cell);

// A cell as the engine sees it; `uses` are those of its hop.
Activity activity_of(const HopOnLinks& hop, const Cell& cell, std::span<const Use> uses);

// Wire bytes a second of a stage when the operation has the machine to itself and all its hops flow.
double full_rate(const HopOnLinks& hop, Stage stage);

// Latency of data between two ranks of different domains, and of a credit back.
SimTime network_latency(const InstanceType& sender, const InstanceType& receiver, Protocol protocol);
SimTime network_credit(const InstanceType& sender, const InstanceType& receiver);

// As how many writes a message of so many wire bytes leaves: one for each stripe that it fills, on a NIC of its own, to
// a divisor of the NICs of a group. At least 1.
double writes_of(const InstanceType& sender, double bytes);

// Throws Infeasible when a link of the route is down.
void refuse_down(const Topology& topology, const Route& route);

}  // namespace fmsim
