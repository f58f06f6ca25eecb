// Steps of work, their schedules, a topology -> a system for the engine, and what each activity of it stands for.
//
// Two fidelities. `stream`: one activity a channel, which uses all links on its way at once, at the pace that its
// pipeline has when the operation is alone; where operations may overlap a few, one after another. `chunk`: one
// activity for each piece of each chunk of each step, with its true dependencies. docs/models/collectives.md says what
// each leaves out.
#pragma once

#include <array>
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

// What time is spent on: each is a latency, or the inverse of a speed, that could be another. A step twice as dear in
// all of them takes twice as long, but for what is fixed (docs/models/reasons.md).
enum class Cause : std::uint8_t {
    nvlink,  // bytes on links, in the order of LinkKind
    pcie,
    numa,
    network,
    channels,        // bytes through the SMs of NCCL's channels
    messages,        // of an exchange: a proxy's work for each
    nvlink_latency,  // of a hop, and of a credit back
    network_latency,
    switches,  // NVSwitches that reduce: their latency, and an SM's work for each chunk
    signals,   // an SM's work for each unit it signals and awaits
    launch,    // of kernels of NCCL's
    host,      // where it is slower than the GPUs
    compute,   // FLOPs, and computing of a given duration
    memory,    // bytes of HBM
    fixed,     // delays, and starts that are not before
};
inline constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::fixed) + 1;
std::string_view name(Cause cause);  // "NVLink bandwidth"
std::string_view key(Cause cause);   // "nvlink_bandwidth"

// Seconds by cause, and which of them are only good to one side: a little more or less and something else counts.
struct CauseSeconds {
    std::array<double, kCauses> seconds{};
    std::uint32_t kinks{};  // bits
    double& operator[](Cause cause) { return seconds[static_cast<std::size_t>(cause)]; }
    double operator[](Cause cause) const { return seconds[static_cast<std::size_t>(cause)]; }
    bool kink(Cause cause) const { return (kinks >> static_cast<std::uint32_t>(cause) & 1u) != 0; }
    double all() const;
    // `times` of the other one more; its kinks too, unless it counts nothing.
    CauseSeconds& add(const CauseSeconds& other, double times = 1);
};

// How many times as dear each cause is: 2 is twice the latency or half the bandwidth.
struct CostFactors {
    std::array<double, kCauses> factor;
    CostFactors() { factor.fill(1); }
    double& operator[](Cause cause) { return factor[static_cast<std::size_t>(cause)]; }
    double operator[](Cause cause) const { return factor[static_cast<std::size_t>(cause)]; }
};
// The same cluster with these costs; for lowering only: what NCCL believes of it is as before.
Topology at_cost(const Topology& topology, const CostFactors& factors);
// Of what a resource has to give.
Cause cause_of(const Topology& topology, ResourceId resource);

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
    SimTime takes;  // without a schedule: the larger of the next two, or time that passes
    SimTime by_flops, by_memory;
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
// Then `channel` says which.
inline constexpr std::uint32_t kLaunch = 0xffffffff, kNotBefore = kLaunch - 1, kHost = kLaunch - 2, kDone = kLaunch - 3;

struct StepSpan {
    ActivityId launch;  // starts when all its ranks have come
    ActivityId done;    // ends when the step does
};

// What a channel of `stream` takes for its bytes when its operation is alone: its own limit is no more than its work in
// that time, with the waiting between steps in it, so that others can have what it leaves of its links meanwhile. Of an
// exchange: what its longest message takes, of which it works while it copies.
struct Pace {
    SimTime alone;                   // 0: no transfer
    SimTime working;                 // of that, what the busiest stage needs for the bytes
    ResourceId held_by = kOwnLimit;  // that stage's resource of the system; kOwnLimit: SMs
    SimTime tail;                    // between the end of its bytes and that of the channel
    double more = 1;                 // its work, over its bytes: it keeps links longer than they need among others
};

struct Lowered {
    System system;                       // resource i is link i of the topology; those beyond are parts of GPUs
    std::vector<ResourceId> stands_for;  // folded: of each resource, the first of its class; else empty
    Column<ActivityId, Origin> origin;
    Column<ActivityId, Pace> pace;  // in `stream`, else empty
    std::vector<StepSpan> steps;

    // Of its work what it moves.
    double moves(ActivityId activity) const {
        return pace.size() == 0 ? system.work[activity] : system.work[activity] / pace[activity].more;
    }
};

// Throws LimitReached when `chunk` would need more activities than memory holds, and Infeasible when a schedule needs a
// link that is down.
Lowered lower(const Topology& topology, std::span<const Step> steps, Fidelity fidelity);
// Folded: one resource a class. In `chunk` the members of a class must do the same at every moment.
Lowered lower_folded(const Topology& topology, std::span<const Step> steps, const LinkClasses& classes,
                     Fidelity fidelity);

// What is no transfer (launches, hosts, computing) at these costs. at_cost() does the rest.
void set_starts(Lowered& lowered, std::span<const Step> steps, const CostFactors& factors);
// What the delay of each activity, its pace alone and its tail are spent on, in `stream`: from running each kind of
// step at costs that differ by 1e-4 to both sides. `classes`: of a folded run, else null. `topology` and `lowered` are
// at cost already, `factors` says which.
struct ActivityCauses {
    std::vector<CauseSeconds> delay, pace, tail;
    std::vector<CauseSeconds> more;  // of the work: by what part it grows
};
ActivityCauses causes_of(const Topology& topology, std::span<const Step> steps, const Lowered& lowered,
                         const LinkClasses* classes, const CostFactors& factors = {});

// A resource's name and kind, links and parts of GPUs alike: "p5.48xlarge[0]/gpu3 proxy", "proxy".
std::string resource_name(const Topology& topology, ResourceId resource);
std::string_view resource_kind(const Topology& topology, ResourceId resource);

}  // namespace fmsim
