// fmsim run PLAN: the time of a training step.
#include "fmsim/training.hpp"

#include <fmt/format.h>

#include "commands.hpp"
#include "training.hpp"
#include "version.hpp"

namespace fmsim::cli {
namespace {

std::uint32_t gpus_of(const Cluster& cluster, std::uint32_t per_domain) {
    std::uint32_t gpus = 0;
    for (const DomainBlock& block : cluster.blocks)
        gpus += block.count * (per_domain > 0 ? std::min(per_domain, block.type.gpus()) : block.type.gpus());
    return gpus;
}

// Groups of consecutive ranks that lie in more than one domain; the ranks fill domains in order.
GroupsAcross across(std::uint32_t gpus, std::uint32_t size, std::uint32_t per_domain) {
    GroupsAcross groups{.groups = gpus / size};
    for (std::uint32_t i = 0; i < groups.groups; ++i)
        groups.domains += i * size / per_domain != ((i + 1) * size - 1) / per_domain ? 1 : 0;
    return groups;
}

void place(TrainingFile& file, const ScenarioOptions& options, const Cluster& cluster) {
    if (options.per_domain > 0) file.per_domain = options.per_domain;
    if (options.gpus > 0) file.plan.gpus = options.gpus;
    const std::uint32_t all = gpus_of(cluster, file.per_domain);
    if (file.plan.gpus == 0) file.plan.gpus = all;
    if (file.plan.gpus > all)
        throw Infeasible(fmt::format("the plan needs {} GPUs, the cluster has {}", file.plan.gpus, all));
}

}  // namespace

Provenance training_provenance(const std::string& inputs) {
    return {.fmsim_version = kVersion,
            .constants_hash = Catalogue::shipped().hash(),
            .inputs_hash = hash_of(inputs),
            .assumptions = {"tokens are spread evenly over experts but for a stated imbalance",
                            "groups of one family run side by side, those of different families one after another",
                            "no checkpoints, no evaluation, no failures"},
            .warnings = {}};
}

namespace {

// A plan on its cluster, and its step. `file` and `exchanges` stay where they are.
struct PlannedStep {
    TrainingFile file;
    std::string words;  // of the cluster
    Trainer trainer;
    Exchanges exchanges;
    StepPrediction step;
};
PlannedStep planned(const std::string& text, const std::string& path, const ScenarioOptions& options) {
    TrainingFile file = parse_training(text, path);
    const std::string words = options.cluster.empty() ? file.cluster : options.cluster;
    if (words.empty()) throw InputError({{"--cluster", 0, "", "expected a cluster, here or in the file", "none"}});
    const Cluster cluster = cluster_of(words);
    if (cluster.blocks.empty()) throw Infeasible("training plans need a cluster of machines, not a free graph");
    place(file, options, cluster);
    const Catalogue catalogue = Catalogue::shipped();
    const Gpu gpu = cluster.blocks.front().type.instance.gpu;
    const std::uint32_t per_domain = file.per_domain;
    PlannedStep made{.file = std::move(file),
                     .words = words,
                     .trainer = Trainer{gpu, catalogue.kernels(gpu), catalogue.training()},
                     .exchanges = Exchanges(cluster, per_domain, catalogue.nccl()),
                     .step = {}};
    try {
        made.step = predict_step(made.file.plan, made.trainer, made.exchanges);
    } catch (const InputError& error) {
        throw in_file(error, text, path);
    }
    return made;
}

}  // namespace

int run_training(const std::string& text, const std::string& path, const ScenarioOptions& options,
                 const Output& output) {
    const PlannedStep made = planned(text, path, options);
    const TrainingPlan& plan = made.file.plan;
    TrainingReport report{
        .cluster = made.exchanges.cluster().name, .gpus = plan.gpus, .file = &made.file, .step = &made.step};
    report.model_groups = across(plan.gpus, plan.tensor * plan.context, made.exchanges.domain_gpus());
    report.provenance = training_provenance(text + made.words);
    emit(output, write(report, output.format));
    return kGood;
}

int explain_training(const std::string& text, const std::string& path, const std::string& id,
                     const ScenarioOptions& options, const Output& output) {
    PlannedStep made = planned(text, path, options);
    const TrainingPlan& plan = made.file.plan;
    std::vector<SourcedValue> sources = sources_of(made.exchanges.cluster());
    const auto constants = Catalogue::shipped().file_sources("training.json");
    sources.insert(sources.end(), constants.begin(), constants.end());
    WhyReport report{
        .title = fmt::format("{} on {}, {} GPUs", made.file.name, made.exchanges.cluster().name, plan.gpus),
        .seconds = made.step.seconds,
        .tree = why_step(plan, made.trainer, made.exchanges, made.step, sources),
        .focus = id,
        .saturated = {},
        .levers = {},
        .use = {},
        .provenance = training_provenance(text + made.words)};
    check_focus(report);
    if (id.empty()) report.levers = step_levers(plan, made.trainer, made.exchanges, made.step);
    emit(output, write(report, output.format));
    return kGood;
}

}  // namespace fmsim::cli
