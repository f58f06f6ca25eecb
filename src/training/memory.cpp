// What a GPU of each stage holds.
//
// Parameters in 16 bits (32 more where the master copy is elsewhere counted as state), gradients as they are summed,
// state: 12 bytes a parameter of Adam, each in parts as the sharding says. Activations: what the backward pass reads of
// each layer that has gone forward and not back. By hand, one layer of a GPT without recomputation, a token: norms'
// inputs 2 x 2 h, qkv 6 h, attention's output 2 h, input of the MLP and of attention 4 h, MLP 2 x 8 h: 32 h bytes and
// masks, of which tensor parallelism splits all with the sequence split.
//
// Per-operator recomputation keeps a layer's input, attention's output and every second product's. In the backward pass
// of a layer what was dropped is there again, with gradients that come to half of it, and with the sequence split two
// inputs and two gradients gathered whole. Probabilities of the loss are kept unless one kernel does it all.
//
// FSDP in PyTorch's pipelines (fsdp_whole) keeps parameters gathered and sums gradients whole until the last
// micro-batch.
//
// What PyTorch's allocator reports is all but `reserved`, which holds the CUDA context and the communicators.
#include <algorithm>

#include "stage_costs.hpp"

namespace fmsim {
namespace {

constexpr double kElement = 2;

// Values of a token that a dense layer's products write, on all GPUs of a tensor-parallel group.
double products_out(const TransformerModel& m) {
    const auto h = static_cast<double>(m.hidden), heads = static_cast<double>(m.heads);
    const double qkv = m.latent ? heads * static_cast<double>(m.latent->nope + m.latent->rope) * 2
                                : static_cast<double>((m.heads + 2 * m.kv_heads) * m.head_dim);
    return qkv + static_cast<double>(m.ffn) * (m.gated ? 2 : 1) + 2 * h;
}

// PyTorch's own attention reads keys and values repeated for each head of queries.
bool repeats_keys(const TrainingPlan& plan) { return plan.attention == "flash_attention_2"; }

// Bytes of a token that a layer keeps, of one GPU.
double kept_bytes(const TrainingPlan& plan, const LayerKind& kind) {
    const TransformerModel& m = plan.model;
    const double t = plan.tensor, own = plan.sequence_parallel ? t : 1;
    const auto h = static_cast<double>(m.hidden);
    if (plan.recompute.all) return kElement * h / own;
    const auto heads = static_cast<double>(m.heads);
    const auto v_dim = static_cast<double>(m.latent ? m.latent->v : m.head_dim);
    const Recompute& r = plan.recompute;
    if (r.half_products && !kind.experts) return kElement * (h / own + (heads * v_dim + products_out(m) / 2) / t);
    double rows = 2 * h / own;          // inputs of the norms
    if (!r.norms) rows += 2 * h / own;  // and their outputs
    const auto kv = static_cast<double>(m.kv_heads);
    if (m.latent) {
        const auto qk = static_cast<double>(m.latent->nope + m.latent->rope), v = static_cast<double>(m.latent->v);
        rows += static_cast<double>(m.latent->q_rank + m.latent->kv_rank + m.latent->rope) * 2 / own;
        if (!r.latent_up) rows += heads * (2 * qk + v) / t;
        rows += heads * v / t;
    } else {
        const auto d = static_cast<double>(m.head_dim);
        rows += (heads + 2 * kv) * d / t + (r.attention && plan.attention != "unfused" ? 0 : heads * d / t);
        if (repeats_keys(plan) && !r.attention) rows += 2 * (heads - kv) * d / t;
    }
    if (plan.attention == "unfused" && !r.attention)  // scores and probabilities, 16 bits, and a mask of a byte
        rows += heads / t * static_cast<double>(plan.sequence) * 2.5;
    const auto mlp = [&](double ffn) {
        if (r.mlp) return 0.0;
        return (m.gated ? 2 : 1) * ffn + (r.activations ? 0 : ffn);
    };
    if (!kind.experts) return kElement * (rows + mlp(static_cast<double>(m.ffn)) / t);
    const MixtureOfExperts& moe = *m.experts;
    const auto chosen = static_cast<double>(moe.chosen), ffn = static_cast<double>(moe.ffn);
    if (!r.experts) rows += chosen / t * (h + mlp(ffn));  // rows as they came, and those of the MLP
    return kElement * (rows + mlp(static_cast<double>(moe.shared_ffn)) / t);
}

double bits_of_parameters(const TrainingPlan& plan) {
    return plan.sharding == Sharding::zero3 ? 0 : kElement;  // zero3: the 32-bit shards are the parameters
}

// Values of a token that queries have, and keys and values together as attention reads them.
struct AttentionRows {
    double queries{}, both{};
};
AttentionRows attention_rows(const TrainingPlan& plan) {
    const TransformerModel& m = plan.model;
    const double heads = static_cast<double>(m.heads) / plan.tensor;
    if (m.latent) {
        const auto qk = static_cast<double>(m.latent->nope + m.latent->rope), v = static_cast<double>(m.latent->v);
        return {heads * qk, heads * (qk + v)};
    }
    const double d = static_cast<double>(m.head_dim), kv = static_cast<double>(m.kv_heads) / plan.tensor;
    return {heads * d, 2 * d * (repeats_keys(plan) ? heads : kv)};
}

// Bytes of a token in attention's backward pass: gradients of queries are summed in 32 bits. Where context is split, a
// ring holds two blocks of keys and values, and what it sums and sends on in 32 bits; a gather all blocks.
double attention_sums(const TrainingPlan& plan) {
    if (plan.attention == "unfused") return 0;
    const AttentionRows rows = attention_rows(plan);
    const double sums = rows.queries * sizeof(float);
    if (plan.context == 1) return sums;
    switch (plan.context_exchange) {
        case ContextExchange::ring:
            return 2 * sums + 2 * rows.both * (kElement + sizeof(float));
        case ContextExchange::all_gather:
            return sums + plan.context * rows.both * 2 * kElement;
        case ContextExchange::all_to_all:
            return sums + (2 * rows.queries + rows.both) * kElement;
    }
    return sums;
}

// What FSDP and PyTorch's pipelines hold besides where nothing is cut again between micro-batches: two layers as they
// are gathered and gradients of one before they join the sums; the shards of the sums, which the allocator keeps for
// the stream that scatters; a buffer for what each micro-batch brings from either side, what those alive sent on, and
// on the last stage the logits of all, which the schedule gives back.
double whole_bytes(const TrainingPlan& plan, std::size_t stage, double alive, double sums, double layer) {
    const auto tokens = static_cast<double>(tokens_of(plan)), batches = static_cast<double>(plan.micro_batches());
    const double row = kElement * static_cast<double>(plan.model.hidden) / (plan.sequence_parallel ? plan.tensor : 1);
    const bool last = stage + 1 == plan.pipeline;
    const double from = plan.chunks - (stage == 0 ? 1.0 : 0.0), to = plan.chunks - (last ? 1.0 : 0.0);
    double held = sums + layer * (2 * plan.gather_bits / 8.0 + kElement) +
                  tokens * row * (batches * (from + to) + alive * to / plan.chunks);
    if (last && plan.pipeline > 1)
        held += batches * tokens * kElement * static_cast<double>(plan.model.vocabulary) / plan.tensor;
    return held;
}

struct Shards {
    double dense = 1, routed = 1;
};

MemoryParts stage_memory(const TrainingPlan& plan, const TrainingConstants& constants, std::size_t stage, double alive,
                         const std::vector<std::vector<std::int64_t>>& layers) {
    const Families f = families_of(plan);
    OwnParameters own;
    MemoryParts memory;
    double activations = 0, largest = 0;
    std::int64_t count = 0;
    for (std::size_t chunk = 0; chunk < plan.chunks; ++chunk) {
        const OwnParameters one = chunk_parameters(plan, stage, chunk);
        own.dense += one.dense;
        own.routed += one.routed;
        count += layers[stage][chunk];
        for (const auto& [kind, times] : mix_of(plan, stage, chunk)) {
            TrainingPlan whole = plan;
            whole.recompute = {};
            activations += kept_bytes(plan, kind) * static_cast<double>(times);
            const double all = kept_bytes(whole, kind);
            const double gathered =
                plan.tensor > 1 && plan.sequence_parallel ? 4 * static_cast<double>(plan.model.hidden) * kElement : 0;
            largest = std::max(largest, all * (plan.recompute.any() ? 1.5 : 0.5) + gathered + attention_sums(plan));
        }
    }
    const bool fsdp = plan.sharding == Sharding::zero3 || plan.sharding == Sharding::fsdp_whole;
    const double shard_dense = fsdp ? f.shard.size : f.data.size;
    const double shard_routed = fsdp ? f.expert_shard.size : f.expert_data.size;
    const Shards all{shard_dense, shard_routed};
    const auto held = [&](double bytes, bool sharded) {
        return bytes * (own.dense / (sharded ? all.dense : 1) + own.routed / (sharded ? all.routed : 1));
    };
    const double state = plan.frozen ? 0 : plan.state_bytes;
    memory.parameters = held(bits_of_parameters(plan), false);
    memory.state = held(state, plan.sharding >= Sharding::zero1);
    if (!plan.frozen) memory.gradients = held(plan.gradient_bits / 8.0, plan.sharding >= Sharding::zero2);
    const double tokens = static_cast<double>(tokens_of(plan));
    memory.activations = tokens * (activations / plan.chunks * alive + largest) * (1 + constants.fragmentation);
    if (plan.sharding == Sharding::zero3 && count > 0)  // two layers gathered, gradients of one
        memory.buffers +=
            own.all() / static_cast<double>(count) * (2 * plan.gather_bits / 8.0 + plan.gradient_bits / 8.0);
    if (plan.sharding == Sharding::fsdp_whole && count > 0)
        memory.buffers += whole_bytes(plan, stage, alive, plan.frozen ? 0 : held(plan.gradient_bits / 8.0, true),
                                      own.all() / static_cast<double>(count));
    const double table = static_cast<double>(plan.model.vocabulary) / plan.tensor;
    if (stage + 1 == plan.pipeline)  // logits and their gradient, in 16 and in 32 bits, and probabilities unless fused
        memory.buffers +=
            tokens * table * (2 * kElement + 2 * sizeof(float) + (plan.fused && plan.tensor == 1 ? 0 : sizeof(float)));
    if (plan.sharding == Sharding::zero3 &&
        (stage == 0 || stage + 1 == plan.pipeline))  // embedding or output, gathered
        memory.buffers += table * static_cast<double>(plan.model.hidden) * plan.gather_bits / 8;
    memory.reserved = static_cast<double>(constants.reserved.count);
    if (plan.offload) memory.parameters = memory.state = 0;
    return memory;
}

}  // namespace

std::vector<MemoryParts> memory_of(const TrainingPlan& plan, const TrainingConstants& constants) {
    const auto layers = layers_of(plan);
    PipelineCosts costs{.stages = plan.pipeline,
                        .chunks = plan.chunks,
                        .micro_batches = std::min<std::int64_t>(plan.micro_batches(), 4 * plan.pipeline)};
    costs.forward.assign(plan.pipeline, std::vector<double>(plan.chunks, 1));
    costs.backward.assign(plan.pipeline, std::vector<double>(plan.chunks, 2));
    const PipelineTimes times = play(plan.schedule, costs);
    std::vector<MemoryParts> stages;
    for (std::size_t stage = 0; stage < plan.pipeline; ++stage)
        stages.push_back(stage_memory(plan, constants, stage, static_cast<double>(times.alive[stage]), layers));
    return stages;
}

}  // namespace fmsim
