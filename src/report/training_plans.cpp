// Many training plans, ranked by tokens a second, so that plans of different batches can be compared.
#include <algorithm>

#include <fmt/format.h>

#include "calls.hpp"
#include "fmsim/training.hpp"

namespace fmsim {
namespace {

constexpr double kPercent = 100, kGiB = 1073741824;

bool before(const PlannedStep& a, const PlannedStep& b) {
    if (!a.step || !b.step) return a.step != nullptr && b.step == nullptr;
    return a.step->tokens_per_second_gpu > b.step->tokens_per_second_gpu;
}

Table table_of(const PlansReport& report, bool in_text) {
    Table table;
    table.columns = {{.key = "rank", .head = "rank"},
                     {.key = "plan", .head = "plan"},
                     {.key = "time_s", .head = "step", .unit = "(s)", .digits = in_text ? 5 : 17},
                     {.key = "tokens_per_s_per_gpu", .head = "tokens/s", .unit = "a GPU"},
                     {.key = "mfu_percent", .head = "MFU", .unit = "(%)", .digits = 3},
                     {.key = "bubble_percent", .head = "bubble", .unit = "(%)", .digits = 3},
                     {.key = "memory_gib", .head = "memory", .unit = "(GiB)", .digits = 3},
                     {.key = "why_not", .head = "why not"}};
    std::int64_t rank = 0;
    for (const PlannedStep& planned : report.plans) {
        const std::string name = printable(planned.file->name);
        if (!planned.step) {
            table.rows.push_back({{}, name, {}, {}, {}, {}, {}, planned.why_not});
            continue;
        }
        const StepPrediction& step = *planned.step;
        double memory = 0;
        for (const StagePrediction& stage : step.stages) memory = std::max(memory, stage.memory.all());
        table.rows.push_back({++rank,
                              name,
                              step.seconds,
                              step.tokens_per_second_gpu,
                              step.mfu * kPercent,
                              step.bubble * kPercent,
                              memory / kGiB,
                              {}});
    }
    return table;
}

std::string text_of(const PlansReport& report) {
    const auto predicted = std::count_if(report.plans.begin(), report.plans.end(),
                                         [](const PlannedStep& planned) { return planned.step != nullptr; });
    return fmt::format("# {} plans on {}, {} predicted; by tokens a second\n", report.plans.size(), report.cluster,
                       predicted) +
           to_text(table_of(report, true));
}

std::string json_of(const PlansReport& report) {
    nlohmann::ordered_json json;
    json["cluster"] = report.cluster;
    json["plans"] = to_json(table_of(report, false));
    return json_document(report.provenance, json);
}

}  // namespace

std::string write(PlansReport report, Format format) {
    std::stable_sort(report.plans.begin(), report.plans.end(), before);
    const auto csv_of = [](const PlansReport& r) { return to_csv(table_of(r, false)); };
    return in_format(format, report, text_of, json_of, csv_of);
}

}  // namespace fmsim
