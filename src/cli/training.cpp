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

}  // namespace

void place(TrainingFile& file, const ScenarioOptions& options, const Cluster& cluster) {
    if (options.per_domain > 0) file.per_domain = options.per_domain;
    if (options.gpus > 0) file.plan.gpus = options.gpus;
    const std::uint32_t all = gpus_of(cluster, file.per_domain);
    if (file.plan.gpus == 0) file.plan.gpus = all;
    if (file.plan.gpus > all)
        throw Infeasible(fmt::format("the plan needs {} GPUs, the cluster has {}", file.plan.gpus, all));
}

Provenance training_provenance(const std::string& inputs) {
    return {.fmsim_version = kVersion,
            .constants_hash = Catalogue::shipped().hash(),
            .inputs_hash = hash_of(inputs),
            .assumptions = {"tokens are spread evenly over experts but for a stated imbalance",
                            "groups of one family run side by side, those of different families one after another",
                            "no checkpoints, no evaluation, no failures"},
            .warnings = {}};
}

int run_training(TrainingFile file, const std::string& text, const std::string& path, const ScenarioOptions& options,
                 const Output& output) {
    const std::string words = options.cluster.empty() ? file.cluster : options.cluster;
    if (words.empty()) throw InputError({{"--cluster", 0, "", "expected a cluster, here or in the file", "none"}});
    const Cluster cluster = cluster_of(words);
    if (cluster.blocks.empty()) throw Infeasible("training plans need a cluster of machines, not a free graph");
    place(file, options, cluster);
    const Catalogue catalogue = Catalogue::shipped();
    const Gpu gpu = cluster.blocks.front().type.instance.gpu;
    Exchanges exchanges(cluster, file.per_domain, catalogue.nccl());
    StepPrediction step;
    try {
        complete(file, catalogue.kernels(gpu));
        step = predict_step(file.plan, Trainer{gpu, catalogue.kernels(gpu), catalogue.training()}, exchanges);
    } catch (const InputError& error) {
        throw in_file(error, text, path);
    }
    TrainingReport report{.cluster = cluster.name, .gpus = file.plan.gpus, .file = &file, .step = &step};
    report.model_groups = across(file.plan.gpus, file.plan.tensor * file.plan.context, exchanges.domain_gpus());
    report.provenance = training_provenance(text + words);
    emit(output, write(report, output.format));
    return kGood;
}

}  // namespace fmsim::cli
