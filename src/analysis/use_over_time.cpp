// How busy links were, span by span: what the engine recorded of each resource, cut at the spans' ends.
#include <algorithm>
#include <map>

#include "fmsim/analysis.hpp"

namespace fmsim {

std::vector<UseOverTime> use_over_time(const Topology& topology, const RunSteps& made, const Rerun& run,
                                       std::size_t spans) {
    const System& system = run.lowered.system;
    const auto& stands_for = run.lowered.stands_for;
    const double end = seconds(run.timeline.end);
    std::map<ResourceId, std::vector<double>> busy;  // of a resource, in each span: seconds
    std::map<ResourceId, UseStep> now;
    const auto add = [&](const UseStep& step, SimTime to) {
        if (step.used <= 0 || end <= 0) return;
        auto& its = busy.try_emplace(step.resource, std::vector<double>(spans)).first->second;
        const double share = step.used / system.capacity[step.resource];
        const double from = seconds(step.from), until = seconds(to), width = end / static_cast<double>(spans);
        const auto first = std::min(spans - 1, static_cast<std::size_t>(from / width));
        for (std::size_t s = first; s < spans; ++s) {
            const double begins = width * static_cast<double>(s);
            if (begins >= until) break;
            its[s] += share * std::max(0.0, std::min(until, begins + width) - std::max(from, begins));
        }
    };
    for (const UseStep& step : run.timeline.use) {
        const auto [found, fresh] = now.try_emplace(step.resource, step);
        if (fresh) continue;
        add(found->second, step.from);
        found->second = step;
    }
    for (const auto& [resource, step] : now) add(step, run.timeline.end);

    std::map<LinkKind, UseOverTime> of_kind;
    std::map<LinkKind, double> links;
    for (const auto& [resource, its] : busy) {
        const ResourceId shown = stands_for.empty() ? resource : stands_for[resource.value];
        if (shown.value >= topology.links.size()) continue;
        const LinkKind kind = topology.links[LinkId{shown.value}].kind;
        UseOverTime& use = of_kind
                               .try_emplace(kind, UseOverTime{std::string(kind_name(topology, kind)),
                                                              std::vector<double>(spans), std::vector<double>(spans)})
                               .first->second;
        const double members = members_of(topology, made, shown);
        links[kind] += members;
        for (std::size_t s = 0; s < spans; ++s) {
            const double part = its[s] / end * static_cast<double>(spans);
            use.mean[s] += members * part;
            use.busiest[s] = std::max(use.busiest[s], part);
        }
    }
    std::vector<UseOverTime> all;
    for (auto& [kind, use] : of_kind) {
        for (double& part : use.mean) part /= links[kind];
        all.push_back(std::move(use));
    }
    return all;
}

}  // namespace fmsim
