// A job, its schedules, a topology -> a system for the engine, and what each activity of it stands for.
//
// Two fidelities. `stream`: one activity a channel, which uses all links on its way at once, after the delay that the
// (max,+) recurrence of its pipeline gives. `chunk`: one activity for each piece of each chunk of each step, with its
// true dependencies. docs/models/ring.md says what each leaves out.
#pragma once

#include <cstdint>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/collective.hpp"
#include "fmsim/engine.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

enum class Fidelity : std::uint8_t { stream, chunk };

// What moves in an activity. `stage` counts the places of a channel where bytes pass one after another: a hop's copy
// by the SM, and where it leaves the domain its flight from NIC to NIC.
struct Origin {
    std::uint32_t call{};
    std::uint32_t channel{};
    std::uint32_t stage{};
};
inline constexpr std::uint32_t kNoStage = 0xffffffff;  // the launch and the end of a call

struct CallSpan {
    ActivityId launch;  // starts when the call does
    ActivityId done;    // ends when the call does
};

struct Lowered {
    System system;  // resource i is link i of the topology
    Column<ActivityId, Origin> origin;
    std::vector<CallSpan> calls;
};

// Calls of one group run one after another. Throws LimitReached when `chunk` would need more activities than memory
// holds, and Infeasible when a schedule needs a link that is down.
Lowered lower(const Topology& topology, const Group& group, const std::vector<Schedule>& schedules, Fidelity fidelity);

}  // namespace fmsim
