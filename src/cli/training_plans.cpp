// fmsim run PLANS: the times of many training plans, ranked.
#include <map>

#include "commands.hpp"
#include "training.hpp"

namespace fmsim::cli {
namespace {

// By GPUs of a domain, since a collective's time depends on them. Nothing else passes from a plan to the next.
class Shared {
public:
    Shared(const Cluster& cluster, Nccl nccl, bool keep) : cluster_(cluster), nccl_(std::move(nccl)), keep_(keep) {}

    Exchanges& exchanges(std::uint32_t per_domain) {
        if (!keep_) by_domain_.clear();
        const auto found = by_domain_.find(per_domain);
        if (found != by_domain_.end()) return found->second;
        return by_domain_.emplace(per_domain, Exchanges(cluster_, per_domain, nccl_)).first->second;
    }

private:
    const Cluster& cluster_;
    Nccl nccl_;
    bool keep_;
    std::map<std::uint32_t, Exchanges> by_domain_;
};

}  // namespace

int run_training_plans(const std::string& text, const std::string& path, const ScenarioOptions& options, bool memo,
                       const Output& output) {
    std::vector<TrainingFile> files = parse_training_plans(text, path);
    const std::string words = options.cluster.empty() ? files.front().cluster : options.cluster;
    if (words.empty()) throw InputError({{"--cluster", 0, "", "expected a cluster, here or in the file", "none"}});
    for (std::size_t i = 0; i < files.size(); ++i)
        if (options.cluster.empty() && files[i].cluster != words)
            throw in_file(InputError({{path, 0, "/plans/" + std::to_string(i) + "/cluster",
                                       "expected one cluster for all plans", files[i].cluster}}),
                          text, path);
    const Cluster cluster = cluster_of(words);
    if (cluster.blocks.empty()) throw Infeasible("training plans need a cluster of machines, not a free graph");
    const Catalogue catalogue = Catalogue::shipped();
    const Gpu gpu = cluster.blocks.front().type.instance.gpu;
    const Trainer trainer{gpu, catalogue.kernels(gpu), catalogue.training()};
    Shared shared(cluster, catalogue.nccl(), memo);
    PlansReport report{
        .cluster = cluster.name, .plans = {}, .provenance = training_provenance(text + words, catalogue)};
    std::vector<StepPrediction> steps(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        TrainingFile& file = files[i];
        PlannedStep planned{.file = &file, .step = nullptr, .why_not = ""};
        try {
            place(file, options, cluster);
            complete(file, trainer.kernels);
            steps[i] = predict_step(file.plan, trainer, shared.exchanges(file.per_domain));
            planned.step = &steps[i];
        } catch (const InputError& error) {
            planned.why_not = to_text(error.problems.front());
        } catch (const Infeasible& error) {
            planned.why_not = error.what();
        }
        report.plans.push_back(std::move(planned));
    }
    emit(output, write(std::move(report), output.format));
    return kGood;
}

}  // namespace fmsim::cli
