// Megatron-LM's flags and NeMo's YAML -> plans. Both have the same words, with dashes or underscores.
//
//   torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --tensor-model-parallel-size 8 --bf16 ...
//
// What NeMo composes with Hydra stands in no file: a reference is refused by its name.
#include <map>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"
#include "yaml_json.hpp"

namespace fmsim {
namespace {

// FlagWords by name, with underscores; a flag without a value is "true".
class FlagWords {
public:
    explicit FlagWords(std::string file) : file_(std::move(file)) {}

    void set(const std::string& key, std::string value) { words_[key] = std::move(value); }
    bool has(const std::string& key) const { return words_.contains(key) && words_.at(key) != "null"; }
    bool flag(const std::string& key) const {
        return has(key) && (words_.at(key) == "true" || words_.at(key) == "True" || words_.at(key) == "1");
    }
    std::string text(const std::string& key) const { return has(key) ? words_.at(key) : ""; }
    std::int64_t number(const std::string& key, std::int64_t otherwise) const {
        if (!has(key)) return otherwise;
        const std::string& word = words_.at(key);
        std::size_t used = 0;
        std::int64_t value = 0;
        try {
            value = std::stoll(word, &used);
        } catch (const std::exception&) {
            used = 0;
        }
        if (used == 0 || used != word.size() || value < 0) refuse(key, "expected a whole number", word);
        return value;
    }
    std::uint32_t degree(const std::string& key, std::uint32_t otherwise = 1) const {
        return static_cast<std::uint32_t>(number(key, otherwise));
    }
    std::int64_t need(const std::string& key) const {
        if (!has(key)) refuse(key, fmt::format("expected {}", key), "nothing");
        return number(key, 0);
    }
    [[noreturn]] void refuse(const std::string& key, std::string expected, std::string found) const {
        throw InputError({{file_, 0, "/" + key, std::move(expected), printable(found)}});
    }

private:
    std::string file_;
    std::map<std::string, std::string> words_;
};

// "([0]*3+[1]*58)": three dense layers first; a number n: each nth has experts.
void read_frequency(MixtureOfExperts& moe, const FlagWords& words) {
    const std::string text = words.text("moe_layer_freq");
    if (text.empty()) return;
    if (text.find('[') == std::string::npos) {
        moe.every = std::max<std::int64_t>(words.number("moe_layer_freq", 1), 1);
        return;
    }
    static const std::regex pattern(R"(\(?\[0\]\*(\d{1,4})\+\[1\]\*\d{1,4}\)?|\(?\[1\]\*\d{1,4}\)?)");
    std::smatch found;
    std::string bare;
    for (const char c : text)
        if (c != '"' && c != '\'' && c != ' ') bare += c;
    if (!std::regex_match(bare, found, pattern))
        words.refuse("moe_layer_freq", "expected a number, or dense layers first, such as ([0]*3+[1]*58)", text);
    if (found[1].matched) moe.first_dense = std::stoll(found[1].str());
}

void read_model(TransformerModel& model, const FlagWords& words) {
    model.layers = words.need("num_layers");
    model.hidden = words.need("hidden_size");
    model.heads = words.need("num_attention_heads");
    model.kv_heads = words.number("num_query_groups", model.heads);
    model.ffn = words.number("ffn_hidden_size", 4 * model.hidden);
    if (model.heads == 0) words.refuse("num_attention_heads", "expected a count above 0", "0");
    model.head_dim = words.number("kv_channels", model.hidden / model.heads);
    model.vocabulary = words.number("vocab_size", words.number("padded_vocab_size", 51200));
    model.gated = words.flag("swiglu") || words.text("activation").find("swiglu") != std::string::npos;
    model.bias = !words.flag("disable_bias_linear") && words.text("bias") != "false";
    model.norm_bias = words.text("normalization") != "RMSNorm" && words.text("normalization") != "rmsnorm";
    model.tied = !words.flag("untie_embeddings_and_output_weights") &&
                 words.text("share_embeddings_and_output_weights") != "false";
    if (words.text("position_embedding_type") != "rope") model.positions = words.number("max_position_embeddings", 0);
    for (const char* kind : {"hybrid_override_pattern", "is_hybrid_model", "mamba_state_dim"})
        if (words.has(kind)) words.refuse(kind, "expected layers of attention and MLPs, which are modelled", "others");
    model.qk_norm = words.flag("qk_layernorm");
    model.mtp_layers = words.number("mtp_num_layers", 0);
    if (words.flag("multi_latent_attention"))
        model.latent = LatentAttention{.q_rank = words.number("q_lora_rank", 0),
                                       .kv_rank = words.number("kv_lora_rank", 32),
                                       .nope = words.number("qk_head_dim", 128),
                                       .rope = words.number("qk_pos_emb_head_dim", 64),
                                       .v = words.number("v_head_dim", 128)};
    const std::int64_t experts = words.number("num_experts", words.number("num_moe_experts", 0));
    if (experts > 0)
        model.experts = MixtureOfExperts{.experts = experts,
                                         .chosen = words.number("moe_router_topk", 2),
                                         .ffn = words.number("moe_ffn_hidden_size", model.ffn),
                                         .shared_ffn = words.number("moe_shared_expert_intermediate_size", 0)};
    if (model.experts) read_frequency(*model.experts, words);
}

void read_recompute(Recompute& recompute, const FlagWords& words) {
    const std::string granularity =
        words.text("recompute_granularity") + words.text("activations_checkpoint_granularity");
    if (granularity == "full") recompute.all = true;
    if (granularity != "selective" && !words.flag("recompute_activations")) return;
    const std::string modules = words.text("recompute_modules");
    const auto has = [&](std::string_view word) { return modules.find(word) != std::string::npos; };
    recompute.attention = modules.empty() || has("core_attn");
    recompute.norms = has("layernorm");
    recompute.activations = has("moe_act");
    recompute.mlp = has("mlp");
    recompute.latent_up = has("mla_up_proj");
    std::istringstream list(modules);
    for (std::string word; list >> word;) recompute.experts = recompute.experts || word == "moe";
}

void read_plan(TrainingPlan& plan, const FlagWords& words) {
    plan.sequence = words.number("seq_length", words.number("encoder_seq_length", 0));
    plan.global_batch = words.need("global_batch_size");
    plan.micro_batch = words.number("micro_batch_size", 1);
    plan.tensor = words.degree("tensor_model_parallel_size");
    plan.pipeline = words.degree("pipeline_model_parallel_size");
    plan.context = words.degree("context_parallel_size");
    plan.experts = words.degree("expert_model_parallel_size");
    plan.expert_tensor = words.degree("expert_tensor_parallel_size", plan.experts > 1 ? plan.tensor : 1);
    plan.chunks = words.degree("virtual_pipeline_model_parallel_size");
    if (words.has("num_layers_per_virtual_pipeline_stage"))
        plan.chunks =
            static_cast<std::uint32_t>(plan.model.layers / plan.pipeline /
                                       std::max<std::int64_t>(words.need("num_layers_per_virtual_pipeline_stage"), 1));
    plan.ends_count =
        words.flag("account_for_embedding_in_pipeline_split") && words.flag("account_for_loss_in_pipeline_split");
    plan.sequence_parallel = words.flag("sequence_parallel");
    plan.sharding = words.flag("use_distributed_optimizer") || words.text("name") == "distributed_fused_adam"
                        ? Sharding::zero1
                        : Sharding::none;
    if (words.flag("use_torch_fsdp2") || words.flag("use_megatron_fsdp")) plan.sharding = Sharding::zero3;
    plan.overlap.gradients = words.flag("overlap_grad_reduce") || words.flag("overlap_grad_sync");
    plan.overlap.parameters = words.flag("overlap_param_gather") || words.flag("overlap_param_sync");
    plan.overlap.tensor = words.flag("tp_comm_overlap") || words.flag("ub_tp_comm_overlap");
    if (words.flag("fp16")) plan.precision = Precision::fp16;
    if (words.has("fp8") || words.has("fp8_format")) {
        plan.precision = Precision::fp8;
        if (words.text("fp8_recipe") == "mxfp8") plan.precision = Precision::mxfp8;
        if (words.text("fp8_recipe") == "blockwise") plan.precision = Precision::fp8_blockwise;
    }
    read_recompute(plan.recompute, words);
    const std::string dispatcher = words.text("moe_token_dispatcher_type");
    if (dispatcher == "flex") plan.dispatch = Dispatch::once_a_domain;
}

TrainingFile training_of(const FlagWords& words, const std::string& file, std::int64_t gpus) {
    TrainingFile training{.name = file};
    read_model(training.plan.model, words);
    read_plan(training.plan, words);
    training.plan.gpus = static_cast<std::uint32_t>(gpus);
    training.tokens = static_cast<double>(words.number("train_iters", 0)) *
                      static_cast<double>(training.plan.global_batch * training.plan.sequence);
    return training;
}

}  // namespace

TrainingFile import_megatron(std::string_view text, const std::string& file) {
    FlagWords words(file);
    std::istringstream in{std::string(text)};
    std::string key, last;
    for (std::string word; in >> word;) {
        if (word == "\\") continue;
        if (word.starts_with("--")) {
            key = word.substr(2);
            std::string value = "true";
            if (const std::size_t at = key.find('='); at != std::string::npos) {
                value = key.substr(at + 1);
                key.resize(at);
            }
            for (char& c : key) c = c == '-' ? '_' : c;
            words.set(key, value);
            last = key;
        } else if (!key.empty()) {
            words.set(key, word);
            key.clear();
        } else if (last == "recompute_modules") {  // a list
            words.set(last, words.text(last) + " " + word);
        }
    }
    const std::int64_t gpus = words.number("world_size", words.number("nproc_per_node", 1) * words.number("nnodes", 1));
    return training_of(words, file, gpus > 1 ? gpus : 0);
}

TrainingFile import_nemo(std::string_view text, const std::string& file) {
    FlagWords words(file);
    const std::vector<nlohmann::json> documents = yaml_documents(text, file);
    if (documents.empty() || !documents.front().is_object())
        throw InputError({{file, 1, "", "expected a mapping", "something else"}});
    const nlohmann::json& top = documents.front();
    const auto read = [&](const nlohmann::json& part) {
        if (!part.is_object()) return;
        for (const auto& [key, value] : part.items()) {
            if (!value.is_string()) continue;
            const auto word = value.get<std::string>();
            if (word.find("${") != std::string::npos || word == "???") continue;  // refused below where it is needed
            words.set(key, word);
        }
    };
    const nlohmann::json none = nlohmann::json::object();
    const nlohmann::json& model = top.contains("model") ? top["model"] : top;
    read(model);
    if (model.is_object() && model.contains("optim")) read(model["optim"]);
    const nlohmann::json& trainer = top.contains("trainer") ? top["trainer"] : none;
    FlagWords of_trainer(file);
    if (trainer.is_object())
        for (const auto& [key, value] : trainer.items())
            if (value.is_string()) of_trainer.set(key, value.get<std::string>());
    return training_of(words, file, of_trainer.number("num_nodes", 1) * of_trainer.number("devices", 1));
}

}  // namespace fmsim
