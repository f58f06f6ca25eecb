// A run made once and run again at other costs.
#include "fmsim/predict.hpp"

namespace fmsim {

Rerun again(const Topology& topology, const RunSteps& made, const CostFactors& factors, Record record) {
    const Topology dearer = at_cost(topology, factors);
    const LinkClasses* const classes = made.classes ? &*made.classes : nullptr;
    Rerun rerun{.lowered = classes != nullptr ? lower_folded(dearer, made.steps, *classes, Fidelity::stream)
                                              : lower(dearer, made.steps, Fidelity::stream),
                .timeline = {},
                .causes = {}};
    set_starts(rerun.lowered, made.steps, factors);
    rerun.timeline = run(rerun.lowered.system, record);
    if (record == Record::rates) rerun.causes = causes_of(dearer, made.steps, rerun.lowered, classes, factors);
    return rerun;
}

}  // namespace fmsim
