// How long a whole training takes, how many GPUs a deadline needs, and what a step costs.
//
// By hand: 1.4e12 tokens at 380 a second on each of 2048 GPUs: 1.4e12 / (380 x 2048) / 86400 = 20.8 days. 65e9
// parameters: 6 x 65e9 x 1.4e12 = 5.46e23 FLOPs; in 21 days at 148.2e12 a GPU: 2031 GPUs, 254 machines of 8.
#include <cmath>

#include "fmsim/training.hpp"

namespace fmsim {
namespace {

constexpr double kDay = 86400;
constexpr double kFlopsAParameter = 6;  // forward 2, backward 4

constexpr double kHour = 3600;
constexpr double kWeightBytes = 2;  // beside the optimizer's own copy

}  // namespace

Outlay outlay_of(const TrainingPlan& plan, const InstanceType& type, double step_seconds) {
    Outlay outlay{.instances = (plan.gpus + type.gpus - 1) / type.gpus, .on_demand_usd = {}, .capacity_block_usd = {}};
    const auto cost = [&](const std::optional<Price>& price) -> std::optional<double> {
        if (!price) return {};
        return price->usd_an_hour * outlay.instances * step_seconds / kHour;
    };
    outlay.on_demand_usd = cost(type.on_demand);
    outlay.capacity_block_usd = cost(type.capacity_block);
    outlay.checkpoint =
        static_cast<double>(parameters_of(plan.model).all()) * (kWeightBytes + plan.state_bytes) / outlay.instances;
    const auto part_of = [&](double bytes) { return bytes > 0 ? outlay.checkpoint / bytes : 0; };
    outlay.of_host_memory = part_of(static_cast<double>(type.host_memory.count));
    outlay.of_drives = part_of(static_cast<double>(type.drive.count) * type.drives);
    return outlay;
}

double days_to_train(double tokens, double tokens_per_second_gpu, double gpus) {
    return tokens / (tokens_per_second_gpu * gpus) / kDay;
}

std::int64_t gpus_to_train(double parameters, double tokens, double days, double flops_gpu, std::uint32_t machine) {
    const double gpus = kFlopsAParameter * parameters * tokens / (days * kDay * flops_gpu);
    return static_cast<std::int64_t>(std::ceil(gpus / machine)) * machine;
}

}  // namespace fmsim
