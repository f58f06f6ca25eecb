#include "toy.hpp"

namespace fmsim::test {
namespace {

Trainer trainer_of(const std::string& words) {
    const Catalogue catalogue = Catalogue::shipped();
    const Gpu gpu = catalogue.cluster(words).blocks.front().type.instance.gpu;
    return {gpu, catalogue.kernels(gpu), catalogue.training()};
}

}  // namespace

Machine::Machine(const std::string& words)
    : trainer(trainer_of(words)), exchanges(Catalogue::shipped().cluster(words), 0, Catalogue::shipped().nccl()) {}

TrainingPlan plan_of(const std::string& model, std::uint32_t gpus, std::int64_t batch) {
    TrainingPlan plan;
    plan.model = model_preset(model);
    plan.gpus = gpus;
    plan.sequence = 4096;
    plan.global_batch = batch;
    return plan;
}

}  // namespace fmsim::test
