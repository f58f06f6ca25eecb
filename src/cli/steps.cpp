#include "steps.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "fmsim/base.hpp"
#include "side_by_side.hpp"

namespace fmsim::cli {
namespace {

// Steps of one cluster, by their place.
using Places = std::vector<std::size_t>;

ComparedStep without(MeasuredStep step, std::string why) {
    step.plans.clear();
    step.why = std::move(why);
    return {.measured = step, .predicted = 0, .why = step.why, .plan = {}, .step = {}};
}

void compare_places(const Places& places, const std::vector<MeasuredStep>& steps, const Catalogue& catalogue,
                    std::vector<ComparedStep>& rows) {
    const MeasuredStep& first = steps[places.front()];
    std::string why;
    try {
        const Cluster cluster = catalogue.cluster(first.cluster);
        const Gpu gpu = cluster.blocks.front().type.instance.gpu;
        const Trainer trainer{gpu, catalogue.kernels(gpu), catalogue.training()};
        Exchanges exchanges(cluster, first.per_domain, catalogue.nccl());
        for (const std::size_t place : places) rows[place] = compare(steps[place], trainer, exchanges);
        return;
    } catch (const InputError& error) {
        why = to_text(error.problems.front());
    } catch (const Infeasible& error) {
        why = error.what();
    }
    for (const std::size_t place : places) rows[place] = without(steps[place], why);
}

}  // namespace

std::vector<ComparedStep> compare_all(const std::vector<MeasuredStep>& steps, const Catalogue& catalogue) {
    std::vector<ComparedStep> rows(steps.size());
    std::map<std::pair<std::string, std::uint32_t>, Places> by_cluster;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].why.empty())
            by_cluster[{steps[i].cluster, steps[i].per_domain}].push_back(i);
        else
            rows[i] = without(steps[i], steps[i].why);
    }
    std::vector<Places> groups;
    for (auto& [cluster, places] : by_cluster) groups.push_back(std::move(places));
    side_by_side(groups.size(), [&](std::size_t i) { compare_places(groups[i], steps, catalogue, rows); });
    add_baselines(rows);
    return rows;
}

}  // namespace fmsim::cli
