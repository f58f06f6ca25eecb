// A training plan on a cluster: the time of a step.
#include "fmsim/training.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "ask.hpp"
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

}  // namespace

void place(TrainingFile& file, const ScenarioOptions& options, const Cluster& cluster) {
    if (options.per_domain > 0) file.per_domain = options.per_domain;
    if (options.gpus > 0) file.plan.gpus = options.gpus;
    const std::uint32_t all = gpus_of(cluster, file.per_domain);
    if (file.plan.gpus == 0) file.plan.gpus = all;
    if (file.plan.gpus > all)
        throw Infeasible(fmt::format("the plan needs {} GPUs, the cluster has {}", file.plan.gpus, all));
}

namespace {

// Bytes of a plan are known by what its exchanges cross; the layers above the NICs, and who sits where, it leaves out.
std::optional<std::string> no_effect(const StepPrediction& step, const Change& change) {
    static const std::vector<std::string> kTaken{"cluster", "gpus", "per_domain", "spreading", "rail_policy"};
    const auto any = [&](auto crosses) { return std::any_of(step.exchanges.begin(), step.exchanges.end(), crosses); };
    const bool inside = change.thing == "nvlink" || change.thing == "nvswitch";
    switch (reach_of(change)) {
        case ChangeReach::links:
            if (inside ? !step.exchanges.empty() : any([](const ExchangeUse& use) { return use.domains > 1; }))
                return {};
            return "0 bytes";
        case ChangeReach::kernels:
            if (!step.exchanges.empty()) return {};
            return "no communication";
        case ChangeReach::memory:
            return "it says what fits, not how long it takes";
        case ChangeReach::network:
            return "a training plan leaves out the layers above the NICs";
        case ChangeReach::computing:
            return {};
        case ChangeReach::all:
            break;
    }
    if (!change.property.empty() || std::find(kTaken.begin(), kTaken.end(), change.thing) != kTaken.end()) return {};
    return "a training plan has no such word: its ranks fill the domains in order, and NCCL chooses";
}

}  // namespace

Provenance training_provenance(const std::string& inputs, const Catalogue& catalogue) {
    return {.fmsim_version = kVersion,
            .constants_hash = catalogue.hash(),
            .inputs_hash = hash_of(inputs),
            .assumptions = {"tokens are spread evenly over experts but for a stated imbalance",
                            "groups of one family run side by side, those of different families one after another",
                            "no checkpoints, no evaluation, no failures"},
            .warnings = {}};
}

namespace {

// A plan on its cluster, and its step.
struct Planned {
    std::shared_ptr<TrainingFile> file;
    ScenarioOptions words;
    Cluster cluster;
    Trainer trainer;
    Exchanges exchanges;
    std::shared_ptr<StepPrediction> step;
};
Planned planned(const FileQuestion& question, const ScenarioOptions& options) {
    const auto file = std::make_shared<TrainingFile>(training_plan(question.text, question.file).value());
    ScenarioOptions words = options;
    if (words.cluster.empty()) words.cluster = file->cluster;
    if (words.cluster.empty())
        throw InputError({{"--cluster", 0, "", "expected a cluster, here or in the file", "none"}});
    const Cluster cluster = cluster_of(words);
    if (cluster.blocks.empty()) throw Infeasible("training plans need a cluster of machines, not a free graph");
    place(*file, words, cluster);
    const Gpu& gpu = cluster.blocks.front().type.instance.gpu;
    const KernelFacts kernels = words.catalogue->kernels(gpu);
    Planned made{.file = file,
                 .words = words,
                 .cluster = cluster,
                 .trainer = Trainer{gpu, kernels, words.catalogue->training()},
                 .exchanges = Exchanges(cluster, file->per_domain, words.catalogue->nccl()),
                 .step = std::make_shared<StepPrediction>()};
    try {
        complete(*file, kernels);
        *made.step = predict_step(file->plan, made.trainer, made.exchanges);
    } catch (const InputError& error) {
        throw in_file(error, question.text, question.file);
    }
    return made;
}

Provenance provenance_of(const Planned& made, const std::string& text) {
    std::string inputs = text + made.words.cluster;
    for (const Change& change : made.words.changes) inputs += change.text;
    return training_provenance(inputs, *made.words.catalogue);
}

}  // namespace

Answer ask_training(const FileQuestion& question, const ScenarioOptions& options) {
    const Planned made = planned(question, options);
    const TrainingPlan& plan = made.file->plan;
    const InstanceType& type = made.cluster.blocks.front().type.instance;
    TrainingReport report{
        .cluster = made.cluster.name, .gpus = plan.gpus, .file = made.file.get(), .step = made.step.get()};
    report.model_groups = across(plan.gpus, plan.tensor * plan.context, made.exchanges.domain_gpus());
    report.fabric = type.nic ? type.nic->fabric : "network";
    report.provenance = provenance_of(made, question.text);
    return {.outcome = outcome_of(report),
            .cluster = made.cluster,
            .sweep = {},
            .run = {},
            .training = report,
            .plan = made.file,
            .step = made.step,
            .provenance = report.provenance,
            .no_effect = [step = made.step](const Change& change) { return no_effect(*step, change); }};
}

int explain_training(const FileQuestion& question, const std::string& id, const ScenarioOptions& options,
                     const Output& output) {
    Planned made = planned(question, options);
    const TrainingPlan& plan = made.file->plan;
    std::vector<SourcedValue> sources = sources_of(made.cluster);
    const auto constants = made.words.catalogue->file_sources("training.json");
    sources.insert(sources.end(), constants.begin(), constants.end());
    WhyReport report{.title = fmt::format("{} on {}, {} GPUs{}", made.file->name, made.cluster.name, plan.gpus,
                                          changes_text(options)),
                     .seconds = made.step->seconds,
                     .tree = why_step(plan, made.trainer, made.exchanges, *made.step, sources),
                     .focus = id,
                     .saturated = {},
                     .levers = {},
                     .use = {},
                     .provenance = provenance_of(made, question.text)};
    check_focus(report);
    if (id.empty()) report.levers = step_levers(plan, made.trainer, made.exchanges, *made.step);
    emit(output, write(report, output.format));
    return kGood;
}

}  // namespace fmsim::cli
