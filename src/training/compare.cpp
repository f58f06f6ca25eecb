// Predicted beside measured steps: errors, a plain baseline, and pairs that differ in one thing.
//
// The baseline knows the FLOPs of a model and nothing of plans: the median MFU of the other rows of the same GPU,
// precision and kind (dense or with experts).
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "fmsim/training.hpp"

namespace fmsim {
namespace {

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool fits(const TrainingPlan& plan, const Trainer& trainer) {
    for (const MemoryParts& stage : memory_of(plan, trainer.constants))
        if (stage.all() > static_cast<double>(trainer.gpu.memory.count)) return false;
    return true;
}

double need(const TrainingPlan& plan, const Trainer& trainer) {
    double most = 0;
    for (const MemoryParts& stage : memory_of(plan, trainer.constants)) most = std::max(most, stage.all());
    return most;
}

// Of those that may be meant, the ones that fit; where none does, though it ran, those that come near it.
std::vector<TrainingPlan> meant(const std::vector<TrainingPlan>& plans, const Trainer& trainer) {
    if (plans.size() == 1) return plans;
    constexpr double kNear = 1.25;
    std::vector<TrainingPlan> good, sound;
    for (const TrainingPlan& plan : plans) {
        try {
            check(plan);
        } catch (const InputError&) {
            continue;
        }
        sound.push_back(plan);
        if (fits(plan, trainer)) good.push_back(plan);
    }
    if (!good.empty()) return good;
    double least = std::numeric_limits<double>::infinity();
    for (const TrainingPlan& plan : sound) least = std::min(least, need(plan, trainer));
    for (const TrainingPlan& plan : sound)
        if (need(plan, trainer) <= least * kNear) good.push_back(plan);
    return good;
}

double flops_a_second(const ComparedStep& row) {
    const TrainingPlan& plan = row.measured.plans.front();
    return flops_a_token(plan.model, plan.sequence).causal() * static_cast<double>(plan.global_batch * plan.sequence) /
           plan.gpus;
}

}  // namespace

ComparedStep compare(const MeasuredStep& measured, const Trainer& trainer, Exchanges& exchanges) {
    ComparedStep row{.measured = measured, .predicted = 0, .why = measured.why, .plan = {}, .step = {}};
    if (!row.why.empty()) return row;
    try {
        if (measured.plans.size() == 1) check(measured.plans.front());
        for (const TrainingPlan& plan : meant(measured.plans, trainer)) {
            StepPrediction step = predict_step(plan, trainer, exchanges, {.must_fit = false});
            if (row.predicted > 0 && step.seconds >= row.predicted) continue;
            row.predicted = step.seconds;
            row.plan = plan;
            row.step = std::move(step);
        }
    } catch (const InputError& error) {
        row.why = to_text(error.problems.front());
    } catch (const std::runtime_error& error) {
        row.why = error.what();
    }
    return row;
}

void add_baselines(std::vector<ComparedStep>& rows) {
    const auto alike = [](const ComparedStep& a, const ComparedStep& b) {
        return a.measured.gpu == b.measured.gpu && a.measured.precision == b.measured.precision &&
               a.measured.experts == b.measured.experts;
    };
    for (ComparedStep& row : rows) {
        if (row.predicted <= 0) continue;
        std::vector<double> rates;
        for (const ComparedStep& other : rows)
            if (&other != &row && other.predicted > 0 && alike(other, row))
                rates.push_back(flops_a_second(other) / other.measured.seconds);
        if (!rates.empty()) row.baseline = flops_a_second(row) / median(rates);
    }
}

ErrorsOfSteps errors_of(std::vector<double> errors) {
    ErrorsOfSteps of{.rows = errors.size()};
    if (errors.empty()) return of;
    of.bias = median(errors);
    for (double& error : errors) error = std::abs(error);
    std::sort(errors.begin(), errors.end());
    of.median = median(errors);
    of.worst = errors.back();
    for (const double error : errors) of.mean += error / static_cast<double>(errors.size());
    const double at = 0.9 * static_cast<double>(errors.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    of.p90 = errors[below];
    if (below + 1 < errors.size()) of.p90 += (at - static_cast<double>(below)) * (errors[below + 1] - errors[below]);
    return of;
}

namespace {

// In what two plans of one source differ; empty when in nothing, or in more than one thing.
std::string difference(const ComparedStep& a, const ComparedStep& b) {
    const TrainingPlan &p = a.measured.plans.front(), &q = b.measured.plans.front();
    if (p.model.name != q.model.name || a.measured.gpu != b.measured.gpu) return "";
    std::vector<std::string> differs;
    const auto add = [&](bool same, const char* what) {
        if (!same) differs.emplace_back(what);
    };
    add(p.gpus == q.gpus, "scale");
    add(p.sequence == q.sequence, "sequence");
    add(p.micro_batch == q.micro_batch, "micro_batch");
    add(p.precision == q.precision, "precision");
    const auto mapping = [](const TrainingPlan& plan) {
        return std::tie(plan.tensor, plan.context, plan.pipeline, plan.chunks, plan.experts, plan.expert_tensor);
    };
    add(mapping(p) == mapping(q), "mapping");
    add(p.sharding == q.sharding && p.shard_group == q.shard_group, "sharding");
    add(p.model.layers == q.model.layers, "layers");
    add(p.recompute == q.recompute, "recompute");
    add(p.dispatch == q.dispatch, "dispatch");
    add(p.overlap.tensor == q.overlap.tensor && p.overlap.experts == q.overlap.experts, "overlap");
    if (p.gpus == q.gpus) add(p.global_batch == q.global_batch, "global_batch");  // weak scaling is one difference
    return differs.size() == 1 ? differs.front() : "";
}

}  // namespace

std::vector<PairOfSteps> pairs_of(const std::vector<ComparedStep>& rows) {
    std::vector<PairOfSteps> pairs;
    const auto speed = [](const ComparedStep& row, double seconds) {
        const TrainingPlan& plan = row.measured.plans.front();
        return static_cast<double>(plan.global_batch * plan.sequence) / plan.gpus / seconds;
    };
    for (std::size_t a = 0; a < rows.size(); ++a)
        for (std::size_t b = a + 1; b < rows.size(); ++b) {
            if (rows[a].predicted <= 0 || rows[b].predicted <= 0) continue;
            if (rows[a].measured.source != rows[b].measured.source) continue;
            const std::string differs = difference(rows[a], rows[b]);
            if (differs.empty()) continue;
            pairs.push_back({a, b, differs,
                             speed(rows[a], rows[a].measured.seconds) / speed(rows[b], rows[b].measured.seconds),
                             speed(rows[a], rows[a].predicted) / speed(rows[b], rows[b].predicted)});
        }
    return pairs;
}

}  // namespace fmsim
