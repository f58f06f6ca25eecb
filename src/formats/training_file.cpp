// Training plans (schemas/training.json).
#include <array>
#include <utility>

#include <fmt/format.h>

#include "document.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"
#include "model_config.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

template <class T, std::size_t N>
T word_of(const Spot& spot, const std::array<std::pair<std::string_view, T>, N>& words) {
    for (const auto& [word, value] : words)
        if (spot.json() == word) return value;
    return words.front().second;  // the schema has refused others
}

std::uint32_t count_or(const Spot& spot, const std::string& key, std::uint32_t otherwise) {
    return spot.has(key) ? spot[key].count() : otherwise;
}
bool flag_or(const Spot& spot, const std::string& key, bool otherwise) {
    return spot.has(key) ? spot[key].json().get<bool>() : otherwise;
}

TransformerModel model_at(const Spot& spot, const std::string& file) {
    if (spot.json().is_string()) {
        TransformerModel model;
        try {
            model = model_preset(spot.name());
        } catch (const InputError& error) {
            spot.refuse(error.problems.front().expected, error.problems.front().found);
        }
        return model;
    }
    if (!spot.has("config")) return model_of(spot.json(), file, spot.pointer());
    std::string path = spot["config"].json().is_string() ? spot["config"].text() : "";
    const std::size_t folder = file.find_last_of('/');
    if (!path.empty() && path.front() != '/' && folder != std::string::npos) path = file.substr(0, folder + 1) + path;
    return parse_model_config(read_file(path), path);
}

Recompute recompute_at(const Spot& spot) {
    Recompute recompute;
    const std::array<std::pair<std::string_view, bool Recompute::*>, 8> modules{
        {{"full", &Recompute::all},
         {"attention", &Recompute::attention},
         {"norms", &Recompute::norms},
         {"activations", &Recompute::activations},
         {"mlp", &Recompute::mlp},
         {"latent_up", &Recompute::latent_up},
         {"experts", &Recompute::experts},
         {"half_products", &Recompute::half_products}}};
    const auto set = [&](const Spot& word) {
        if (word.json() == "none") return;
        if (word.json() == "selective") {
            recompute.attention = true;
            return;
        }
        for (const auto& [name, member] : modules)
            if (word.json() == name) {
                recompute.*member = true;
                return;
            }
        word.refuse(
            "expected none, full, selective, or modules: attention, norms, activations, mlp, latent_up, experts, "
            "half_products");
    };
    if (spot.json().is_string()) {
        set(spot);
    } else {
        for (std::size_t i = 0; i < spot.size(); ++i) set(spot[i]);
    }
    return recompute;
}

void read_parallel(TrainingPlan& plan, const Spot& spot) {
    static constexpr std::array<std::pair<std::string_view, PipelineSchedule>, 4> kSchedules{
        {{"1f1b", PipelineSchedule::one_f_one_b},
         {"gpipe", PipelineSchedule::gpipe},
         {"zero_bubble", PipelineSchedule::zero_bubble},
         {"dual_pipe", PipelineSchedule::dual_pipe}}};
    static constexpr std::array<std::pair<std::string_view, ContextExchange>, 3> kContext{
        {{"ring", ContextExchange::ring},
         {"all_gather", ContextExchange::all_gather},
         {"all_to_all", ContextExchange::all_to_all}}};
    plan.tensor = count_or(spot, "tensor", 1);
    plan.context = count_or(spot, "context", 1);
    plan.pipeline = count_or(spot, "pipeline", 1);
    plan.chunks = count_or(spot, "chunks", 1);
    plan.experts = count_or(spot, "experts", 1);
    plan.expert_tensor = count_or(spot, "expert_tensor", 1);
    plan.first_layers = count_or(spot, "first_layers", 0);
    plan.last_layers = count_or(spot, "last_layers", 0);
    plan.ends_count = flag_or(spot, "ends_count", false);
    plan.sequence_parallel = flag_or(spot, "sequence_parallel", true);
    if (spot.has("schedule")) plan.schedule = word_of(spot["schedule"], kSchedules);
    if (spot.has("context_exchange")) plan.context_exchange = word_of(spot["context_exchange"], kContext);
}

void read_data(TrainingPlan& plan, const Spot& spot) {
    static constexpr std::array<std::pair<std::string_view, Sharding>, 5> kShardings{
        {{"zero1", Sharding::zero1},
         {"none", Sharding::none},
         {"fsdp_whole", Sharding::fsdp_whole},
         {"zero2", Sharding::zero2},
         {"zero3", Sharding::zero3}}};
    if (spot.has("sharding")) plan.sharding = word_of(spot["sharding"], kShardings);
    plan.shard_group = count_or(spot, "shard_group", 0);
    plan.gradient_bits = count_or(spot, "gradient_bits", plan.gradient_bits);
    plan.gather_bits = count_or(spot, "gather_bits", plan.gather_bits);
    plan.state_bytes = count_or(spot, "state_bytes", plan.state_bytes);
}

Precision precision_at(const Spot& spot) {
    for (const PrecisionKind& row : kPrecisions)
        if (spot.json() == row.name) return row.precision;
    return Precision::bf16;
}

void read_plan(TrainingPlan& plan, const Spot& root) {
    plan.sequence = root["sequence"].count();
    plan.global_batch = root["global_batch"].count();
    plan.micro_batch = count_or(root, "micro_batch", 1);
    plan.gpus = count_or(root, "gpus", 0);
    if (root.has("precision")) plan.precision = precision_at(root["precision"]);
    if (root.has("attention")) plan.attention = root["attention"].name();
    if (root.has("recompute")) plan.recompute = recompute_at(root["recompute"]);
    if (root.has("parallel")) read_parallel(plan, root["parallel"]);
    if (root.has("data")) read_data(plan, root["data"]);
    if (root.has("overlap")) {
        const Spot overlap = root["overlap"];
        plan.overlap.gradients = flag_or(overlap, "gradients", plan.overlap.gradients);
        plan.overlap.parameters = flag_or(overlap, "parameters", plan.overlap.parameters);
        plan.overlap.tensor = flag_or(overlap, "tensor", plan.overlap.tensor);
        plan.overlap.pipeline = flag_or(overlap, "pipeline", plan.overlap.pipeline);
        plan.overlap.experts = flag_or(overlap, "experts", plan.overlap.experts);
    }
    if (root.has("stragglers")) {
        const Spot spot = root["stragglers"];
        if (spot.has("jitter")) plan.stragglers.jitter = spot["jitter"].number();
        plan.stragglers.slow_gpus = count_or(spot, "slow_gpus", 0);
        if (spot.has("slow_by")) plan.stragglers.slow_by = spot["slow_by"].number();
        plan.stragglers.seed = count_or(spot, "seed", 1);
    }
    if (root.has("dispatch") && root["dispatch"].json() == "once_a_domain") plan.dispatch = Dispatch::once_a_domain;
    plan.dispatch_bits = count_or(root, "dispatch_bits", 16);
    plan.fused = flag_or(root, "fused", true);
    plan.graph = flag_or(root, "graph", false);
    plan.graph_experts = flag_or(root, "graph_experts", true);
    plan.frozen = flag_or(root, "frozen", false);
}

}  // namespace

bool is_training(std::string_view text) {
    if (!may_say(text, "training")) return false;
    const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    return value.is_object() && value.contains("kind") && value["kind"] == "training";
}

std::optional<TrainingFile> training_plan(std::string_view text, const std::string& file) {
    if (is_training(text)) return parse_training(text, file);
    if (file.ends_with(".toml")) return import_torchtitan(text, file);
    if (file.ends_with(".yaml") || file.ends_with(".yml")) return import_nemo(text, file);
    if (text.find("--num-layers") != std::string_view::npos) return import_megatron(text, file);
    return std::nullopt;
}

TrainingFile parse_training(std::string_view text, const std::string& file) {
    Document document(text, file, "training");
    const Spot root = document.root();
    TrainingFile training{.name = root.has("name") ? root["name"].name() : file};
    if (root.has("cluster")) training.cluster = root["cluster"].name();
    training.per_domain = count_or(root, "per_domain", 0);
    if (root.has("tokens")) training.tokens = root["tokens"].number();
    training.plan.model = model_at(root["model"], file);
    read_plan(training.plan, root);
    document.finish();
    return training;
}

}  // namespace fmsim
