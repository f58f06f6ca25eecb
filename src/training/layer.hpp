// The kernels of a layer on one GPU, and of what stands before the first and after the last.
#pragma once

#include <vector>

#include "fmsim/training.hpp"

namespace fmsim {

// What can be computed again for the backward pass.
enum class Module : std::uint8_t { norm, projection, latent_up, attention, mlp, activation, experts, other };

struct Work {
    StepPart part{};
    Module module{};
    Kernel kernel;
    double times = 1;
    bool of_weights = false;  // a gradient of weights: nobody waits for it in this pass
};
using Works = std::vector<Work>;

struct LayerKind {
    bool experts{};
    bool windowed{};
    auto operator<=>(const LayerKind&) const = default;
};
LayerKind kind_of(const TransformerModel& model, std::int64_t layer);

// A micro-batch's tokens on a GPU, and of those the part that it alone works on where the sequence is split.
std::int64_t tokens_of(const TrainingPlan& plan);
std::int64_t own_tokens(const TrainingPlan& plan);
// Pairs of token and expert that the experts of a GPU work on, were all equally busy.
std::int64_t expert_slots(const TrainingPlan& plan);

Works layer_forward(const TrainingPlan& plan, const LayerKind& kind, const TrainingConstants& constants);
Works layer_backward(const TrainingPlan& plan, const LayerKind& kind, const TrainingConstants& constants);
Works embedding_work(const TrainingPlan& plan, Pass pass);
// The last norm, the output projection and the loss.
Works loss_work(const TrainingPlan& plan, Pass pass, const TrainingConstants& constants);

// Of a layer's kernels: what part each takes, and the host where it is the slower one.
struct LayerCost {
    Parts forward;
    Parts backward;
    double weights{};    // of backward: gradients of weights
    double attention{};  // of forward: what a ring of keys and values can hide behind
};
// The host's time of a pass through a layer, where hosts are not slower.
double host_seconds(const TrainingPlan& plan, const LayerKind& kind, const TrainingConstants& constants);
LayerCost layer_cost(const TrainingPlan& plan, const LayerKind& kind, const Trainer& trainer);
// A kernel in a step, `times` of it together.
struct TimedWork {
    double work{};
    double launch{};
    KernelTime alone;  // of one
};
TimedWork timed(const Work& work, const TrainingPlan& plan, const Trainer& trainer);
// How much of a kernel runs again before the backward pass.
double again(const Work& work, const Recompute& recompute);
Parts cost_of(const Works& works, const TrainingPlan& plan, const Trainer& trainer);

}  // namespace fmsim
