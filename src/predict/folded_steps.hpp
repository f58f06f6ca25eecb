// The steps of a folded workload: see folded_steps.cpp.
#pragma once

#include <optional>

#include "fold.hpp"
#include "steps.hpp"

namespace fmsim {

struct FoldedSteps {
    MadeSteps made;
    LinkClasses links;
    Folding folding;
    std::vector<std::vector<std::uint32_t>> first_rank;  // of a job, of a class of ranks
};

// Nothing where the workload has to be run as it is: in `chunk` where anything but rings over alike domains leaves a
// domain. Throws InputError where it cannot end, as tasks_of does.
std::optional<FoldedSteps> folded_steps(const Topology& topology, const Workload& workload,
                                        const std::vector<Placement>& placements, Schedules& schedules,
                                        Fidelity fidelity);

}  // namespace fmsim
