// Exact parameters and FLOPs of a transformer, by closed form.
//
// By hand, Llama 3 8B: attention 4096 x (4096 + 2 x 1024) + 4096 x 4096 + norm 4096 = 41,947,136; MLP 3 x 4096 x 14336
// + 4096 = 176,164,864; 32 layers and 2 x 128256 x 4096 + 4096 of embeddings: 8,030,261,248.
#include "fmsim/training.hpp"

namespace fmsim {
namespace {

std::int64_t norm(const TransformerModel& model) { return model.hidden * (model.norm_bias ? 2 : 1); }

std::int64_t latent_attention(const TransformerModel& model) {
    const LatentAttention& a = *model.latent;
    const std::int64_t h = model.hidden, n = model.heads, qk = a.nope + a.rope;
    const std::int64_t queries = a.q_rank > 0 ? h * a.q_rank + a.q_rank + a.q_rank * n * qk : h * n * qk;
    const std::int64_t keys = h * (a.kv_rank + a.rope) + a.kv_rank + a.kv_rank * n * (a.nope + a.v);
    return queries + keys + n * a.v * h;
}

std::int64_t attention(const TransformerModel& model) {
    if (model.latent) return latent_attention(model) + norm(model);
    const std::int64_t h = model.hidden, d = model.head_dim;
    const std::int64_t qkv = (model.heads + 2 * model.kv_heads) * d;
    std::int64_t sum = h * qkv + model.heads * d * h + norm(model);
    if (model.bias) sum += qkv + h;
    if (model.qkv_bias) sum += qkv;
    if (model.qk_norm) sum += 2 * d;
    if (model.sinks) sum += model.heads;
    return sum;
}

std::int64_t mlp(const TransformerModel& model, std::int64_t ffn, bool bias) {
    const std::int64_t up = model.gated ? 2 : 1;
    return (up + 1) * model.hidden * ffn + (bias ? up * ffn + model.hidden : 0);
}

// Of one token through one layer, the parameters that multiply it.
double multiplying(const TransformerModel& model, std::int64_t layer) {
    const std::int64_t h = model.hidden;
    std::int64_t sum = 0;
    if (model.latent) {
        sum += latent_attention(model) - model.latent->q_rank - model.latent->kv_rank;
    } else {
        sum += h * (model.heads + 2 * model.kv_heads) * model.head_dim + model.heads * model.head_dim * h;
    }
    if (!has_experts(model, layer)) return static_cast<double>(sum + mlp(model, model.ffn, false));
    const MixtureOfExperts& moe = *model.experts;
    sum += moe.experts * h + moe.chosen * mlp(model, moe.ffn, false);
    if (moe.shared_ffn > 0) sum += mlp(model, moe.shared_ffn, false);
    return static_cast<double>(sum);
}

bool has_window(const TransformerModel& model, std::int64_t layer) {
    return model.window > 0 && layer % model.window_every == 0;
}

Attention core_of(const TransformerModel& model, std::int64_t sequence, bool windowed) {
    const std::int64_t qk = model.latent ? model.latent->nope + model.latent->rope : model.head_dim;
    return {.heads = model.heads,
            .kv_heads = model.kv_heads,
            .queries = sequence,
            .keys = sequence,
            .qk_dim = qk,
            .v_dim = model.latent ? model.latent->v : model.head_dim,
            .window = windowed ? model.window : 0};
}

}  // namespace

bool has_experts(const TransformerModel& model, std::int64_t layer) {
    if (!model.experts || layer < model.experts->first_dense) return false;
    return (layer - model.experts->first_dense) % model.experts->every == model.experts->every - 1;
}

ParameterCounts layer_parameters(const TransformerModel& model, std::int64_t layer) {
    ParameterCounts counts{.attention = attention(model)};
    if (!has_experts(model, layer)) {
        counts.dense = mlp(model, model.ffn, model.bias) + norm(model);
        counts.active = counts.attention + counts.dense;
        return counts;
    }
    const MixtureOfExperts& moe = *model.experts;
    const std::int64_t one = mlp(model, moe.ffn, moe.bias);
    counts.dense = moe.experts * model.hidden + (moe.bias ? moe.experts : 0) + norm(model);
    if (moe.shared_ffn > 0) counts.dense += mlp(model, moe.shared_ffn, false);
    counts.routed = moe.experts * one;
    counts.active = counts.attention + counts.dense + moe.chosen * one;
    return counts;
}

ParameterCounts parameters_of(const TransformerModel& model) {
    ParameterCounts all;
    const auto add = [&](const ParameterCounts& one) {
        all.attention += one.attention;
        all.dense += one.dense;
        all.routed += one.routed;
        all.active += one.active;
    };
    for (std::int64_t layer = 0; layer < model.layers; ++layer) add(layer_parameters(model, layer));
    const std::int64_t table = model.vocabulary * model.hidden;
    all.embedding = table * (model.tied ? 1 : 2) + model.positions * model.hidden + norm(model);
    all.active += all.embedding;
    if (model.mtp_layers > 0) {  // a block, a projection of two rows joined, the norms of both and of the output
        const ParameterCounts block = layer_parameters(model, model.layers - 1);
        all.mtp = model.mtp_layers * (block.all() + 2 * model.hidden * model.hidden + 3 * norm(model));
    }
    return all;
}

ModelFlops flops_a_token(const TransformerModel& model, std::int64_t sequence) {
    ModelFlops flops;
    const double tokens = static_cast<double>(sequence);
    const double passes = 3;  // the backward pass counts twice
    const auto add = [&](std::int64_t layer) {
        flops.products += 2 * passes * multiplying(model, layer);
        const Attention core = core_of(model, sequence, has_window(model, layer));
        flops.attention += passes * flops_of(core) / tokens;
        const double pair = 2 * static_cast<double>(core.qk_dim + core.v_dim);
        flops.attention_full += passes * pair * static_cast<double>(model.heads) * tokens;
    };
    for (std::int64_t layer = 0; layer < model.layers; ++layer) add(layer);
    const double head = static_cast<double>(model.vocabulary * model.hidden);
    flops.products += 2 * passes * head;
    for (std::int64_t i = 0; i < model.mtp_layers; ++i) {
        add(model.layers - 1);
        flops.products += 2 * passes * (head + 2 * static_cast<double>(model.hidden * model.hidden));
    }
    return flops;
}

}  // namespace fmsim
