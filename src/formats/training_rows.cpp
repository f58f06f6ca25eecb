// Measured training steps: a file of rows -> what was measured, and the plans that a row can mean.
//
// Sources say things in their own words; each rule here is a fact about a framework, and none looks at what was
// measured. What a source does not say (micro-batch, chunks, recomputation) stays open: several plans.
#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"
#include "training_words.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

struct Source {
    std::string name;
    std::string framework;
    std::string defaults;
};

bool has(const std::string& words, std::string_view part) { return words.find(part) != std::string::npos; }

std::string words_of(const json& row, const char* key) {
    if (!row.contains(key)) return "";
    return row[key].is_string() ? row[key].get<std::string>() : row[key].dump();
}

// A number, also in quotes ("8"); `otherwise` for words ("not stated").
std::uint32_t degree(const json& parallel, const char* key, std::uint32_t otherwise = 1) {
    if (!parallel.contains(key)) return otherwise;
    if (parallel[key].is_number()) return static_cast<std::uint32_t>(count_at(parallel, key, 0));
    const std::string text = words_of(parallel, key);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? number : otherwise;
}

// Frameworks as far as they differ in what runs.
struct Framework {
    bool torch{};     // PyTorch's own FSDP, eager unless compiled
    bool megatron{};  // Megatron-Core, NeMo, Transformer Engine
    bool old{};       // before fused attention
};
Framework framework_of(const Source& source, const json& row) {
    std::string words = source.framework + " " + words_of(row, "framework_version") + " " + words_of(row, "notes");
    Framework f;
    f.old = has(source.framework, "(2021)") || has(source.framework, "(2022)");
    const bool jax = has(words_of(row, "framework_version"), "MaxText") ||
                     has(words_of(row, "framework_version"), "PaxML") || has(words_of(row, "overlap"), "XLA");
    f.megatron = !jax && (has(words, "Megatron") || has(words, "NeMo")) && !has(source.framework, "AutoModel") &&
                 !has(source.framework, "torchtitan");
    f.torch = !jax && !f.megatron && !has(source.framework, "HAI-LLM");
    return f;
}

void set_sharding(TrainingPlan& plan, const Source& source, const json& row) {
    const json& parallel = row.at("parallel");
    const std::string words = words_of(parallel, "fsdp");
    const bool lower = has(words, "ZeRO-2 style");  // parameters stay after the forward pass
    if (has(words, "plain data parallel") || has(words, "ZeRO-0") || words == "none") {
        plan.sharding = Sharding::none;
    } else if (has(words, "SHARD_GRAD_OP")) {
        plan.sharding = Sharding::zero2;
    } else if ((has(words, "FSDP") || has(words, "FULL_SHARD") || has(words, "ZeRO-3")) && !lower) {
        plan.sharding = Sharding::zero3;
    } else {
        plan.sharding = Sharding::zero1;
    }
    if (plan.sharding < Sharding::zero2) return;
    plan.shard_group = degree(parallel, "shard_group", 0);
    const auto number_after = [&](std::string_view word) {
        const std::size_t at = words.find(word);
        if (at == std::string::npos) return;
        const int n = std::atoi(words.c_str() + at + word.size());
        if (n > 0) plan.shard_group = static_cast<std::uint32_t>(n);
    };
    number_after("over ");
    number_after("FSDP ");
    if (has(words, "shard in node")) plan.shard_group = row.at("hardware").value("gpus_per_node", 8U);
    plan.offload = has(words, "offload");
    // torchtitan keeps gathered parameters between micro-batches of a pipeline, and scatters gradients behind the last.
    if (plan.pipeline > 1 && has(source.framework, "torchtitan")) plan.sharding = Sharding::fsdp_whole;
    if (plan.shard_group > plan.data() * plan.context) plan.shard_group = 0;
}

void set_overlap(TrainingPlan& plan, const Source& source, const Framework& framework, const json& row) {
    const json& said = row.contains("overlap") ? row.at("overlap") : json();
    const std::string words = words_of(row, "overlap") + words_of(row, "recipe_extra");
    if (said.is_object()) {
        plan.overlap.tensor = said.value("tp_comm_overlap", false);
        plan.overlap.experts = said.value("moe_ep_1f1b", false);
        plan.overlap.parameters = said.value("param_gather", true);
        plan.overlap.gradients = said.value("grad_reduce", true);
        if (said.contains("dispatcher") && said["dispatcher"] != "nccl") plan.dispatch = Dispatch::once_a_domain;
    } else {
        plan.overlap.tensor =
            (has(words, "TP comm overlap") && !has(words, "TP comm overlap off")) || has(words, "TP, PP, DP overlap") ||
            (has(words, "async TP") && !has(words, "TP=False")) ||
            (has(words, "recipe default") && plan.tensor > 1 && has(source.defaults, "TP communication overlap"));
        const bool none =
            words == "none" || words == "not enabled" || framework.old || has(words, "Megatron-LM default");
        plan.overlap.gradients = plan.overlap.parameters = !none;
        plan.overlap.pipeline = words != "none" && words != "not enabled";
    }
    if (has(words, "DualPipe")) {
        plan.schedule = PipelineSchedule::dual_pipe;
        plan.overlap.experts = true;
    }
    if (has(words, "hybridep") || has(words, "deepep") || has(words, "DeepEP") || has(words, "DualPipe"))
        plan.dispatch = Dispatch::once_a_domain;
    // Megatron-Bridge's recipes: a dispatcher of that kind, and graphs from Blackwell and release 26 on.
    if (has(source.framework, "Bridge (Megatron-Core)") && !row.contains("recipe_extra") && plan.model.experts) {
        plan.dispatch = Dispatch::once_a_domain;
        plan.graph =
            row.at("hardware").value("gpu", "").find('B') != std::string::npos && row.value("release", "") >= "26";
        // From release 26.04 on its recipes of interleaved plans exchange tokens beside the other micro-batch.
        if (!said.is_object() && row.value("release", "") >= "26.04" && degree(row.at("parallel"), "vpp") > 1)
            plan.overlap.experts = true;
    }
    plan.graph =
        plan.graph || (has(words, "cuda_graph") && !has(words, "\"cuda_graph\":\"none\"")) || has(words, "CUDA graph");
    // Of layers alone: what does not depend on how many tokens an expert gets.
    plan.graph_experts = has(words, "full_iteration") || has(words, "full iteration");
    plan.fused =
        framework.megatron || !framework.torch || (has(words, "torch.compile") && !has(words, "compile=False"));
}

void set_precision(TrainingPlan& plan, const Source& source, const Framework& framework, const json& row) {
    const auto precision = training_precision(words_of(row, "precision"));
    if (!precision) throw std::runtime_error(fmt::format("precision {}", words_of(row, "precision")));
    plan.precision = *precision;
    const bool low = kind(plan.precision).bits <= 8;
    // Their recipes, and Megatron-Core's of experts, sum gradients in 16 bits.
    const bool nemo =
        has(source.framework, "NeMo") || has(source.framework, "Bridge") || has(source.framework, "moe_dev");
    plan.gradient_bits = framework.megatron && nemo ? 16 : 32;
    if (plan.precision == Precision::fp16) plan.gradient_bits = 16;
    if (has(words_of(row, "precision_source"), "PURE")) plan.gradient_bits = 16;
    if (low && (nemo || has(words_of(row, "overlap"), "FP8 all-gather") || has(source.defaults, "float8 all-gather")))
        plan.gather_bits = 8;
    const std::string gpu = row.at("hardware").value("gpu", "");
    const bool hopper = gpu.starts_with("H") || gpu == "GH200";
    if (framework.old)
        plan.attention = "unfused";
    else if (hopper)
        // NeMo AutoModel's models with experts are of Transformer Engine's modules, but for FlexAttention.
        plan.attention = framework.torch && !(has(source.framework, "AutoModel") && plan.model.experts &&
                                              !has(words_of(row, "overlap"), "FlexAttention"))
                             ? "flash_attention_2"
                             : "cudnn";
}

std::vector<std::int64_t> micro_batches(const TrainingPlan& plan, const Source& source, const json& batch) {
    if (batch.contains("micro_batch") && batch.at("micro_batch").is_number())
        return {count_at(batch, "micro_batch", 1)};
    // torchtitan cuts a rank's batch into as many micro-batches as there are stages.
    const std::int64_t stages = static_cast<std::int64_t>(plan.data()) * plan.pipeline;
    if (plan.pipeline > 1 && has(source.framework, "torchtitan") && plan.global_batch % stages == 0)
        return {plan.global_batch / stages};
    std::vector<std::int64_t> sizes;
    for (const std::int64_t size : {1, 2, 4})
        if (plan.global_batch % (size * plan.data()) == 0) sizes.push_back(size);
    return sizes;
}

std::vector<std::uint32_t> chunk_counts(const TrainingPlan& plan, const json& parallel) {
    constexpr std::uint32_t kNotSaid = std::numeric_limits<std::uint32_t>::max();
    if (const std::uint32_t said = degree(parallel, "vpp", kNotSaid); said != kNotSaid) return {std::max(said, 1U)};
    const std::string words = words_of(parallel, "vpp");
    if (plan.pipeline == 1 || words == "none" || has(words, "DualPipe")) return {1};
    std::vector<std::uint32_t> counts;
    for (const std::uint32_t count : {1U, 2U, 3U, 4U, 5U, 6U, 8U})
        if ((plan.model.layers % (plan.pipeline * count) == 0 ||
             (plan.model.layers + 2) % (plan.pipeline * count) == 0) &&
            plan.pipeline * count <= plan.model.layers)
            counts.push_back(count);
    if (counts.empty()) counts.push_back(1);
    return counts;
}

std::vector<Recompute> recomputes(const json& row) {
    const auto said = training_recompute(words_of(row, "recompute"));
    if (said) return {*said};
    // The least that fits is tried first.
    return {Recompute{}, Recompute{.norms = true, .activations = true}, Recompute{.all = true}};
}

TrainingPlan base_plan(const Source& source, const json& row) {
    const json& parallel = row.at("parallel");
    const json& batch = row.at("batch");
    TrainingPlan plan;
    plan.model = measured_model(row.at("model"));
    plan.gpus = static_cast<std::uint32_t>(count_at(row.at("hardware"), "gpus", 1));
    if (!batch.contains("global_batch") || !batch.at("global_batch").is_number())
        throw std::runtime_error("no global batch");
    plan.sequence = count_at(batch, "seq_len", 1);
    plan.global_batch = count_at(batch, "global_batch", 1);
    plan.tensor = degree(parallel, "tp");
    plan.pipeline = degree(parallel, "pp");
    plan.context = degree(parallel, "cp");
    plan.experts = plan.model.experts ? degree(parallel, "ep") : 1;
    const bool follows = has(source.defaults, "expert TP equals TP");
    plan.expert_tensor = plan.model.experts ? degree(parallel, "etp", follows ? plan.tensor : 1) : 1;
    const bool degrees =
        plan.tensor > 0 && plan.pipeline > 0 && plan.context > 0 && plan.experts > 0 && plan.expert_tensor > 0;
    if (!degrees || plan.data() == 0) throw std::runtime_error("a degree is 0, or there are fewer GPUs than they need");
    plan.sequence_parallel = plan.tensor > 1 && parallel.value("sequence_parallel", true);
    if (plan.model.bias && plan.model.experts == std::nullopt) plan.model.positions = plan.sequence;
    plan.frozen = row.contains("task") && (row.at("task") == "lora" || row.at("task") == "peft");
    const Framework framework = framework_of(source, row);
    set_sharding(plan, source, row);
    set_overlap(plan, source, framework, row);
    set_precision(plan, source, framework, row);
    return plan;
}

std::vector<TrainingPlan> plans_of(const Source& source, const json& row) {
    const TrainingPlan base = base_plan(source, row);
    std::vector<TrainingPlan> plans;
    for (const Recompute& recompute : recomputes(row))
        for (const std::int64_t size : micro_batches(base, source, row.at("batch")))
            for (const std::uint32_t chunks : chunk_counts(base, row.at("parallel"))) {
                TrainingPlan plan = base;
                plan.recompute = recompute;
                plan.micro_batch = size;
                plan.chunks = plan.pipeline > 1 ? chunks : 1;
                const std::int64_t places = static_cast<std::int64_t>(plan.pipeline) * plan.chunks;
                plan.ends_count = plan.model.layers % places != 0 && (plan.model.layers + 2) % places == 0;
                // Recipes of models whose layers do not come out even leave the last place, which has the loss, fewer.
                const std::int64_t most = (plan.model.layers + places - 1) / places;
                const std::int64_t last = plan.model.layers - (places - 1) * most;
                if (plan.model.layers % places != 0 && !plan.ends_count && plan.model.experts && last > 0)
                    plan.last_layers = static_cast<std::uint32_t>(last);
                plans.push_back(plan);
            }
    return plans;
}

MeasuredStep step_of(const Source& source, const json& row) {
    MeasuredStep step{.id = row.value("id", ""), .source = source.name};
    step.confidence = row.value("confidence", "");
    step.precision = words_of(row, "precision");
    const std::string recompute = words_of(row, "recompute_canonical");
    step.recompute_known = !recompute.empty() && recompute != "unknown" && recompute != "null";
    try {
        if (!row.contains("parallel") || !row.contains("model") || !row.contains("hardware"))
            throw std::runtime_error("no plan");
        step.gpu = row.at("hardware").value("gpu", "");
        step.experts = row.at("model").value("type", "dense") == "moe";
        if (row.value("config_incomplete", false)) throw std::runtime_error("the configuration is incomplete");
        const json& measured = row.at("measured");
        if (!measured.contains("step_time_s") || !measured.at("step_time_s").is_number())
            throw std::runtime_error("no measured step time");
        step.seconds = measured.at("step_time_s").get<double>();
        if (row.contains("algorithm") || source.name.starts_with("rl_"))
            throw std::runtime_error("a step of reinforcement learning: generation is part of it");
        if (!row.at("hardware").contains("cluster") || !row.at("hardware").at("cluster").is_string())
            throw std::runtime_error("the cluster is not known");
        step.cluster = row.at("hardware").at("cluster").get<std::string>();
        step.per_domain = row.at("hardware").value("gpus_per_domain", 0U);
        step.plans = plans_of(source, row);
        if (step.plans.empty()) throw std::runtime_error("no micro-batch fits the batch");
        if (step.plans.front().offload) throw std::runtime_error("parameters on the host");
    } catch (const std::exception& error) {
        step.why = error.what();
        step.plans.clear();
    }
    return step;
}

}  // namespace

bool is_measured_steps(std::string_view text) {
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("rows")) return false;
    const json& rows = document.at("rows");
    return rows.is_array() && !rows.empty() && rows.front().is_object() && rows.front().contains("measured");
}

std::vector<MeasuredStep> parse_measured_steps(std::string_view text, const std::string& file) {
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("rows") || !document.at("rows").is_array())
        throw InputError({{file, 0, "/rows", "expected a list of measured steps", "none"}});
    std::string name = file.substr(file.find_last_of('/') + 1);
    name = name.substr(0, name.find('.'));
    const Source source{name, words_of(document, "framework"), words_of(document, "defaults")};
    std::vector<MeasuredStep> steps;
    for (const json& row : document.at("rows")) {
        try {
            steps.push_back(step_of(source, row));
        } catch (const json::exception& error) {
            throw InputError({{file, 0, "/rows/" + std::to_string(steps.size()), "expected a measured step",
                               printable(error.what())}});
        }
    }
    return steps;
}

}  // namespace fmsim
