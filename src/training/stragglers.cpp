// GPUs that are not equally fast, and what a step loses by them.
//
// Ranks of a tensor, context and expert group meet in every layer, so each group is as slow as its slowest GPU. Groups
// of one copy of the model meet through the pipeline, which is played with the speeds of its stages; copies meet once a
// step. Speeds are 1 / (1 + jitter |x|) with x of a normal distribution, one draw a GPU, the same for the same seed.
//
// By hand, one stage, one of 8 GPUs 1.2 times slower: the passes take 1.2 times as long.
//
// Cost: a play of the pipeline for each of the `kPlayed` copies whose slowest stage is the slowest.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "stage_costs.hpp"

namespace fmsim {
namespace {

constexpr std::size_t kPlayed = 8;

// The sum of twelve even draws, less 6: mean 0, deviation 1. Libraries differ in their distributions, and processors in
// logarithms.
double normal(std::mt19937_64& random) {
    constexpr double kScale = 1.0 / 9007199254740992.0;  // 2^-53
    double sum = -6;
    for (int draw = 0; draw < 12; ++draw) sum += static_cast<double>(random() >> 11U) * kScale;
    return sum;
}

std::vector<double> slowness(const TrainingPlan& plan) {
    std::mt19937_64 random(plan.stragglers.seed);
    std::vector<double> slower(plan.gpus, 1);
    for (double& one : slower) one += plan.stragglers.jitter * std::abs(normal(random));
    for (std::uint32_t i = 0; i < std::min(plan.stragglers.slow_gpus, plan.gpus); ++i) {
        std::size_t at = random() % plan.gpus;
        while (slower[at] < 0) at = (at + 1) % plan.gpus;  // one that is slow already
        slower[at] *= -plan.stragglers.slow_by;
    }
    for (double& one : slower) one = std::abs(one);
    return slower;
}

}  // namespace

double straggler_loss(const TrainingPlan& plan, const PipelineCosts& even, double seconds) {
    const std::vector<double> slower = slowness(plan);
    const std::uint32_t stage = plan.gpus / plan.pipeline;
    const std::uint32_t group = std::max(plan.tensor * plan.context, plan.experts * plan.expert_tensor);
    const std::uint32_t copies = stage / group;
    std::vector<std::vector<double>> factors(copies, std::vector<double>(plan.pipeline, 1));  // [copy][stage]
    for (std::uint32_t rank = 0; rank < plan.gpus; ++rank) {
        double& factor = factors[rank % stage / group][rank / stage];
        factor = std::max(factor, slower[rank]);
    }
    const auto worst = [](const std::vector<double>& copy) { return *std::max_element(copy.begin(), copy.end()); };
    std::stable_sort(factors.begin(), factors.end(), [&](const auto& a, const auto& b) { return worst(a) > worst(b); });
    double longest = seconds;
    for (std::size_t copy = 0; copy < std::min(kPlayed, factors.size()); ++copy) {
        PipelineCosts costs = even;
        for (std::size_t s = 0; s < costs.forward.size(); ++s)
            for (auto* const times : {&costs.forward, &costs.backward, &costs.weights})
                if (s < times->size())
                    for (double& one : (*times)[s]) one *= factors[copy][s];
        longest = std::max(longest, play(plan.schedule, costs).seconds);
    }
    return longest - seconds;
}

}  // namespace fmsim
