// A model as Hugging Face's config.json describes it, and the presets, which are such files.
//
// Families name the same thing differently, and some things only by their model_type: biases, norms of queries and
// keys, activations without a gate. Multimodal models have the text model under text_config.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "embedded.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"
#include "model_config.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

constexpr std::string_view kFolder = "workloads/models/";

class Config {
public:
    Config(const json& value, std::string file, std::string pointer)
        : value_(value), file_(std::move(file)), pointer_(std::move(pointer)) {}

    // The first of the keys that is there.
    std::optional<std::int64_t> find(std::initializer_list<const char*> keys) const {
        for (const char* key : keys)
            if (value_.contains(key) && !value_[key].is_null()) {
                if (!value_[key].is_number_integer() || value_[key].get<std::int64_t>() < 0 ||
                    value_[key].get<std::int64_t>() > kMost)
                    refuse(key, "expected a whole number", value_[key].dump());
                return value_[key].get<std::int64_t>();
            }
        return std::nullopt;
    }
    std::int64_t need(std::initializer_list<const char*> keys) const {
        if (const auto found = find(keys)) return *found;
        refuse(*keys.begin(), fmt::format("expected {}", *keys.begin()), "nothing");
    }
    bool flag(const char* key, bool otherwise) const {
        return value_.contains(key) && value_[key].is_boolean() ? value_[key].get<bool>() : otherwise;
    }
    std::string type() const {
        return value_.contains("model_type") && value_["model_type"].is_string()
                   ? value_["model_type"].get<std::string>()
                   : "";
    }
    bool has(const char* key) const { return value_.contains(key) && !value_[key].is_null(); }
    [[noreturn]] void refuse(const char* key, std::string expected, std::string found) const {
        throw InputError({{file_, 0, pointer_ + "/" + key, std::move(expected), printable(found)}});
    }

private:
    static constexpr std::int64_t kMost = 1'000'000'000;
    const json& value_;
    std::string file_;
    std::string pointer_;
};

bool one_of(const std::string& word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<MixtureOfExperts> experts_of(const Config& config, std::int64_t ffn) {
    const auto count = config.find({"num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"});
    if (!count || *count == 0) return std::nullopt;
    MixtureOfExperts moe{.experts = *count,
                         .chosen = config.need({"num_experts_per_tok", "moe_top_k", "num_experts_per_token"})};
    moe.ffn = config.find({"moe_intermediate_size"}).value_or(ffn);
    moe.shared_ffn = config.find({"shared_expert_intermediate_size"}).value_or(0);
    if (moe.shared_ffn == 0) moe.shared_ffn = config.find({"n_shared_experts"}).value_or(0) * moe.ffn;
    moe.first_dense = config.find({"first_k_dense_replace"}).value_or(0);
    moe.every =
        std::max<std::int64_t>(config.find({"interleave_moe_layer_step", "decoder_sparse_step"}).value_or(1), 1);
    moe.bias = config.type() == "gpt_oss";
    return moe;
}

}  // namespace

TransformerModel model_of(const json& top, const std::string& file, const std::string& pointer) {
    const json& value = top.contains("text_config") && top["text_config"].is_object() ? top["text_config"] : top;
    const Config config(value, file, pointer);
    const std::string type = config.type();
    for (const char* key : {"layers_block_type", "hybrid_override_pattern", "ssm_cfg"})
        if (config.has(key)) config.refuse(key, "expected layers of attention, MLP and experts alone", "others");
    TransformerModel model;
    model.hidden = config.need({"hidden_size", "n_embd", "d_model"});
    model.layers = config.need({"num_hidden_layers", "n_layer", "n_layers"});
    model.heads = config.need({"num_attention_heads", "n_head", "n_heads"});
    model.kv_heads = config.find({"num_key_value_heads"}).value_or(model.heads);
    if (model.heads == 0) config.refuse("num_attention_heads", "expected a count above 0", "0");
    model.head_dim = config.find({"head_dim"}).value_or(model.hidden / model.heads);
    model.vocabulary = config.need({"vocab_size"});
    const bool gpt = one_of(type, {"gpt", "gpt2", "gpt_neox", "opt", "mpt"});
    model.ffn = gpt ? config.find({"intermediate_size", "n_inner", "ffn_dim"}).value_or(4 * model.hidden)
                    : config.need({"intermediate_size", "intermediate_size_mlp"});
    model.gated = !gpt && type != "nemotron";
    model.bias = gpt || config.flag("mlp_bias", false);
    model.norm_bias = gpt || type == "nemotron";
    model.qkv_bias = one_of(type, {"qwen2", "qwen2_moe"});
    model.qk_norm = one_of(type, {"qwen3", "qwen3_moe"});
    model.tied = config.flag("tie_word_embeddings", gpt);
    if (gpt && type != "gpt_neox")
        model.positions = config.find({"max_position_embeddings", "n_positions", "max_seq_len"}).value_or(0);
    model.experts = experts_of(config, model.ffn);
    if (config.has("kv_lora_rank")) {
        model.latent = LatentAttention{.q_rank = config.find({"q_lora_rank"}).value_or(0),
                                       .kv_rank = config.need({"kv_lora_rank"}),
                                       .nope = config.need({"qk_nope_head_dim"}),
                                       .rope = config.need({"qk_rope_head_dim"}),
                                       .v = config.need({"v_head_dim"})};
        model.head_dim = model.latent->nope + model.latent->rope;
    }
    if (type == "gpt_oss") {
        model.bias = model.sinks = true;
        model.window = config.find({"sliding_window"}).value_or(0);
        model.window_every = 2;
    }
    model.mtp_layers = config.find({"num_nextn_predict_layers"}).value_or(0);
    return model;
}

TransformerModel parse_model_config(std::string_view text, const std::string& file) {
    const json value = json::parse(text, nullptr, false);
    if (!value.is_object()) throw InputError({{file, 1, "", "expected a JSON object", "something else"}});
    return model_of(value, file, "");
}

std::vector<std::string> model_presets() {
    std::vector<std::string> names;
    for (const auto& [path, text] : embedded_files())
        if (path.starts_with(kFolder)) names.push_back(path.substr(kFolder.size(), path.size() - kFolder.size() - 5));
    return names;
}

TransformerModel model_preset(const std::string& name) {
    const auto found = embedded_files().find(std::string(kFolder) + name + ".json");
    if (found == embedded_files().end()) {
        const auto meant = nearest(name, model_presets());
        throw InputError(
            {{"", 0, "/model",
              meant ? fmt::format("expected a model, such as \"{}\"", *meant) : "expected a model of workloads/models",
              printable(name)}});
    }
    TransformerModel model = parse_model_config(found->second, found->first);
    model.name = name;
    return model;
}

}  // namespace fmsim
