// Writes bench/plans_405b.json, and checks that what plans share changes no result.
//
//   training_plans write > bench/plans_405b.json    1,000 different plans of Llama 3.1 405B on 2,048 GPUs of p5en
//   training_plans check bench/plans_405b.json      50 of them, drawn at random, with and without what plans share
//
// Written are the plans whose stages fit in memory, thinned out evenly to 1,000.
#include <algorithm>
#include <ctime>
#include <fstream>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"

namespace {

using namespace fmsim;
using json = nlohmann::ordered_json;

constexpr std::int64_t kGpus = 2048;
constexpr std::size_t kPlans = 1000, kDrawn = 50;
constexpr const char* kCluster = "p5en.48xlarge:512";  // all GPUs of 256 instances, or half of those of 512

json base() {
    return {{"kind", "training"},     {"cluster", kCluster},  {"gpus", kGpus},
            {"model", "llama3-405b"}, {"sequence", 8192},     {"global_batch", 2048},
            {"precision", "bf16"},    {"attention", "cudnn"}, {"overlap", {{"tensor", true}}}};
}

// Degrees, stages and their chunks, micro-batches, recomputation, placement.
std::vector<json> all_plans() {
    std::vector<json> plans;
    for (const int per_domain : {8, 4})
        for (const int tensor : {2, 4, 8})
            for (const int context : {1, 2, 4})
                for (const int pipeline : {4, 8, 16, 32})
                    for (const int chunks : {1, 2, 4, 8}) {
                        if (128 % (pipeline * chunks) != 0) continue;
                        const std::int64_t data = kGpus / tensor / context / pipeline;
                        for (const int micro_batches : {32, 64, 96, 128, 192, 256})
                            for (const char* recompute : {"none", "selective", "full"})
                                plans.push_back({{"name", fmt::format("tp{} cp{} pp{}x{} dp{} mb{} {} {}/domain",
                                                                      tensor, context, pipeline, chunks, data,
                                                                      micro_batches, recompute, per_domain)},
                                                 {"per_domain", per_domain},
                                                 {"global_batch", data * micro_batches},
                                                 {"recompute", recompute},
                                                 {"parallel",
                                                  {{"tensor", tensor},
                                                   {"context", context},
                                                   {"pipeline", pipeline},
                                                   {"chunks", chunks},
                                                   {"ends_count", true}}}});
                    }
    return plans;
}

json file_of(const std::vector<json>& plans) {
    return {
        {"$schema", "../schemas/training_plans.json"}, {"kind", "training_plans"}, {"base", base()}, {"plans", plans}};
}

int write() {
    const Catalogue catalogue = Catalogue::shipped();
    const Gpu gpu = catalogue.cluster(kCluster).blocks.front().type.instance.gpu;
    const TrainingConstants constants = catalogue.training();
    const std::vector<json> all = all_plans();
    const std::vector<TrainingFile> files = parse_training_plans(file_of(all).dump(), "plans");
    std::vector<json> fit;
    for (std::size_t i = 0; i < files.size(); ++i) {
        double most = 0;
        for (const MemoryParts& stage : memory_of(files[i].plan, constants)) most = std::max(most, stage.all());
        if (most <= static_cast<double>(gpu.memory.count)) fit.push_back(all[i]);
    }
    if (fit.size() < kPlans) throw std::runtime_error(fmt::format("only {} of {} fit", fit.size(), all.size()));
    std::vector<json> kept;
    for (std::size_t i = 0; i < kPlans; ++i) kept.push_back(fit[i * fit.size() / kPlans]);
    const json file = file_of({});
    fmt::print("{{\n  \"$schema\": {},\n  \"kind\": {},\n  \"base\": {},\n  \"plans\": [\n", file["$schema"].dump(),
               file["kind"].dump(), file["base"].dump());
    for (const json& plan : kept) fmt::print("    {}{}\n", plan.dump(), &plan == &kept.back() ? "" : ",");
    fmt::print("  ]\n}}\n");
    return 0;
}

int check(const char* path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const std::vector<TrainingFile> files = parse_training_plans(text.str(), path);
    const Catalogue catalogue = Catalogue::shipped();
    const Cluster cluster = catalogue.cluster(kCluster);
    const Gpu gpu = cluster.blocks.front().type.instance.gpu;
    const Trainer trainer{gpu, catalogue.kernels(gpu), catalogue.training()};
    std::map<std::uint32_t, Exchanges> shared;
    const auto predicted = [&](const TrainingFile& file, Exchanges& exchanges) {
        try {
            return predict_step(file.plan, trainer, exchanges).seconds;
        } catch (const Infeasible&) {
            return -1.0;
        }
    };
    std::vector<double> all;
    for (const TrainingFile& file : files) {
        auto found = shared.find(file.per_domain);
        if (found == shared.end())
            found = shared.emplace(file.per_domain, Exchanges(cluster, file.per_domain, catalogue.nccl())).first;
        all.push_back(predicted(file, found->second));
    }
    const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    std::mt19937_64 bits(1);
    std::size_t unequal = 0;
    for (std::size_t i = 0; i < kDrawn; ++i) {
        const std::size_t drawn = bits() % files.size();
        Exchanges alone(cluster, files[drawn].per_domain, catalogue.nccl());
        if (predicted(files[drawn], alone) != all[drawn]) ++unequal;
    }
    fmt::print("{} plans in {:.1f} s of processor time, {} without a prediction; {} of {} drawn differ\n", files.size(),
               cpu, std::count(all.begin(), all.end(), -1.0), unequal, kDrawn);
    return unequal == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    if (what == "write" && argc == 2) return write();
    if (what == "check" && argc == 3) return check(argv[2]);
    fmt::print("usage: training_plans write | training_plans check FILE\n");
    return 3;
}
