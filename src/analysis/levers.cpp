// What more of something would bring, and for how long it goes on bringing it.
//
// The end of a run is piecewise linear in each cost. From the slope at the run as it is, the way is followed by runs at
// lower costs until they save a part in a thousand less than the slope says: there something else begins to count.
#include "levers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fmsim {
namespace {

constexpr double kCheapest = 1.0 / 64;  // as far as is looked
constexpr double kHolds = 0.999;        // of what the slope says
constexpr double kSide = 1e-3;          // of the cost, to each side of a kink
constexpr int kRounds = 12;             // of halving: to a thousandth of the way

class Follow {
public:
    explicit Follow(const CostedRun& run) : run_(run) {}

    void follow(Lever& lever) const {
        if (lever.kink) {
            lever.dearer = (run_.end_at(lever.cause, 1 + kSide) - run_.now) / kSide;
            lever.cheaper = (run_.now - run_.end_at(lever.cause, 1 - kSide)) / kSide;
            lever.slope = (lever.dearer + lever.cheaper) / 2;
        }
        const double slope = lever.kink ? lever.cheaper : lever.slope;
        if (slope < run_.matters * run_.now) return;
        double holds = 1, fails = kCheapest;
        if (saves(lever.cause, slope, kCheapest)) {
            lever.room = std::numeric_limits<double>::infinity();
            lever.end_there = from_seconds(run_.end_at(lever.cause, kCheapest));
            return;
        }
        for (int round = 0; round < kRounds; ++round) {
            const double middle = std::sqrt(holds * fails);
            (saves(lever.cause, slope, middle) ? holds : fails) = middle;
        }
        lever.room = 1 / holds;
        lever.end_there = from_seconds(run_.end_at(lever.cause, holds));
        lever.then = next(lever.cause, fails * 0.97);
    }

private:
    bool saves(Cause cause, double slope, double factor) const {
        return run_.now - run_.end_at(cause, factor) >= kHolds * slope * (1 - factor);
    }
    // Whose slope has grown most.
    std::optional<Cause> next(Cause cause, double factor) const {
        const CauseSeconds there = run_.slopes_there(cause, factor);
        std::optional<Cause> most;
        double grown = run_.matters * run_.now;
        for (std::size_t i = 0; i < kCauses; ++i)
            if (static_cast<Cause>(i) != cause && there.seconds[i] - run_.slopes.seconds[i] > grown) {
                grown = there.seconds[i] - run_.slopes.seconds[i];
                most = static_cast<Cause>(i);
            }
        return most;
    }

    const CostedRun& run_;
};

}  // namespace

CauseSeconds amounts_of(const Topology& topology, const RunSteps& made, const Rerun& run) {
    CauseSeconds all;
    const System& system = run.lowered.system;
    const auto& stands_for = run.lowered.stands_for;
    for (std::uint32_t i = 0; i < system.activities(); ++i) {
        for (std::size_t c = static_cast<std::size_t>(Cause::channels); c < kCauses; ++c)
            all.seconds[c] += std::abs(run.causes.delay[i].seconds[c]) + std::abs(run.causes.pace[i].seconds[c]) +
                              std::abs(run.causes.tail[i].seconds[c]);
        const double limit = system.rate_limit[ActivityId{i}];
        if (std::isfinite(limit) && limit > 0 && run.lowered.pace[ActivityId{i}].alone.fs == 0)
            all[Cause::channels] += system.work[ActivityId{i}] / limit;
        for (const auto& [resource, weight] : system.uses.of(i)) {
            const ResourceId shown = stands_for.empty() ? resource : stands_for[resource.value];
            const double members = members_of(topology, made, shown);
            all[cause_of(topology, shown)] += weight * run.lowered.moves(ActivityId{i}) * members;
        }
    }
    return all;
}

std::vector<Lever> levers_of(const CostedRun& run) {
    const Follow follow(run);
    std::vector<Lever> all;
    for (std::size_t i = 0; i < kCauses; ++i) {
        const auto cause = static_cast<Cause>(i);
        if (cause == Cause::fixed) continue;
        Lever lever{.cause = cause,
                    .slope = run.slopes[cause],
                    .kink = run.slopes.kink(cause),
                    .end_there = from_seconds(run.now),
                    .then = {},
                    .amount = run.amounts[cause]};
        lever.dearer = lever.cheaper = lever.slope;
        lever.no_effect = !lever.kink && std::abs(lever.slope) <= 1e-9 * run.now;
        if (!lever.no_effect) follow.follow(lever);
        all.push_back(lever);
    }
    std::stable_sort(all.begin(), all.end(), [](const Lever& a, const Lever& b) { return a.cheaper > b.cheaper; });
    return all;
}

std::vector<Lever> levers(const Topology& topology, const RunSteps& made, const Rerun& run,
                          const CauseSeconds& slopes_here) {
    const auto at = [](Cause cause, double factor) {
        CostFactors factors;
        factors[cause] = factor;
        return factors;
    };
    return levers_of(
        {.now = seconds(run.timeline.end),
         .end_at = [&](Cause cause, double f) { return seconds(again(topology, made, at(cause, f)).timeline.end); },
         .slopes_there = [&](Cause cause,
                             double f) { return slopes(topology, again(topology, made, at(cause, f), Record::rates)); },
         .slopes = slopes_here,
         .amounts = amounts_of(topology, made, run)});
}

}  // namespace fmsim
