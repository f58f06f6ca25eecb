// What the end of a run waited for, back from the end: each activity flowed, was delayed before that, and began when
// the last of its predecessors ended. Parts meet without a gap, so they add up to the run to the femtosecond.
#include <algorithm>
#include <map>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

class PathWalk {
public:
    PathWalk(const Topology& topology, const RunSteps& made, const Rerun& run)
        : topology_(topology), made_(made), run_(run), before_(run.lowered.system.activities()) {
        const System& system = run.lowered.system;
        for (std::uint32_t i = 0; i < system.activities(); ++i)
            for (const auto& [after, lag] : system.successors.of(i))
                before_[after.value].push_back({ActivityId{i}, lag});
        for (const RateStep& step : run.timeline.rates) rates_[step.activity.value].push_back(step);
    }

    std::vector<CriticalPart> walk() {
        const Timeline& timeline = run_.timeline;
        std::optional<ActivityId> at;
        for (std::uint32_t i = 0; i < timeline.ended.size() && !at; ++i)
            if (timeline.ended[ActivityId{i}] == timeline.end) at = ActivityId{i};
        while (at) {
            add(*at);
            const std::optional<ActivityId> before = last_before(*at);
            if (before) add_tail(*before, timeline.started[*at]);
            at = before;
        }
        std::reverse(parts_.begin(), parts_.end());
        return std::move(parts_);
    }

private:
    struct Before {
        ActivityId activity;
        SimTime lag;
    };

    std::optional<ActivityId> last_before(ActivityId activity) const {
        for (const auto& [before, lag] : before_[activity.value])
            if (run_.timeline.ended[before] + lag == run_.timeline.started[activity]) return before;
        return {};
    }

    void add(ActivityId activity) {
        const Timeline& timeline = run_.timeline;
        const std::uint32_t step = run_.lowered.origin[activity].step;
        if (timeline.ended[activity] > timeline.flowing[activity]) {
            const auto& rates = rates_.at(activity.value);
            SimTime to = timeline.ended[activity];
            for (std::size_t k = rates.size(); k-- > 0;) {
                if (rates[k].from >= to) continue;
                const SimTime from = std::max(rates[k].from, timeline.flowing[activity]);
                add_flow(activity, from, to, rates[k].share.held_by);
                to = from;
            }
        }
        if (timeline.flowing[activity] > timeline.started[activity])
            parts_.push_back({.from = timeline.started[activity],
                              .to = timeline.flowing[activity],
                              .step = step,
                              .causes = run_.causes.delay[activity.value],
                              .late_rank = {},
                              .waited = {}});
        if (activity == run_.lowered.steps[step].launch && !parts_.empty() && parts_.back().step == step)
            set_late(step);
    }
    // What follows its last byte.
    void add_tail(ActivityId activity, SimTime until) {
        if (run_.lowered.pace[activity].tail.fs == 0) return;
        parts_.push_back({.from = run_.timeline.ended[activity],
                          .to = until,
                          .step = run_.lowered.origin[activity].step,
                          .causes = run_.causes.tail[activity.value],
                          .late_rank = {},
                          .waited = {}});
    }
    // At its own pace: as much of the time as its busiest stage works, then the rest of the pace.
    void add_flow(ActivityId activity, SimTime from, SimTime to, ResourceId held) {
        const std::uint32_t step = run_.lowered.origin[activity].step;
        const Pace& pace = run_.lowered.pace[activity];
        if (held != kOwnLimit || pace.alone.fs == 0) return add_flow(step, from, to, held);
        const double working = seconds(pace.working) / seconds(pace.alone);
        const SimTime until = std::min(to, from + from_seconds(seconds(to - from) * working));
        if (until < to) {
            parts_.push_back({.from = until, .to = to, .step = step, .causes = {}, .late_rank = {}, .waited = {}});
            parts_.back().causes.add(run_.causes.pace[activity.value], seconds(to - from) / seconds(pace.alone));
        }
        if (from == until) return;
        add_flow(step, from, until, pace.held_by);
        if (until < to) parts_[parts_.size() - 2].causes.add(parts_.back().causes, -1);
    }
    void add_flow(std::uint32_t step, SimTime from, SimTime to, ResourceId held) {
        const auto& stands_for = run_.lowered.stands_for;
        CriticalPart part{.from = from,
                          .to = to,
                          .step = step,
                          .flows = true,
                          .held_by = held,
                          .causes = {},
                          .late_rank = {},
                          .waited = {}};
        if (held != kOwnLimit && !stands_for.empty()) part.held_by = stands_for[held.value];
        part.causes[held == kOwnLimit ? Cause::channels : cause_of(topology_, part.held_by)] = seconds(to - from);
        parts_.push_back(part);
    }

    // Each rank comes when all that it was in is over.
    void set_late(std::uint32_t s) {
        const auto& ranks = made_.ranks[s];
        if (ranks.size() < 2 || made_.steps[s].schedule == nullptr) return;
        std::map<std::uint32_t, SimTime> arrival;
        for (const std::uint32_t rank : ranks) arrival[rank] = made_.steps[s].not_before;
        for (const std::uint32_t before : made_.steps[s].after) {
            const SimTime ended = run_.timeline.ended[run_.lowered.steps[before].done];
            for (const std::uint32_t rank : made_.ranks[before])
                if (const auto found = arrival.find(rank); found != arrival.end())
                    found->second = std::max(found->second, ended);
        }
        SimTime first = SimTime::max(), last;
        for (const auto& [rank, came] : arrival) {
            first = std::min(first, came);
            last = std::max(last, came);
        }
        if (!(first < last)) return;
        for (const auto& [rank, came] : arrival)
            if (came == last && !parts_.back().late_rank) parts_.back().late_rank = rank;
        parts_.back().waited = last - first;
    }

    const Topology& topology_;
    const RunSteps& made_;
    const Rerun& run_;
    std::vector<std::vector<Before>> before_;
    std::map<std::uint32_t, std::vector<RateStep>> rates_;  // of an activity
    std::vector<CriticalPart> parts_;                       // from the end
};

}  // namespace

std::vector<CriticalPart> critical_path(const Topology& topology, const RunSteps& made, const Rerun& run) {
    return PathWalk(topology, made, run).walk();
}

}  // namespace fmsim
