// Steps of work, their schedules, a topology -> a system for the engine, and what each activity of it stands for.
//
// Two fidelities. `stream`: one activity a channel, which uses all links on its way at once, after the delay that the
// (max,+) recurrence of its pipeline gives. `chunk`: one activity for each piece of each chunk of each step, with its
// true dependencies. docs/models/collectives.md says what each leaves out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/collective.hpp"
#include "fmsim/engine.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

enum class Fidelity : std::uint8_t { stream, chunk };

// Links that are alike and carry alike, so that one resource stands for all of a class (docs/models/folding.md).
// Domains of a class have the same links in the same order.
struct LinkClasses {
    Column<DomainId, std::uint32_t> of_domain;  // its class
    std::vector<DomainId> first;                // of each class
    std::vector<std::uint32_t> count;           // of each class: domains
    bool network_counts{};                      // the layers above the NICs can saturate
    std::vector<std::uint32_t> of_switch;       // where they can: the class of each network switch, layer after layer
    std::vector<std::uint32_t> first_switch;    // of each class of switches
    std::vector<std::uint32_t> switches;        // of each class: how many
};

// One thing that happens once: a collective or a transfer with its schedule, or time that passes on one rank. Folded:
// that happens `copies` times at once, alike; of a ring over many alike parts only some parts are drawn, and stand for
// `part_repeats` as many.
struct Step {
    std::vector<std::uint32_t> after;  // earlier steps
    SimTime not_before;
    SimTime takes;               // without a schedule: computing, waiting
    const Schedule* schedule{};  // null: none
    const Group* group{};        // of the schedule
    double copies = 1;
    double part_repeats = 1;
};

// What moves in an activity. `stage` counts the places of a channel where bytes pass one after another: a hop's copy
// by the SM, and where it leaves the domain its flight from NIC to NIC. Of an exchange `channel` is the level: within
// the domain, within the leaf, beyond.
struct Origin {
    std::uint32_t step{};
    std::uint32_t channel{};
    std::uint32_t stage{};
};
inline constexpr std::uint32_t kNoStage = 0xffffffff;  // the start, the launch and the end of a step

struct StepSpan {
    ActivityId launch;  // starts when all its ranks have come
    ActivityId done;    // ends when the step does
};

struct Lowered {
    System system;                       // resource i is link i of the topology; those beyond are parts of GPUs
    std::vector<ResourceId> stands_for;  // folded: of each resource, the first of its class; else empty
    Column<ActivityId, Origin> origin;
    std::vector<StepSpan> steps;
};

// Throws LimitReached when `chunk` would need more activities than memory holds, and Infeasible when a schedule needs a
// link that is down.
Lowered lower(const Topology& topology, std::span<const Step> steps, Fidelity fidelity);
// Folded: one resource a class. In `chunk` the members of a class must do the same at every moment.
Lowered lower_folded(const Topology& topology, std::span<const Step> steps, const LinkClasses& classes,
                     Fidelity fidelity);

// A resource's name and kind, links and parts of GPUs alike: "p5.48xlarge[0]/gpu3 proxy", "proxy".
std::string resource_name(const Topology& topology, ResourceId resource);
std::string_view resource_kind(const Topology& topology, ResourceId resource);

}  // namespace fmsim
