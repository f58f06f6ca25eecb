// Words of measured training runs: precision, recomputation, the model's shape.
#include "training_words.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace fmsim {
namespace {

bool has(const std::string& words, std::string_view part) { return words.find(part) != std::string::npos; }

std::int64_t count(const nlohmann::json& json, const char* key) { return count_at(json, key, 1); }

std::int64_t count_or(const nlohmann::json& json, const char* key, std::int64_t otherwise) {
    return json.contains(key) && json[key].is_number() ? count_at(json, key, 0) : otherwise;
}

MixtureOfExperts experts_at(const nlohmann::json& json) {
    MixtureOfExperts moe{.experts = count(json, "experts"),
                         .chosen = count(json, "topk"),
                         .ffn = count(json, "moe_ffn"),
                         .shared_ffn = count_or(json, "shared_expert_ffn", 0),
                         .first_dense = count_or(json, "first_dense_layers", 0)};
    if (has(json.value("config_note", ""), "every second layer")) moe.every = 2;
    moe.bias = json.value("family", "") == "GPT-OSS";
    return moe;
}

LatentAttention latent_at(const nlohmann::json& json) {
    return {.q_rank = count_or(json, "q_lora_rank", 0),
            .kv_rank = count(json, "kv_lora_rank"),
            .nope = count(json, "qk_nope_head_dim"),
            .rope = count(json, "qk_rope_head_dim"),
            .v = count(json, "v_head_dim")};
}

}  // namespace

std::optional<Precision> training_precision(const std::string& words) {
    static constexpr std::array<std::pair<std::string_view, Precision>, 7> kWords{
        {{"BF16", Precision::bf16},
         {"FP16", Precision::fp16},
         {"FP8-delayed", Precision::fp8},
         {"FP8-current", Precision::fp8},
         {"FP8-blockwise", Precision::fp8_blockwise},
         {"MXFP8", Precision::mxfp8},
         {"NVFP4", Precision::nvfp4}}};
    for (const auto& [word, precision] : kWords)
        if (word == words) return precision;
    return std::nullopt;
}

std::optional<Recompute> training_recompute(const std::string& words) {
    if (words.starts_with("full")) return Recompute{.all = true};
    if (words.starts_with("none")) return Recompute{};
    if (has(words, "attention") || has(words, "recompute-activations")) return Recompute{.attention = true};
    if (has(words, "per-op")) return Recompute{.half_products = true};
    if (has(words, "save dots")) return Recompute{.norms = true, .activations = true, .mlp = true};
    if (has(words, "RMSNorm")) return Recompute{.norms = true, .latent_up = true};
    if (words.starts_with("selective:")) {
        Recompute r{.norms = has(words, "layernorm"),
                    .activations = has(words, "moe_act"),
                    .mlp = has(words, "mlp"),
                    .latent_up = has(words, "mla_up")};
        r.experts = has(words, "+moe") && !has(words, "+moe_act");
        return r;
    }
    if (words.starts_with("selective")) return Recompute{.attention = true};
    return std::nullopt;
}

std::int64_t count_at(const nlohmann::json& json, const char* key, std::int64_t least) {
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    if (!json.contains(key) || !json[key].is_number_integer() || json[key].get<std::int64_t>() < least ||
        json[key].get<std::int64_t>() > kMost)
        throw std::runtime_error(fmt::format("expected {}: a whole number of {} to 2^24", key, least));
    return json[key].get<std::int64_t>();
}

TransformerModel measured_model(const nlohmann::json& json) {
    if (json.contains("config_incomplete") || json.contains("layer_mix"))
        throw std::runtime_error("layers of other kinds than attention, MLP and experts");
    const std::string family = json.value("family", "");
    TransformerModel model{.name = json.value("name", "")};
    model.layers = count(json, "layers");
    model.hidden = count(json, "hidden");
    model.heads = count(json, "heads");
    model.kv_heads = count(json, "kv_heads");
    model.head_dim = count_or(json, "head_dim", model.hidden / model.heads);
    model.vocabulary = count(json, "vocab");
    model.gated = json.value("gated_mlp", true);
    model.tied = json.value("tied_embeddings", false);
    model.qk_norm = json.value("qk_norm", false);
    const bool gpt = family == "Megatron GPT" || family == "GPT-3 style" || family == "MPT";
    model.bias = model.norm_bias = gpt;
    if (family == "GPT-OSS") {
        model.bias = model.sinks = true;
        model.window = 128, model.window_every = 2;
    }
    if (json.value("type", "dense") == "moe") model.experts = experts_at(json);
    model.ffn = count_or(json, "ffn", count_or(json, "dense_ffn", model.experts ? model.experts->ffn : 0));
    if (json.value("attention", "") == "MLA") model.latent = latent_at(json);
    if (json.value("attention", "") == "sliding window") model.window = 1024;
    model.mtp_layers = count_or(json, "mtp_layers", 0);
    return model;
}

}  // namespace fmsim
