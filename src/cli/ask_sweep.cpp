// A collective over a range of sizes on a cluster.
#include <algorithm>

#include <fmt/format.h>

#include "ask.hpp"
#include "fmsim/analysis.hpp"

namespace fmsim::cli {
namespace {

void check_root(std::uint32_t root, std::size_t ranks) {
    if (root < ranks) return;
    throw InputError({{.file = "--root",
                       .line = 0,
                       .pointer = "",
                       .expected = fmt::format("expected a rank below {}", ranks),
                       .found = fmt::format("{}", root)}});
}

// What was asked, for the hash of the inputs.
std::string inputs_of(Collective collective, std::uint32_t root, const std::vector<Bytes>& sizes) {
    std::string words(name(collective));
    if (root > 0) words += fmt::format(" root {}", root);
    for (const Bytes size : sizes) words += fmt::format(" {}", size.count);
    return words + "\n";
}

// Where a group has several domains.
BytesPerSecond line_rate(const Topology& topology, const Group& group) {
    const DomainType& type = topology.type_of(group.parts.front().domain);
    if (group.parts.size() == 1 || !type.instance.nic) return {};
    return {type.instance.nic->rate.value * type.instance.nics * type.instances};
}

}  // namespace

Answer ask_sweep(const SweepQuestion& question, const ScenarioOptions& options) {
    const auto scenario = std::make_shared<const Scenario>(make_scenario(options));
    const Group group = group_of(placement_of(scenario->topology, options));
    check_root(question.root, group.places.size());
    SweepReport report{.cluster = scenario->topology.cluster.name,
                       .ranks = static_cast<std::uint32_t>(group.places.size()),
                       .domains = static_cast<std::uint32_t>(group.parts.size()),
                       .collective = question.collective,
                       .fidelity = scenario->predict.fidelity,
                       .line_rate = line_rate(scenario->topology, group),
                       .rows = {},
                       .measurements = question.measurements,
                       .provenance = {}};
    const auto predictions = std::make_shared<std::vector<Prediction>>();
    for (const Bytes size : question.sizes) {
        Workload work = in_turn({{to_text(size), question.collective, size}});
        auto& call = std::get<CollectiveCall>(work.jobs.front().programs.front().operations.front().action);
        call.root = question.root;
        Prediction made = predict(scenario->topology, group, work, scenario->nccl, scenario->predict);
        const Findings findings = explain(scenario->topology, made);
        report.rows.push_back(report_call(made.calls.front(), findings.calls.front()));
        if (question.measurements) report.rows.back().measured_us = measured_us(*question.measurements, size);
        if (!options.what_if.empty()) predictions->push_back(std::move(made));  // large; asked for what changes touch
    }
    report.provenance = provenance(
        *scenario, inputs_of(question.collective, question.root, question.sizes) + question.inputs, report.rows);
    report.provenance.warnings = warnings_of(scenario->topology, group.places);
    return {.outcome = outcome_of(report),
            .cluster = scenario->topology.cluster,
            .sweep = report,
            .run = {},
            .training = {},
            .plan = {},
            .step = {},
            .provenance = report.provenance,
            .no_effect = [scenario, predictions](const Change& change) -> std::optional<std::string> {
                std::optional<std::string> why;
                for (const Prediction& prediction : *predictions) {
                    why = no_effect(scenario->topology, prediction, change);
                    if (!why) return {};
                }
                return why;
            }};
}

}  // namespace fmsim::cli
