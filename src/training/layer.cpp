// The kernels of a transformer's layer on one GPU of a tensor-, context- and expert-parallel group.
//
// Each linear layer gives three products: forward, gradient of its input, gradient of its weights (summed in 32 bits
// over micro-batches). With 8 or 4 bits its operands are quantised first; weights once a step, which is spread over the
// micro-batches. Heads, MLP columns and experts are split over the group; norms and residuals work on whole tokens, or
// with sequence parallelism on the GPU's own part.
//
// Ring context: a GPU has the pieces of the sequence that make all equally busy, and works on the keys of one rank at a
// time: one causal block, and for each other rank half a block of keys without a mask.
#include "layer.hpp"

#include <algorithm>

namespace fmsim {
namespace {

constexpr std::uint32_t kSumBits = 32;

class Layer {
public:
    Layer(const TrainingPlan& plan, Pass pass) : plan_(plan), model_(plan.model), pass_(pass) {}

    Works works;

    void norm(std::int64_t elements, double times = 1) {
        stream(pass_ == Pass::forward ? Streaming::norm : Streaming::norm_backward, elements, Module::norm, times);
    }
    void stream(Streaming kernel, std::int64_t elements, Module module, double times = 1) {
        add(StepPart::streams, module, Stream{.kernel = kernel, .elements = elements}, times);
    }
    // `from_kernel`: a norm or an activation wrote the input, and quantised it on the way where kernels are fused.
    void linear(std::int64_t tokens, std::int64_t in, std::int64_t out, Module module, bool from_kernel,
                std::optional<Precision> precision = std::nullopt) {
        const Precision p = precision.value_or(plan_.precision);
        const bool quantised = kind(p).bits <= 8;
        if (pass_ == Pass::forward) {
            if (quantised) {
                if (!from_kernel || !plan_.fused) quantise(tokens * in, p, module, 1);
                quantise(in * out, p, module,
                         1 / static_cast<double>(std::max<std::int64_t>(plan_.micro_batches(), 1)));
            }
            add(StepPart::products, module, Gemm{.m = tokens, .n = out, .k = in, .precision = p});
            return;
        }
        if (quantised) quantise(tokens * out, p, module, 1);
        add(StepPart::products, module, Gemm{.m = tokens, .n = in, .k = out, .precision = p});
        if (plan_.frozen) return;
        add(StepPart::products, module,
            Gemm{.m = out, .n = in, .k = tokens, .precision = p, .output_bits = kSumBits, .accumulates = true});
        works.back().of_weights = true;
    }
    void experts(std::int64_t groups, std::int64_t rows, std::int64_t in, std::int64_t out, bool from_kernel) {
        const Precision p = plan_.precision;
        const auto grouped = [&](const Gemm& one, bool weights) {
            add(StepPart::experts, Module::experts,
                GroupedGemm{std::vector<Gemm>(static_cast<std::size_t>(groups), one)});
            works.back().of_weights = weights;
        };
        const bool quantised = kind(p).bits <= 8;
        if (pass_ == Pass::forward) {
            if (quantised && (!from_kernel || !plan_.fused)) quantise(groups * rows * in, p, Module::experts, 1);
            grouped({.m = rows, .n = out, .k = in, .precision = p}, false);
            return;
        }
        if (quantised) quantise(groups * rows * out, p, Module::experts, 1);
        grouped({.m = rows, .n = in, .k = out, .precision = p}, false);
        if (plan_.frozen) return;
        grouped({.m = out, .n = in, .k = rows, .precision = p, .output_bits = kSumBits, .accumulates = true}, true);
    }
    void core(bool windowed);
    void add(StepPart part, Module module, Kernel kernel, double times = 1) {
        works.push_back({part, module, std::move(kernel), times, false});
    }

private:
    void quantise(std::int64_t elements, Precision to, Module module, double times) {
        add(StepPart::streams, module, Quantise{.elements = elements, .to = to, .transposed_too = true}, times);
    }
    void stored_scores(std::int64_t heads, std::int64_t queries, std::int64_t dim);

    const TrainingPlan& plan_;
    const TransformerModel& model_;
    Pass pass_;
};

// Scores kept in memory: product, scaled and masked softmax, dropout, product.
void Layer::stored_scores(std::int64_t heads, std::int64_t queries, std::int64_t dim) {
    const std::int64_t batch = plan_.micro_batch * heads, scores = batch * queries * queries;
    const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k, double times) {
        add(StepPart::attention, Module::attention,
            Gemm{.m = m, .n = n, .k = k, .batch = batch, .precision = Precision::bf16}, times);
    };
    const auto pass = [&](std::int64_t reads, std::int64_t writes) {  // 16-bit scores and masks of a byte
        add(StepPart::attention, Module::attention, Traffic{{scores * reads}, {scores * writes}});
    };
    product(queries, queries, dim, 1);  // scores; of their gradient
    product(queries, dim, queries, pass_ == Pass::forward ? 1 : 3);
    if (pass_ == Pass::forward) {
        pass(2, 2);
        pass(2, 3);
    } else {
        pass(3, 2);
        pass(4, 2);
    }
}

void Layer::core(bool windowed) {
    const std::int64_t heads = model_.heads / plan_.tensor;
    const std::int64_t kv = std::max<std::int64_t>(model_.kv_heads / plan_.tensor, 1);
    const std::int64_t c = plan_.context;
    Attention one{.batch = plan_.micro_batch,
                  .heads = heads,
                  .kv_heads = kv,
                  .queries = plan_.sequence / c,
                  .keys = plan_.sequence / c,
                  .qk_dim = model_.latent ? model_.latent->nope + model_.latent->rope : model_.head_dim,
                  .v_dim = model_.latent ? model_.latent->v : model_.head_dim,
                  .window = windowed ? model_.window : 0,
                  .pass = pass_,
                  .implementation = plan_.attention};
    if (plan_.attention == "unfused") return stored_scores(heads, plan_.sequence / c, one.qk_dim);
    if (c > 1 && plan_.context_exchange == ContextExchange::all_to_all) {
        one.heads = std::max<std::int64_t>(heads / c, 1);
        one.kv_heads = std::max<std::int64_t>(kv / c, 1);
        one.queries = one.keys = plan_.sequence;
        return add(StepPart::attention, Module::attention, one);
    }
    add(StepPart::attention, Module::attention, one);
    if (c == 1 || one.window > 0) return;
    one.causal = false;
    one.keys = std::max<std::int64_t>(one.keys / 2, 1);
    add(StepPart::attention, Module::attention, one, static_cast<double>(c - 1));
}

void attention_block(Layer& layer, const TrainingPlan& plan, const LayerKind& kind) {
    const TransformerModel& model = plan.model;
    const std::int64_t tokens = tokens_of(plan), own = own_tokens(plan), t = plan.tensor;
    const std::int64_t heads = model.heads / t;
    layer.norm(own * model.hidden);
    std::int64_t rotated = heads * model.head_dim;
    std::int64_t out = heads * model.head_dim;
    if (model.latent) {
        const LatentAttention& a = *model.latent;
        const std::int64_t qk = a.nope + a.rope;
        if (a.q_rank > 0) {
            layer.linear(own, model.hidden, a.q_rank, Module::projection, true);  // not split
            layer.norm(own * a.q_rank);
            layer.linear(tokens, a.q_rank, heads * qk, Module::latent_up, true);
        } else {
            layer.linear(tokens, model.hidden, heads * qk, Module::projection, true);
        }
        layer.linear(own, model.hidden, a.kv_rank + a.rope, Module::projection, true);
        layer.norm(own * a.kv_rank);
        layer.linear(tokens, a.kv_rank, heads * (a.nope + a.v), Module::latent_up, true);
        layer.stream(Streaming::copy, tokens * heads * (2 * qk + a.v), Module::latent_up);  // heads put together
        rotated = heads * 2 * a.rope;
        out = heads * a.v;
    } else {
        const std::int64_t kv = std::max<std::int64_t>(model.kv_heads / t, 1);
        layer.linear(tokens, model.hidden, (heads + 2 * kv) * model.head_dim, Module::projection, true);
        rotated = (heads + kv) * model.head_dim;
        if (model.qk_norm) layer.norm(tokens * rotated);
    }
    if (model.positions == 0) layer.stream(Streaming::rotary, tokens * rotated, Module::other);
    layer.core(kind.windowed);
    layer.linear(tokens, out, model.hidden, Module::projection, false);
    layer.stream(Streaming::add, own * model.hidden, Module::other);
}

void mlp(Layer& layer, const TrainingPlan& plan, std::int64_t ffn, Pass pass) {
    const std::int64_t tokens = tokens_of(plan), columns = ffn / plan.tensor;
    const bool gated = plan.model.gated, forward = pass == Pass::forward;
    layer.linear(tokens, plan.model.hidden, columns * (gated ? 2 : 1), Module::mlp, true);
    const Streaming activation = gated ? (forward ? Streaming::gated_activation : Streaming::gated_activation_backward)
                                       : (forward ? Streaming::activation : Streaming::activation_backward);
    layer.stream(activation, tokens * columns, Module::activation);
    layer.linear(tokens, columns, plan.model.hidden, Module::mlp, true);
}

void experts_block(Layer& layer, const TrainingPlan& plan, Pass pass, const TrainingConstants& constants) {
    const MixtureOfExperts& moe = *plan.model.experts;
    const std::int64_t own = own_tokens(plan), h = plan.model.hidden;
    const bool forward = pass == Pass::forward, gated = plan.model.gated;
    layer.linear(own, h, moe.experts, Module::other, true, Precision::bf16);
    layer.stream(Streaming::copy, own * moe.experts * 2, Module::other);  // 32-bit scores
    const std::int64_t groups = std::max<std::int64_t>(moe.experts / plan.experts, 1);
    const auto slots = static_cast<std::int64_t>(static_cast<double>(expert_slots(plan)) *
                                                 (plan.experts > 1 ? 1 + constants.imbalance : 1));
    const std::int64_t rows = std::max<std::int64_t>(slots / groups, 1);
    const std::int64_t columns = std::max<std::int64_t>(moe.ffn / plan.expert_tensor, 1);
    // To the experts' order and back; a dispatcher that sends once a domain does it on the way.
    const bool fused = plan.dispatch == Dispatch::once_a_domain && plan.experts > 1;
    layer.stream(Streaming::copy, slots * h, Module::experts, fused ? 0.5 : plan.experts > 1 ? 3 : 1);
    layer.experts(groups, rows, h, columns * (gated ? 2 : 1), fused);
    const Streaming activation = gated ? (forward ? Streaming::gated_activation : Streaming::gated_activation_backward)
                                       : (forward ? Streaming::activation : Streaming::activation_backward);
    layer.stream(activation, slots * columns, Module::activation);
    layer.experts(groups, rows, columns, h, true);
    if (moe.bias) {  // grouped products have no epilogue that adds it: expert by expert, or on the way in a whole graph
        const double passes = plan.graph && plan.graph_experts ? 1 : constants.bias_passes;
        layer.stream(Streaming::copy, slots * columns * (gated ? 2 : 1), Module::experts, passes);
        layer.stream(Streaming::copy, slots * h, Module::experts, passes);
    }
    if (!fused) {  // weighted sum
        constexpr std::int64_t kElement = 2;
        layer.add(StepPart::streams, Module::other, Traffic{{own * moe.chosen * h * kElement}, {own * h * kElement}});
    }
    if (moe.shared_ffn > 0) mlp(layer, plan, moe.shared_ffn, pass);
}

Works layer_works(const TrainingPlan& plan, const LayerKind& kind, Pass pass, const TrainingConstants& constants) {
    Layer layer(plan, pass);
    attention_block(layer, plan, kind);
    layer.norm(own_tokens(plan) * plan.model.hidden);
    if (kind.experts)
        experts_block(layer, plan, pass, constants);
    else
        mlp(layer, plan, plan.model.ffn, pass);
    layer.stream(Streaming::add, own_tokens(plan) * plan.model.hidden, Module::other);
    return layer.works;
}

}  // namespace

LayerKind kind_of(const TransformerModel& model, std::int64_t layer) {
    return {.experts = has_experts(model, layer), .windowed = model.window > 0 && layer % model.window_every == 0};
}

std::int64_t tokens_of(const TrainingPlan& plan) { return plan.micro_batch * plan.sequence / plan.context; }

std::int64_t own_tokens(const TrainingPlan& plan) {
    const std::int64_t tokens = tokens_of(plan);
    return plan.tensor > 1 && plan.sequence_parallel ? std::max<std::int64_t>(tokens / plan.tensor, 1) : tokens;
}

std::int64_t expert_slots(const TrainingPlan& plan) {
    const MixtureOfExperts& moe = *plan.model.experts;
    // A rank of experts hears from all ranks of its group; with expert_tensor those share the tokens of so many.
    const double own = static_cast<double>(tokens_of(plan)) / plan.tensor;
    const double slots = own * plan.expert_tensor * static_cast<double>(moe.chosen);
    return std::max<std::int64_t>(static_cast<std::int64_t>(slots), 1);
}

Works layer_forward(const TrainingPlan& plan, const LayerKind& kind, const TrainingConstants& constants) {
    return layer_works(plan, kind, Pass::forward, constants);
}
Works layer_backward(const TrainingPlan& plan, const LayerKind& kind, const TrainingConstants& constants) {
    return layer_works(plan, kind, Pass::backward, constants);
}

Works embedding_work(const TrainingPlan& plan, Pass pass) {
    Layer layer(plan, pass);
    layer.stream(pass == Pass::forward ? Streaming::embedding : Streaming::embedding_backward,
                 tokens_of(plan) * plan.model.hidden, Module::other);
    return layer.works;
}

Works loss_work(const TrainingPlan& plan, Pass pass, const TrainingConstants& constants) {
    Layer layer(plan, pass);
    layer.norm(own_tokens(plan) * plan.model.hidden);
    const std::int64_t columns = plan.model.vocabulary / plan.tensor;
    layer.linear(tokens_of(plan), plan.model.hidden, columns, Module::other, true, Precision::bf16);
    const auto bytes = static_cast<std::int64_t>(static_cast<double>(tokens_of(plan) * columns) * sizeof(float) *
                                                 constants.loss_passes / 2);  // half of them a pass
    layer.add(StepPart::streams, Module::other, Traffic{{bytes / 2}, {bytes / 2}});
    return layer.works;
}

}  // namespace fmsim
