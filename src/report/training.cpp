// A training step: its parts, its stages and their memory, its exchanges.
#include "fmsim/training.hpp"

#include <fmt/format.h>

#include "calls.hpp"
#include "outcome.hpp"

namespace fmsim {
namespace {

constexpr double kTera = 1e12, kGiB = 1073741824, kMega = 1e6;
constexpr double kPercent = 100;

// In the order of the step; parts that take nothing are left out of the text.
Table parts_table(const TrainingReport& report, bool all) {
    const StepPrediction& step = *report.step;
    Table table;
    table.columns = {{.key = "part", .head = "part"},
                     {.key = "seconds", .head = "time", .unit = "(s)"},
                     {.key = "share_percent", .head = "share", .unit = "(%)", .digits = 3},
                     {.key = "over", .head = "over"}};
    for (std::size_t i = 0; i < kStepParts; ++i) {
        const double seconds = step.parts().seconds[i];
        if (!all && seconds <= step.seconds * 1e-6) continue;
        const auto part = static_cast<StepPart>(i);
        const std::string links = over(report, part);
        table.rows.push_back({std::string(name(part)), seconds, seconds / step.seconds * kPercent,
                              links.empty() ? TableCell{} : TableCell{links}});
    }
    return table;
}

Table stages_table(const StepPrediction& step) {
    Table table;
    table.columns = {{.key = "stage", .head = "stage"},
                     {.key = "layers", .head = "layers"},
                     {.key = "busy_s", .head = "busy", .unit = "(s)"},
                     {.key = "bubble_s", .head = "bubble", .unit = "(s)"},
                     {.key = "parameters_gib", .head = "parameters", .unit = "(GiB)", .digits = 3},
                     {.key = "gradients_gib", .head = "gradients", .unit = "(GiB)", .digits = 3},
                     {.key = "state_gib", .head = "state", .unit = "(GiB)", .digits = 3},
                     {.key = "activations_gib", .head = "activations", .unit = "(GiB)", .digits = 3},
                     {.key = "buffers_gib", .head = "buffers", .unit = "(GiB)", .digits = 3},
                     {.key = "memory_gib", .head = "memory", .unit = "(GiB)", .digits = 3}};
    for (std::size_t i = 0; i < step.stages.size(); ++i) {
        const StagePrediction& stage = step.stages[i];
        const MemoryParts& m = stage.memory;
        table.rows.push_back({static_cast<std::int64_t>(i), stage.layers,
                              stage.parts.all() - stage.parts[StepPart::bubble] - stage.parts[StepPart::stragglers],
                              stage.parts[StepPart::bubble], m.parameters / kGiB, m.gradients / kGiB, m.state / kGiB,
                              m.activations / kGiB, (m.buffers + m.reserved) / kGiB, m.all() / kGiB});
    }
    return table;
}

Table exchanges_table(const TrainingReport& report) {
    Table table;
    table.columns = {{.key = "exchange", .head = "exchange"},
                     {.key = "ranks", .head = "ranks"},
                     {.key = "stride", .head = "stride"},
                     {.key = "megabytes", .head = "size", .unit = "(MB)", .digits = 4},
                     {.key = "time_us", .head = "time", .unit = "(us)", .digits = 4},
                     {.key = "over", .head = "over"}};
    for (const ExchangeUse& use : report.step->exchanges)
        table.rows.push_back({use.name, std::int64_t{use.family.size}, std::int64_t{use.family.stride},
                              use.bytes / kMega, use.seconds * kMega, over(report, use)});
    return table;
}

std::string outlay_text(const TrainingReport& report) {
    const Outlay& outlay = report.step->outlay;
    std::string text;
    const auto costs = [&](const std::optional<double>& usd, std::string_view how) {
        if (!usd) return;
        const double tokens =
            static_cast<double>(report.file->plan.global_batch) * static_cast<double>(report.file->plan.sequence);
        text += fmt::format("{}{:.4g} USD a step {}, {:.3g} a million tokens", text.empty() ? "" : "; ", *usd, how,
                            *usd / tokens * kMega);
    };
    costs(outlay.on_demand_usd, "on demand");
    costs(outlay.capacity_block_usd, "in capacity blocks");
    if (!text.empty()) text += "\n";
    text += fmt::format("a checkpoint is {:.3g} GiB an instance", outlay.checkpoint / kGiB);
    if (outlay.of_host_memory > 0) text += fmt::format(", {:.2g} % of its memory", outlay.of_host_memory * kPercent);
    if (outlay.of_drives > 0) text += fmt::format(", {:.2g} % of its drives", outlay.of_drives * kPercent);
    return text + "\n";
}

nlohmann::ordered_json outlay_json(const Outlay& outlay) {
    nlohmann::ordered_json json{{"instances", outlay.instances}};
    if (outlay.on_demand_usd) json["on_demand_usd"] = *outlay.on_demand_usd;
    if (outlay.capacity_block_usd) json["capacity_block_usd"] = *outlay.capacity_block_usd;
    json["checkpoint_bytes_an_instance"] = outlay.checkpoint;
    if (outlay.of_host_memory > 0) json["checkpoint_of_host_memory"] = outlay.of_host_memory;
    if (outlay.of_drives > 0) json["checkpoint_of_drives"] = outlay.of_drives;
    return json;
}

std::string text_of(const TrainingReport& report) {
    const StepPrediction& step = *report.step;
    const TrainingPlan& plan = report.file->plan;
    std::string text =
        fmt::format("# {} on {}: {} GPUs; tensor {}, context {}, pipeline {} x {}, data {}{}\n",
                    printable(report.file->name), report.cluster, report.gpus, plan.tensor, plan.context, plan.pipeline,
                    plan.chunks, plan.data(), plan.model.experts ? fmt::format(", experts {}", plan.experts) : "");
    text += fmt::format(
        "# {} sequences of {} in {} micro-batches of {}; {} of {} groups of tensor x context span NVLink domains\n",
        plan.global_batch, plan.sequence, plan.micro_batches(), plan.micro_batch, report.model_groups.domains,
        report.model_groups.groups);
    text += fmt::format(
        "step {:.4g} s, {:.1f} tokens/s a GPU, {:.1f} TFLOP/s a GPU (causal attention, no recomputation), MFU {:.1f} % "
        "of {} TFLOP/s {}\n",
        step.seconds, step.tokens_per_second_gpu, step.model_flops_gpu / kTera, step.mfu * kPercent, step.peak / kTera,
        name(plan.precision));
    if (report.file->tokens > 0)
        text += fmt::format("{:.3g} tokens take {:.1f} days\n", report.file->tokens,
                            days_to_train(report.file->tokens, step.tokens_per_second_gpu, plan.gpus));
    text += outlay_text(report);
    text += fmt::format("# stage {}, which waits least; its parts add up to the step\n", step.slowest);
    text += to_text(parts_table(report, false));
    text += to_text(stages_table(step));
    return text + to_text(exchanges_table(report));
}

std::string json_of(const TrainingReport& report) {
    const StepPrediction& step = *report.step;
    const TrainingPlan& plan = report.file->plan;
    const ParameterCounts counts = parameters_of(plan.model);
    nlohmann::ordered_json json;
    json["cluster"] = report.cluster;
    json["gpus"] = report.gpus;
    json["time_s"] = step.seconds;
    json["tokens_per_s_per_gpu"] = step.tokens_per_second_gpu;
    json["model_tflops_per_gpu"] = step.model_flops_gpu / kTera;
    json["flop_convention"] = "forward and backward, causal attention, active experts, no recomputation";
    json["flops_per_token"] = step.flops.causal();
    json["flops_per_token_full_attention"] = step.flops.full();
    json["mfu"] = step.mfu;
    json["peak_tflops"] = step.peak / kTera;
    json["bubble_share"] = step.bubble;
    json["parameters"] = counts.all() - counts.mtp;
    json["active_parameters"] = counts.active;
    if (report.file->tokens > 0)
        json["days"] = days_to_train(report.file->tokens, step.tokens_per_second_gpu, plan.gpus);
    json["outlay"] = outlay_json(step.outlay);
    json["model_groups"] = {{"groups", report.model_groups.groups}, {"across_domains", report.model_groups.domains}};
    json["slowest_stage"] = step.slowest;
    json["breakdown"] = to_json(parts_table(report, true));
    json["stages"] = to_json(stages_table(step));
    json["exchanges"] = to_json(exchanges_table(report));
    return json_document(report.provenance, json);
}

}  // namespace

std::string write(const TrainingReport& report, Format format) {
    const auto csv_of = [](const TrainingReport& r) { return to_csv(parts_table(r, true)); };
    return in_format(format, report, text_of, json_of, csv_of);
}

}  // namespace fmsim
