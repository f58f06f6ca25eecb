// What makes a plan one that can run, and how layers are dealt out to stages.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "fmsim/training.hpp"

namespace fmsim {
namespace {

class Checks {
public:
    void need(bool good, std::string pointer, std::string expected, std::string found) {
        if (!good) problems_.push_back({"", 0, std::move(pointer), std::move(expected), std::move(found)});
    }
    void divides(std::int64_t part, std::int64_t whole, const std::string& pointer, const std::string& what) {
        need(part > 0 && whole % part == 0, pointer, fmt::format("expected a divisor of {}, {}", what, whole),
             fmt::format("{}", part));
    }
    bool good() const { return problems_.empty(); }
    void finish() {
        if (!problems_.empty()) throw InputError(std::move(problems_));
    }

private:
    std::vector<Problem> problems_;
};

void check_model(const TransformerModel& model, Checks& checks) {
    const auto positive = [&](std::int64_t value, const char* key) {
        checks.need(value > 0, fmt::format("/model/{}", key), "expected a count above 0", fmt::format("{}", value));
    };
    positive(model.layers, "layers");
    positive(model.hidden, "hidden");
    positive(model.heads, "heads");
    positive(model.vocabulary, "vocabulary");
    if (!model.latent) positive(model.head_dim, "head_dim");
    if (!model.experts || model.experts->first_dense > 0 || model.experts->every > 1) positive(model.ffn, "ffn");
    if (!checks.good()) return;
    checks.divides(model.kv_heads, model.heads, "/model/kv_heads", "the heads");
    if (!model.experts) return;
    positive(model.experts->experts, "experts/count");
    positive(model.experts->ffn, "experts/ffn");
    checks.need(model.experts->chosen > 0 && model.experts->chosen <= model.experts->experts, "/model/experts/chosen",
                fmt::format("expected 1 to {} experts a token", model.experts->experts),
                fmt::format("{}", model.experts->chosen));
}

void check_degrees(const TrainingPlan& plan, Checks& checks) {
    const std::uint64_t replica =
        static_cast<std::uint64_t>(plan.tensor) * std::max(plan.context, 1U) * std::max(plan.pipeline, 1U);
    checks.need(replica > 0 && plan.context > 0 && plan.pipeline > 0 && plan.gpus > 0 && plan.gpus % replica == 0,
                "/parallel", fmt::format("expected tensor x context x pipeline to divide the {} GPUs", plan.gpus),
                fmt::format("{} x {} x {}", plan.tensor, plan.context, plan.pipeline));
    if (!checks.good()) return;
    checks.divides(plan.tensor, plan.model.heads, "/parallel/tensor", "the heads");
    const std::uint32_t stage = plan.gpus / plan.pipeline;
    checks.need(plan.expert_tensor > 0 && plan.experts > 0 && stage % (plan.experts * plan.expert_tensor) == 0,
                "/parallel/experts",
                fmt::format("expected experts x expert_tensor to divide the {} GPUs of a stage", stage),
                fmt::format("{} x {}", plan.experts, plan.expert_tensor));
    if (plan.model.experts)
        checks.divides(plan.experts, plan.model.experts->experts, "/parallel/experts", "the experts");
    else
        checks.need(plan.experts == 1, "/parallel/experts", "expected 1, since the model has no experts",
                    fmt::format("{}", plan.experts));
    checks.need(plan.chunks == 1 || plan.pipeline > 1, "/parallel/chunks", "expected 1 where there is one stage",
                fmt::format("{}", plan.chunks));
    checks.need(plan.shard_group == 0 || (plan.data() * plan.context) % plan.shard_group == 0, "/parallel/shard_group",
                fmt::format("expected a divisor of the {} ranks of data and context", plan.data() * plan.context),
                fmt::format("{}", plan.shard_group));
}

void check_batch(const TrainingPlan& plan, Checks& checks) {
    checks.need(plan.sequence > 0, "/sequence", "expected a count above 0", fmt::format("{}", plan.sequence));
    if (plan.sequence > 0) checks.divides(plan.context, plan.sequence, "/parallel/context", "the sequence");
    const std::int64_t copies = static_cast<std::int64_t>(plan.data()) * plan.micro_batch;
    checks.need(plan.micro_batch > 0 && plan.global_batch > 0 && plan.global_batch % copies == 0, "/global_batch",
                fmt::format("expected a multiple of data x micro_batch, {} x {}", plan.data(), plan.micro_batch),
                fmt::format("{}", plan.global_batch));
    if (!checks.good()) return;
    checks.need(plan.chunks == 1 || plan.micro_batches() % plan.pipeline == 0, "/parallel/chunks",
                fmt::format("expected 1, or micro-batches in multiples of the {} stages", plan.pipeline),
                fmt::format("{} micro-batches", plan.micro_batches()));
}

}  // namespace

void complete(TrainingFile& file, const KernelFacts& kernels) {
    TrainingPlan& plan = file.plan;
    const std::uint64_t replica = static_cast<std::uint64_t>(plan.tensor) * plan.context * plan.pipeline;
    if (replica == 0 || plan.gpus % replica != 0) return;  // which check() refuses
    if (plan.global_batch == 0) plan.global_batch = file.copy_batch * plan.data();
    if (file.copies > 1) {
        const std::uint32_t ranks = plan.data() * plan.context;
        if (ranks % file.copies != 0)
            throw InputError(
                {{"", 0, "/copies", fmt::format("expected a divisor of the {} ranks of data and context", ranks),
                  fmt::format("{}", file.copies)}});
        plan.shard_group = ranks / file.copies;
    }
    if (plan.attention.empty() && kernels.attention.contains(file.prefers)) plan.attention = file.prefers;
}

void check(const TrainingPlan& plan) {
    Checks checks;
    check_model(plan.model, checks);
    checks.finish();
    check_degrees(plan, checks);
    checks.finish();
    check_batch(plan, checks);
    const std::int64_t places = static_cast<std::int64_t>(plan.pipeline) * plan.chunks;
    checks.need(places <= plan.model.layers + (plan.ends_count ? 2 : 0), "/parallel/pipeline",
                fmt::format("expected at most {} chunks of stages, one a layer", plan.model.layers),
                fmt::format("{} x {}", plan.pipeline, plan.chunks));
    checks.finish();
}

// Chunk c of stage s is place c * stages + s of the model. What does not come out even goes to the middle: the ends
// also have the embedding and the loss.
std::vector<std::vector<std::int64_t>> layers_of(const TrainingPlan& plan) {
    const std::size_t stages = plan.pipeline, chunks = plan.chunks, places = stages * chunks;
    std::vector<std::int64_t> at(places);
    std::int64_t left = plan.model.layers;
    std::size_t from = 0, to = places;
    if (plan.ends_count && places > 1) {
        const std::int64_t each = (left + 2) / static_cast<std::int64_t>(places);
        const std::int64_t over = (left + 2) % static_cast<std::int64_t>(places);
        for (std::size_t i = 0; i < places; ++i)
            at[i] = each + (static_cast<std::int64_t>(i) < over ? 1 : 0) - (i == 0 || i + 1 == places ? 1 : 0);
        from = to = places, left = 0;
    }
    if (plan.first_layers > 0 && places > 1) at[from++] = plan.first_layers, left -= plan.first_layers;
    if (plan.last_layers > 0 && places > 1) at[--to] = plan.last_layers, left -= plan.last_layers;
    const auto middle = static_cast<std::int64_t>(to - from);
    for (std::size_t i = from; i < to; ++i) {
        const auto k = static_cast<std::int64_t>(i - from);
        const std::int64_t over = left % middle, skip = (middle - over) / 2;
        at[i] = left / middle + (k >= skip && k < skip + over ? 1 : 0);
    }
    std::vector<std::vector<std::int64_t>> layers(stages, std::vector<std::int64_t>(chunks));
    for (std::size_t i = 0; i < places; ++i) layers[i % stages][i / stages] = at[i];
    return layers;
}

}  // namespace fmsim
