// torchtitan's TOML -> plans.
//
//   [model]        name = "llama3", flavor = "8B"
//   [training]     local_batch_size = 2, seq_len = 8192, compile = true
//   [parallelism]  data_parallel_shard_degree = -1, tensor_parallel_degree = 8
//
// Older files have degrees and batches in [training] and [experimental]. A degree of -1 is what the others leave of the
// GPUs, which the file does not say, so batches and shards of a copy wait for the cluster (TrainingFile). Schedules
// that are not modelled are refused by name.
#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#define TOML_HEADER_ONLY 1
// A key that begins with neither a letter nor a quote is only asserted by the parser: a crash, or with NDEBUG worse.
#pragma push_macro("NDEBUG")
#undef NDEBUG
constexpr void must_hold(bool condition) {
    if (!condition) throw std::logic_error("a key or value that is none");
}
#define TOML_ASSERT(condition) must_hold(static_cast<bool>(condition))
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"

namespace fmsim {
namespace {

using Names = std::vector<std::string_view>;

// The parser's tables of Unicode end in undefined behaviour for some letters outside of strings and comments. None that
// we read is outside ASCII: a question mark stands for the others, which the parser refuses where a word should be.
std::string ascii_of(std::string_view text) {
    static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    std::string ascii(text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0));
    std::replace_if(
        ascii.begin(), ascii.end(), [](char c) { return static_cast<unsigned char>(c) > 127; }, '?');
    return ascii;
}

class Settings {
public:
    Settings(std::string_view text, const std::string& file) : file_(file) {
        try {
            root_ = toml::parse(ascii_of(text), file);
        } catch (const toml::parse_error& error) {
            throw InputError(
                {{file, error.source().begin.line, "", "expected TOML", printable(std::string(error.description()))}});
        } catch (const std::logic_error& error) {
            throw InputError({{file, 0, "", "expected TOML", error.what()}});
        }
    }
    // The first of the names ("table.key") that the file has.
    toml::node_view<const toml::node> find(const Names& names) const {
        for (const std::string_view name : names)
            if (const auto node = std::as_const(root_).at_path(name)) return node;
        return {};
    }
    std::int64_t number(const Names& names, std::int64_t otherwise) const {
        const auto node = find(names);
        if (!node) return otherwise;
        const auto value = node.value_exact<std::int64_t>();
        if (!value) refuse(names, "expected a whole number");
        return *value;
    }
    std::uint32_t degree(const Names& names) const {
        const std::int64_t value = number(names, 1);
        constexpr std::int64_t kMost = 1 << 20;
        if (value < 1 || value > kMost) refuse(names, "expected a degree of 1 or more");
        return static_cast<std::uint32_t>(value);
    }
    std::string text(const Names& names, std::string otherwise = "") const {
        const auto node = find(names);
        if (!node) return otherwise;
        const auto value = node.value_exact<std::string>();
        if (!value) refuse(names, "expected a text");
        return *value;
    }
    bool flag(const Names& names) const {
        const auto node = find(names);
        if (!node) return false;
        const auto value = node.value_exact<bool>();
        if (!value) refuse(names, "expected true or false");
        return *value;
    }
    [[noreturn]] void refuse(const Names& names, std::string expected) const {
        std::string pointer = "/" + std::string(names.front());
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        const auto node = find(names);
        std::ostringstream found;
        if (node) found << node;
        throw InputError({{file_, node ? node.node()->source().begin.line : 0, std::move(pointer), std::move(expected),
                           node ? printable(found.str()) : "nothing"}});
    }

private:
    std::string file_;
    toml::table root_;
};

std::string lower(std::string word) {
    for (char& c : word) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return word;
}

TransformerModel model_at(const Settings& file) {
    const Names name{"model.name"}, flavor{"model.flavor"};
    const std::string family = lower(file.text(name)), size = lower(file.text(flavor));
    if (family.empty()) file.refuse(name, "expected the name of a model");
    const std::vector<std::string> known = model_presets();
    const auto is_known = [&](const std::string& word) {
        return std::find(known.begin(), known.end(), word) != known.end();
    };
    if (is_known(family + "-" + size)) return model_preset(family + "-" + size);
    if (family == "deepseek-v3" && size == "671b") return model_preset("deepseek-v3");
    file.refuse(flavor, fmt::format("expected a flavor of {} that workloads/models has", printable(family)));
}

void read_schedule(TrainingPlan& plan, const Settings& file) {
    const Names names{"parallelism.pipeline_parallel_schedule", "experimental.pipeline_parallel_schedule"};
    const std::string schedule = lower(file.text(names, "1F1B"));
    const std::int64_t each = file.number({"parallelism.pipeline_parallel_layers_per_stage"}, 0);
    if (schedule == "gpipe") {
        plan.schedule = PipelineSchedule::gpipe;
    } else if (schedule == "interleaved1f1b") {
        plan.chunks = 2;
        if (each > 0)
            plan.chunks =
                static_cast<std::uint32_t>(std::max<std::int64_t>(plan.model.layers / (each * plan.pipeline), 1));
    } else if (schedule != "1f1b") {
        file.refuse(names, "expected a schedule that is modelled: 1F1B, Interleaved1F1B or GPipe");
    }
    if (plan.pipeline == 1) plan.chunks = 1;
}

// When FSDP cuts parameters again: by default after each pass, but in pipelines never.
void read_reshard(TrainingPlan& plan, const Settings& file) {
    if (plan.sharding != Sharding::zero3) return;
    const Names names{"parallelism.fsdp_reshard_after_forward"};
    const std::string policy = lower(file.text(names, "default"));
    if (policy != "default" && policy != "always" && policy != "never")
        file.refuse(names, "expected \"default\", \"always\" or \"never\"");
    if (plan.pipeline > 1 && policy != "always") plan.sharding = Sharding::fsdp_whole;
    if (plan.pipeline == 1 && policy == "never") plan.sharding = Sharding::zero2;
}

void read_recompute(TrainingPlan& plan, const Settings& file) {
    const std::string mode = file.text({"activation_checkpoint.mode"}, "selective");
    if (mode == "full") plan.recompute.all = true;
    if (mode != "selective") return;
    const Names option{"activation_checkpoint.selective_ac_option"};
    const std::string each = file.text(option, "op");
    if (each == "1")
        plan.recompute.all = true;
    else if (each == "op")
        plan.recompute.half_products = true;
    else
        file.refuse(option, "expected \"op\", or \"1\": every layer");
}

void read_precision(TrainingPlan& plan, const Settings& file) {
    std::ostringstream words;
    if (const auto converters = file.find({"model.converters"})) words << converters;
    if (words.str().find("mx") != std::string::npos)
        plan.precision = Precision::mxfp8;
    else if (words.str().find("float8") != std::string::npos || file.flag({"float8.enable_float8_linear"}))
        plan.precision = Precision::fp8;
    if (plan.precision != Precision::bf16 &&
        file.flag({"float8.enable_fsdp_float8_all_gather", "quantize.linear.float8.enable_fsdp_float8_all_gather"}))
        plan.gather_bits = 8;
}

}  // namespace

TrainingFile import_torchtitan(std::string_view text, const std::string& file) {
    const Settings settings(text, file);
    TrainingFile training{.name = settings.text({"job.description"}, file)};
    TrainingPlan& plan = training.plan;
    plan.model = model_at(settings);
    plan.sequence = settings.number({"training.seq_len"}, 2048);
    plan.tensor = settings.degree({"parallelism.tensor_parallel_degree", "training.tensor_parallel_degree"});
    plan.context = settings.degree({"parallelism.context_parallel_degree", "experimental.context_parallel_degree"});
    plan.pipeline = settings.degree({"parallelism.pipeline_parallel_degree", "experimental.pipeline_parallel_degree"});
    plan.experts = settings.degree({"parallelism.expert_parallel_degree"});
    plan.expert_tensor = settings.degree({"parallelism.expert_tensor_parallel_degree"});
    training.copies =
        settings.degree({"parallelism.data_parallel_replicate_degree", "training.data_parallel_replicate_degree"});
    const Names shard{"parallelism.data_parallel_shard_degree", "training.data_parallel_shard_degree",
                      "training.data_parallel_degree"};
    const std::int64_t shards = settings.number(shard, -1);
    if (shards == 0 || shards < -1) settings.refuse(shard, "expected -1, or a degree of 1 or more");
    plan.sharding = shards == 1 ? Sharding::none : Sharding::zero3;
    read_reshard(plan, settings);
    if (shards > 0)
        plan.gpus = static_cast<std::uint32_t>(shards) * training.copies * plan.context * plan.tensor * plan.pipeline;
    training.copy_batch = settings.number({"training.local_batch_size", "training.batch_size"}, 8);
    plan.global_batch = std::max<std::int64_t>(settings.number({"training.global_batch_size"}, 0), 0);
    plan.micro_batch = training.copy_batch;
    if (plan.pipeline > 1) plan.micro_batch = settings.number({"parallelism.pipeline_parallel_microbatch_size"}, 1);
    read_schedule(plan, settings);
    read_recompute(plan, settings);
    read_precision(plan, settings);
    plan.fused = settings.flag({"compile.enable", "training.compile"});
    plan.overlap.tensor =
        settings.flag({"parallelism.enable_async_tensor_parallel", "experimental.enable_async_tensor_parallel"});
    training.prefers = "flash_attention_2";
    return training;
}

}  // namespace fmsim
