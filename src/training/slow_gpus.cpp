#include "slow_gpus.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace fmsim {
namespace {

constexpr std::array kComputing{StepPart::products, StepPart::attention, StepPart::experts, StepPart::streams,
                                StepPart::recompute};

// The rank on a GPU, counted through the cluster; none where the job leaves it out.
std::optional<std::uint32_t> rank_of(const Cluster& cluster, std::uint32_t per_domain, const Fault& fault) {
    std::uint32_t instance = 0, domain = 0;
    for (const DomainBlock& block : cluster.blocks) {
        const std::uint32_t each = block.type.instances;
        if (fault.instance < instance + block.count * each) {
            const std::uint32_t its = fault.instance - instance;
            const std::uint32_t gpu = its % each * block.type.instance.gpus + fault.index;
            if (gpu >= per_domain) return {};
            return (domain + its / each) * per_domain + gpu;
        }
        instance += block.count * each;
        domain += block.count;
    }
    return {};
}

}  // namespace

std::vector<double> stage_speeds(const TrainingPlan& plan, const Exchanges& exchanges) {
    std::vector<double> speeds(plan.pipeline, 1);
    std::map<std::uint32_t, double> of_rank;
    for (const Fault& fault : exchanges.cluster().faults)
        if (fault.kind == DeviceKind::gpu)
            if (const auto rank = rank_of(exchanges.cluster(), exchanges.domain_gpus(), fault))
                of_rank.try_emplace(*rank, 1).first->second *= fault.fraction;
    const std::uint32_t stage_ranks = families_of(plan).stage;
    for (const auto& [rank, speed] : of_rank) {
        const std::uint32_t stage = rank / stage_ranks;
        if (stage >= plan.pipeline) continue;
        if (!(speed > 0)) throw Infeasible(fmt::format("GPU {} of the plan is down", rank));
        speeds[stage] = std::min(speeds[stage], speed);
    }
    return speeds;
}

void slow_down(ChunkCosts& costs, const std::vector<double>& speeds) {
    for (std::size_t stage = 0; stage < speeds.size(); ++stage) {
        if (speeds[stage] == 1) continue;
        for (auto* const passes : {&costs.forward, &costs.backward})
            for (Parts& parts : (*passes)[stage])
                for (const StepPart part : kComputing) parts[part] /= speeds[stage];
        if (stage < costs.weights.size())
            for (double& weights : costs.weights[stage]) weights /= speeds[stage];
    }
}

}  // namespace fmsim
