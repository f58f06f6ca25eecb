// How the end of a run grows with each cost: the timeline once more, each instant with its gradient.
//
// Of an activity that starts at F, flows at rates r0, r1, .. from t0 = F, t1, .. and ends at E when its work is done,
//
//   sum r_k (t_k+1 - t_k) = work
//   so   r_last dE = dwork + r0 dF + sum (r_k - r_k-1) dt_k - sum dr_k (t_k+1 - t_k)
//
// where t_k is when something else in its component starts or ends. A rate is held by a resource R that is full:
// r = share x level, level = (capacity - what takers held elsewhere use) / (weights of those held here), which is
// differentiated from the lowest level up; or by its own limit, the SMs. A start is the last of the ends it waits for.
//
//   A ==2== B --1-- C   f0 on AB, f1 on AB and BC, f2 on BC, one byte each: f1 = f2 = 1/2 end at 2, held by BC. BC
//   twice as fast: they end at 1. d end / d ln(1 / capacity of BC) = 2 s, of AB 0.
//
// Kinks: two ends that a start waits for, two resources full at one level, two changes of one component at one instant
// (or nearer than kNear of the run) whose gradients differ. Source: infinitesimal perturbation analysis (Glasserman,
// Gradient Estimation via Perturbation Analysis, 1991) on the engine's max-min rates. Cost: that of the run, times
// kCauses.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

constexpr double kNear = 3e-5;  // of the run: times nearer than this are one
constexpr double kFull = 1e-7;  // of a capacity

std::uint32_t differing(const CauseSeconds& a, const CauseSeconds& b, double scale) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kCauses; ++i) {
        const double x = a.seconds[i], y = b.seconds[i];
        if (std::abs(x - y) > 1e-3 * std::max(std::abs(x), std::abs(y)) + 1e-6 * scale) bits |= 1u << i;
    }
    return bits;
}

class SlopeRun {
public:
    SlopeRun(const Topology& topology, const Rerun& run)
        : system_(run.lowered.system),
          timeline_(run.timeline),
          delays_(run.causes.delay),
          paces_(run.causes.pace),
          tails_(run.causes.tail),
          more_(run.causes.more),
          end_(seconds(run.timeline.end)),
          near_(static_cast<std::int64_t>(kNear * static_cast<double>(run.timeline.end.fs))) {
        const std::size_t activities = system_.activities();
        const auto& stands_for = run.lowered.stands_for;
        for (std::uint32_t r = 0; r < system_.resources(); ++r)
            cause_.push_back(cause_of(topology, stands_for.empty() ? ResourceId{r} : stands_for[r]));
        missing_ = system_.predecessors.rows;
        before_.resize(activities);
        start_.resize(activities);
        end_of_.resize(activities);
        flow_.resize(activities);
        takers_.resize(system_.resources());
        activity_seen_.resize(activities);
        resource_seen_.resize(system_.resources());
    }

    CauseSeconds run() {
        for (std::uint32_t i = 0; i < system_.activities(); ++i)
            if (missing_[i] == 0) begin(i);
        while (!events_.empty()) instant();
        CauseSeconds slope;
        bool any = false;
        for (std::uint32_t i = 0; i < system_.activities() && !any; ++i)
            if (timeline_.ended[ActivityId{i}] == timeline_.end && is_last(i)) {
                slope = end_of_[i];
                any = true;
            }
        for (std::uint32_t i = 0; i < system_.activities(); ++i)
            if (timeline_.end.fs - timeline_.ended[ActivityId{i}].fs <= near_ && is_last(i))
                slope.kinks |= differing(slope, end_of_[i], end_) | end_of_[i].kinks;
        return slope;
    }

private:
    struct Flow {
        bool flows{};
        double rate{};
        ResourceId held_by = kOwnLimit;
        CauseSeconds d_rate;
        CauseSeconds sum;      // r_last dE so far
        CauseSeconds changed;  // dt of the last change of rate
        SimTime since;
    };
    struct Event {
        SimTime when;
        bool ends{};  // else it begins to flow
        std::uint32_t activity{};
        auto operator<=>(const Event&) const = default;
    };

    bool is_last(std::uint32_t activity) const { return system_.successors.of(activity).empty(); }

    // Of its end and the lag after it.
    CauseSeconds arrival_of(std::uint32_t i) const {
        CauseSeconds slope = end_of_[i];
        return slope.add(tails_[i]);
    }

    // All that it waits for has ended.
    void begin(std::uint32_t i) {
        SimTime last;
        for (const auto& [p, lag] : before_[i]) last = std::max(last, timeline_.ended[ActivityId{p}] + lag);
        CauseSeconds slope;
        bool any = false;
        for (const auto& [p, lag] : before_[i])
            if (!any && timeline_.ended[ActivityId{p}] + lag == last) {
                slope = arrival_of(p);
                any = true;
            }
        std::uint32_t kinks = 0;
        for (const auto& [p, lag] : before_[i])
            if ((last - (timeline_.ended[ActivityId{p}] + lag)).fs <= near_) {
                const CauseSeconds arrival = arrival_of(p);
                kinks |= differing(slope, arrival, end_) | arrival.kinks;
            }
        slope.kinks |= kinks;
        slope.add(delays_[i]);
        start_[i] = slope;
        events_.insert({timeline_.flowing[ActivityId{i}], false, i});
    }

    void finish(std::uint32_t i) {
        for (const auto& [after, lag] : system_.successors.of(i)) {
            before_[after.value].push_back({i, lag});
            if (--missing_[after.value] == 0) begin(after.value);
        }
    }

    // All of one time: ends, and what begins with them; then the new rates.
    void instant() {
        now_ = events_.begin()->when;
        changed_.clear();
        while (!events_.empty() && events_.begin()->when == now_) {
            std::vector<std::uint32_t> ended;
            while (!events_.empty() && events_.begin()->when == now_) {
                const Event event = *events_.begin();
                events_.erase(events_.begin());
                if (!event.ends)
                    flow_start(event.activity);
                else
                    ended.push_back(event.activity);
            }
            end_flows(ended);
        }
        take_rates();
        reshare();
    }

    void flow_start(std::uint32_t i) {
        if (system_.work[ActivityId{i}] == 0) {
            end_of_[i] = start_[i];
            finish(i);
            return;
        }
        Flow& flow = flow_[i];
        flow = {};
        flow.flows = true;
        flow.since = now_;
        flow.changed = start_[i];
        for (const Use& use : system_.uses.of(i)) takers_[use.resource.value].push_back({i, use.weight});
        changed_.push_back({i, start_[i]});
        events_.insert({timeline_.ended[ActivityId{i}], true, i});
    }

    void end_flows(const std::vector<std::uint32_t>& ended) {
        for (const std::uint32_t i : ended) {
            Flow& flow = flow_[i];
            CauseSeconds slope = flow.sum;
            slope.add(flow.d_rate, -seconds(now_ - flow.since));
            for (double& one : slope.seconds) one /= flow.rate;
            if ((now_ - flow.since).fs <= near_) slope.kinks |= differing(slope, flow.changed, end_);
            end_of_[i] = slope;
        }
        mark_ties(ended);
        for (const std::uint32_t i : ended) {
            flow_[i].flows = false;
            for (const Use& use : system_.uses.of(i)) {
                auto& takers = takers_[use.resource.value];
                takers.erase(
                    std::find_if(takers.begin(), takers.end(), [&](const Taker& t) { return t.activity == i; }));
            }
            changed_.push_back({i, end_of_[i]});
        }
        for (const std::uint32_t i : ended) finish(i);
    }

    // Ends at one instant in one component: which comes first would matter to the other.
    void mark_ties(const std::vector<std::uint32_t>& ended) {
        if (ended.size() < 2) return;
        ++walk_;
        for (const std::uint32_t i : ended) {
            if (activity_seen_[i] == walk_) continue;
            gather(i);
            std::uint32_t bits = 0;
            std::vector<std::uint32_t> tied;
            for (const std::uint32_t other : ended)
                if (activity_seen_[other] == walk_ && std::binary_search(component_.begin(), component_.end(), other)) {
                    bits |= differing(end_of_[i], end_of_[other], end_);
                    tied.push_back(other);
                }
            for (const std::uint32_t other : tied) end_of_[other].kinks |= bits;
        }
    }

    void take_rates() {
        while (next_rate_ < timeline_.rates.size() && timeline_.rates[next_rate_].from <= now_) {
            const RateStep& step = timeline_.rates[next_rate_++];
            next_share_[step.activity.value] = step.share;
        }
    }

    // The flowing activities that share resources with this one, directly or through others; in order.
    void gather(std::uint32_t seed) {
        component_.assign(1, seed);
        resources_.clear();
        activity_seen_[seed] = walk_;
        for (std::size_t next = 0; next < component_.size(); ++next)
            for (const Use& use : system_.uses.of(component_[next])) {
                if (resource_seen_[use.resource.value] == walk_) continue;
                resource_seen_[use.resource.value] = walk_;
                resources_.push_back(use.resource.value);
                for (const Taker& taker : takers_[use.resource.value])
                    if (activity_seen_[taker.activity] != walk_) {
                        activity_seen_[taker.activity] = walk_;
                        component_.push_back(taker.activity);
                    }
            }
        std::sort(component_.begin(), component_.end());
        std::sort(resources_.begin(), resources_.end());
    }

    void reshare() {
        if (changed_.empty()) return;
        ++walk_;
        for (std::size_t c = 0; c < changed_.size(); ++c) {
            const std::uint32_t seed = changed_[c].first;
            if (activity_seen_[seed] == walk_) continue;
            gather(seed);
            std::erase_if(component_, [&](std::uint32_t i) { return !flow_[i].flows; });
            // What changed here: what has joined, and what has left, which used one of these resources.
            CauseSeconds when;
            bool any = false;
            std::uint32_t kinks = 0;
            for (const auto& [other, slope] : changed_) {
                const auto uses = system_.uses.of(other);
                const bool here =
                    other == seed || std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
                        return std::binary_search(resources_.begin(), resources_.end(), use.resource.value);
                    });
                if (!here) continue;
                activity_seen_[other] = walk_;
                if (!any) when = slope;
                any = true;
                kinks |= differing(when, slope, end_) | slope.kinks;
            }
            when.kinks |= kinks;
            new_rates(when);
        }
    }

    void new_rates(const CauseSeconds& when) {
        for (const std::uint32_t i : component_)
            if (const auto found = next_share_.find(i); found != next_share_.end()) {
                new_share_[i] = found->second;
                next_share_.erase(found);
            }
        for (const std::uint32_t i : component_) {
            Flow& flow = flow_[i];
            flow.sum.add(flow.d_rate, -seconds(now_ - flow.since));
            const double before = flow.rate;
            if (const auto found = new_share_.find(i); found != new_share_.end()) {
                flow.rate = found->second.rate;
                flow.held_by = found->second.held_by;
            }
            const bool joins = before == 0 && flow.since == now_;
            if (joins) {
                flow.sum.add(start_[i], flow.rate);
                flow.sum.add(more_[i], system_.work[ActivityId{i}]);
            } else if (flow.rate != before) {
                flow.sum.add(when, flow.rate - before);
                if ((now_ - flow.since).fs <= near_) flow.sum.kinks |= differing(when, flow.changed, end_);
            }
            flow.changed = joins ? start_[i] : when;
            flow.since = now_;
        }
        new_share_.clear();
        differentiate_rates();
    }

    double level(std::uint32_t i) const { return flow_[i].rate / system_.share[ActivityId{i}]; }

    // d rate of all of the component, from the lowest level up.
    void differentiate_rates() {
        struct Group {
            double level;
            std::uint32_t resource;  // kOwnLimit's value: each by itself
            std::vector<std::uint32_t> held;
        };
        std::map<std::uint32_t, Group> of_resource;
        std::vector<Group> groups;
        for (const std::uint32_t i : component_) {
            const std::uint32_t held = flow_[i].held_by.value;
            if (held == kOwnLimit.value) {
                groups.push_back({level(i), held, {i}});
                continue;
            }
            Group& group = of_resource.try_emplace(held, Group{level(i), held, {}}).first->second;
            group.held.push_back(i);
        }
        for (auto& [resource, group] : of_resource) groups.push_back(std::move(group));
        std::stable_sort(groups.begin(), groups.end(),
                         [](const Group& a, const Group& b) { return a.level < b.level; });
        ++known_walk_;
        known_.resize(system_.activities());
        for (const Group& group : groups) {
            CauseSeconds d_level;
            if (group.resource == kOwnLimit.value) {
                const std::uint32_t i = group.held.front();
                d_level = of_own_limit(i, level(i));
                tie(i, kOwnLimit.value, group.level, d_level);
            } else {
                d_level = of_full(group.resource, group.level);
                for (const std::uint32_t i : group.held) tie(i, group.resource, group.level, d_level);
            }
            for (const std::uint32_t i : group.held) {
                flow_[i].d_rate = {};
                flow_[i].d_rate.add(d_level, system_.share[ActivityId{i}]);
                flow_[i].d_rate.kinks = d_level.kinks;
                known_[i] = known_walk_;
            }
        }
    }

    // d level of an activity's own limit: the pace of its channel, or the SMs.
    CauseSeconds of_own_limit(std::uint32_t i, double at) const {
        CauseSeconds slope;
        const double alone = paces_[i].all();
        if (alone > 0)
            slope.add(paces_[i], -at / alone).add(more_[i], at);
        else
            slope[Cause::channels] = -at;
        return slope;
    }

    // d level of a full resource, were all that flow on it at its level held by it.
    CauseSeconds of_full(std::uint32_t resource, double at) const {
        CauseSeconds slope;
        slope[cause_[resource]] = -system_.capacity[ResourceId{resource}];
        double demand = 0;
        for (const Taker& taker : takers_[resource]) {
            const bool below = known_[taker.activity] == known_walk_ && level(taker.activity) < at * (1 - 1e-9);
            if (below)
                slope.add(flow_[taker.activity].d_rate, -taker.weight);
            else
                demand += taker.weight * system_.share[ActivityId{taker.activity}];
        }
        for (double& one : slope.seconds) one /= demand;
        return slope;
    }

    // Others that would hold it at the same level.
    void tie(std::uint32_t i, std::uint32_t held, double at, CauseSeconds& d_level) const {
        for (const Use& use : system_.uses.of(i)) {
            const std::uint32_t resource = use.resource.value;
            if (resource == held) continue;
            double used = 0, above = 0;
            for (const Taker& taker : takers_[resource]) {
                used += taker.weight * flow_[taker.activity].rate;
                if (level(taker.activity) > at * (1 + 1e-6)) above += 1;
            }
            // With takers above its level it is full at that level, not here.
            if (above > 0 || used < system_.capacity[use.resource] * (1 - kFull)) continue;
            const CauseSeconds other = of_full(resource, at);
            d_level.kinks |= differing(d_level, other, at) | other.kinks;
        }
        const double limit = system_.rate_limit[ActivityId{i}];
        if (held == kOwnLimit.value || flow_[i].rate < limit * (1 - kFull)) return;
        d_level.kinks |= differing(d_level, of_own_limit(i, at), at);
    }

    struct Taker {
        std::uint32_t activity{};
        double weight{};
    };
    struct Before {
        std::uint32_t activity{};
        SimTime lag;
    };

    const System& system_;
    const Timeline& timeline_;
    const std::vector<CauseSeconds>& delays_;
    const std::vector<CauseSeconds>&paces_, &tails_, &more_;
    const double end_;
    const std::int64_t near_;
    SimTime now_;
    std::vector<Cause> cause_;  // of a resource
    std::vector<std::uint32_t> missing_;
    std::vector<std::vector<Before>> before_;
    std::vector<CauseSeconds> start_, end_of_;  // of flowing and of ending
    std::vector<Flow> flow_;
    std::vector<std::vector<Taker>> takers_;
    std::set<Event> events_;
    std::vector<std::pair<std::uint32_t, CauseSeconds>> changed_;
    std::size_t next_rate_ = 0;
    std::map<std::uint32_t, Share> next_share_, new_share_;
    std::vector<std::uint32_t> component_, resources_;
    std::vector<std::uint32_t> activity_seen_, resource_seen_, known_;
    std::uint32_t walk_ = 0, known_walk_ = 0;
};

}  // namespace

CauseSeconds slopes(const Topology& topology, const Rerun& run) { return SlopeRun(topology, run).run(); }

}  // namespace fmsim
