// What a report says in short: a row an operation, a size, a part or an exchange of a step.
#include "outcome.hpp"

#include <array>

#include <fmt/format.h>

#include "fmsim/training.hpp"

namespace fmsim {
namespace {

constexpr double kMicro = 1e-6, kMega = 1e6;

OutcomeRow row_of(const std::string& called, const ReportedCall& reported) {
    const CallPrediction& call = reported.predicted;
    const CallFinding& finding = reported.finding;
    OutcomeRow row{
        .name = called,
        .seconds = microseconds(call.time()) * kMicro,
        .parts = {{kLaunchPart, microseconds(finding.launch) * kMicro},
                  {kWaitingPart, microseconds(finding.waiting) * kMicro},
                  {call.kind == "compute" ? kComputingPart : kBytesPart, microseconds(finding.working) * kMicro}},
        .limited_by = finding.limited_by,
        .busiest = finding.busiest,
        .how = ""};
    if (!call.algorithm.empty()) row.how = how_words(call.algorithm, name(call.protocol), call.channels);
    return row;
}

// The groups whose exchanges a part of the step is made of, as the names of their exchanges begin.
struct PartGroup {
    StepPart part{};
    std::string_view group;
};
constexpr std::array kPartGroups{
    PartGroup{StepPart::tensor, "tensor "},          PartGroup{StepPart::context, "context "},
    PartGroup{StepPart::expert_exchange, "experts"}, PartGroup{StepPart::data, "data "},
    PartGroup{StepPart::data, "expert data "},       PartGroup{StepPart::pipeline, "pipeline "},
};

}  // namespace

std::string over(const TrainingReport& report, const ExchangeUse& use) {
    return use.domains > 1 ? report.fabric : "NVLink";
}

std::string over(const TrainingReport& report, StepPart part) {
    std::string widest;
    for (const auto& [its, group] : kPartGroups)
        for (const ExchangeUse& use : report.step->exchanges)
            if (its == part && use.name.starts_with(group) && widest != report.fabric) widest = over(report, use);
    return widest;
}

Outcome outcome_of(const SweepReport& report) {
    Outcome outcome{.name = report.cluster, .seconds = {}, .rows = {}};
    for (const ReportedCall& call : report.rows)
        outcome.rows.push_back(row_of(to_text(call.predicted.call.size), call));
    return outcome;
}

Outcome outcome_of(const RunReport& report) {
    Outcome outcome{.name = report.cluster, .seconds = seconds(report.end), .rows = {}};
    for (const ReportedCall& call : report.operations) outcome.rows.push_back(row_of(call.predicted.call.name, call));
    return outcome;
}

Outcome outcome_of(const TrainingReport& report) {
    const StepPrediction& step = *report.step;
    Outcome outcome{.name = report.cluster, .seconds = step.seconds, .rows = {}};
    for (std::size_t i = 0; i < kStepParts; ++i) {
        const auto part = static_cast<StepPart>(i);
        outcome.rows.push_back({.name = std::string(name(part)),
                                .seconds = step.parts()[part],
                                .parts = {},
                                .limited_by = over(report, part),
                                .busiest = "",
                                .how = ""});
    }
    for (const ExchangeUse& use : step.exchanges)
        outcome.rows.push_back({.name = exchange_words(use.name, use.bytes / kMega),
                                .seconds = use.seconds * kMega * kMicro,
                                .parts = {},
                                .limited_by = over(report, use),
                                .busiest = "",
                                .how = ""});
    return outcome;
}

}  // namespace fmsim
