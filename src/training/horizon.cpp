// How long a whole training takes, and how many GPUs a deadline needs.
//
// By hand: 1.4e12 tokens at 380 a second on each of 2048 GPUs: 1.4e12 / (380 x 2048) / 86400 = 20.8 days. 65e9
// parameters: 6 x 65e9 x 1.4e12 = 5.46e23 FLOPs; in 21 days at 148.2e12 a GPU: 2031 GPUs, 254 machines of 8.
#include <cmath>

#include "fmsim/training.hpp"

namespace fmsim {
namespace {

constexpr double kDay = 86400;
constexpr double kFlopsAParameter = 6;  // forward 2, backward 4

}  // namespace

double days_to_train(double tokens, double tokens_per_second_gpu, double gpus) {
    return tokens / (tokens_per_second_gpu * gpus) / kDay;
}

std::int64_t gpus_to_train(double parameters, double tokens, double days, double flops_gpu, std::uint32_t machine) {
    const double gpus = kFlopsAParameter * parameters * tokens / (days * kDay * flops_gpu);
    return static_cast<std::int64_t>(std::ceil(gpus / machine)) * machine;
}

}  // namespace fmsim
