// Kernels of a layer -> seconds by part. A kernel beside others for minutes is slower than alone: the GPU draws all its
// power, and HBM has other work.
#include <algorithm>

#include "layer.hpp"

namespace fmsim {
namespace {

double attention_speed(const TrainingPlan& plan, const Trainer& trainer) {
    const std::string& name = plan.attention.empty() ? trainer.kernels.usual_attention : plan.attention;
    const auto found = trainer.constants.attention.find(trainer.kernels.name + "/" + name);
    return found == trainer.constants.attention.end() ? 1 : found->second;
}

double speed_of(const Work& work, const TrainingPlan& plan, const Trainer& trainer) {
    const TrainingConstants& constants = trainer.constants;
    switch (work.part) {
        case StepPart::products:
            return constants.products;
        case StepPart::experts:
            return constants.products * constants.grouped;
        case StepPart::attention:
            return attention_speed(plan, trainer);
        default:
            return plan.fused ? constants.streams : constants.streams / constants.unfused;
    }
}

}  // namespace

TimedWork timed(const Work& work, const TrainingPlan& plan, const Trainer& trainer) {
    const KernelTime time = time_of(work.kernel, trainer.gpu, trainer.kernels, {.in_graph = plan.graph});
    double speed = speed_of(work, plan, trainer);
    const auto power = trainer.constants.power.find(trainer.gpu.name);
    if (power != trainer.constants.power.end() && time.compute > time.memory) speed *= power->second;
    return {work.times * seconds(std::max(time.compute, time.memory)) / speed, work.times * seconds(time.launch), time};
}

double again(const Work& work, const Recompute& recompute) {
    if (recompute.all) return 1;
    switch (work.module) {
        case Module::norm:
            return recompute.norms || recompute.half_products ? 1 : 0;
        case Module::attention:
            return recompute.attention ? 1 : 0;
        case Module::activation:
            return recompute.activations || recompute.mlp || recompute.half_products ? 1 : 0;
        case Module::mlp:
            return recompute.mlp ? 1 : recompute.half_products ? 0.5 : 0;
        case Module::projection:
            return recompute.half_products ? 0.5 : 0;
        case Module::latent_up:
            return recompute.latent_up ? 1 : 0;
        case Module::experts:
            return recompute.experts ? 1 : 0;
        default:
            return recompute.half_products ? 1 : 0;
    }
}

double host_seconds(const TrainingPlan& plan, const LayerKind& kind, const TrainingConstants& constants) {
    const bool listed = plan.graph && (!kind.experts || plan.graph_experts);
    if (listed) return 0;
    // A dense layer launches eleven operators a pass. Latent attention adds six, an expert for all tokens three.
    constexpr double kOperators = 11, kLatent = 6, kShared = 3;
    double layer = 0, exchanges = 0;
    if (!plan.graph)
        layer = seconds(constants.layer_host) *
                (1 + (plan.model.latent ? kLatent / kOperators : 0) +
                 (kind.experts && plan.model.experts->shared_ffn > 0 ? kShared / kOperators : 0));
    if (plan.tensor > 1) exchanges += kind.experts ? 2 : 4;
    if (plan.context > 1) exchanges += plan.context;
    if (kind.experts && plan.experts > 1) exchanges += 2;
    if (kind.experts && plan.expert_tensor > 1) exchanges += 2;
    if (plan.sharding >= Sharding::zero2) exchanges += 1;
    if (kind.experts) {
        const auto own = static_cast<double>(plan.model.experts->experts / plan.experts);
        const bool low = fmsim::kind(plan.precision).bits <= 8;
        layer +=
            seconds(constants.experts_host) + own * seconds(low ? constants.expert_host_low : constants.expert_host);
    }
    return layer + exchanges * seconds(constants.exchange_host);
}

Parts cost_of(const Works& works, const TrainingPlan& plan, const Trainer& trainer) {
    Parts parts;
    for (const Work& work : works) {
        const TimedWork time = timed(work, plan, trainer);
        parts[work.part] += time.work;
        parts[StepPart::host] += time.launch;
    }
    return parts;
}

LayerCost layer_cost(const TrainingPlan& plan, const LayerKind& kind, const Trainer& trainer) {
    LayerCost cost;
    const Works forward = layer_forward(plan, kind, trainer.constants);
    cost.forward = cost_of(forward, plan, trainer);
    double repeated = 0;
    for (const Work& work : forward) {
        const TimedWork time = timed(work, plan, trainer);
        repeated += again(work, plan.recompute) * (time.work + time.launch);
        if (work.part == StepPart::attention) cost.attention += time.work;
    }
    const Works backward = layer_backward(plan, kind, trainer.constants);
    cost.backward = cost_of(backward, plan, trainer);
    cost.backward[StepPart::recompute] = repeated;
    for (const Work& work : backward)
        if (work.of_weights) cost.weights += timed(work, plan, trainer).work;
    return cost;
}

}  // namespace fmsim
