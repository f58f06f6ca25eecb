// Models, machines and plans that training tests share.
#pragma once

#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"

namespace fmsim::test {

struct Machine {
    explicit Machine(const std::string& words);
    Trainer trainer;
    Exchanges exchanges;
};

// Of a preset on so many GPUs: sequence 4096, one sequence a micro-batch, `batch` of them a step.
TrainingPlan plan_of(const std::string& model, std::uint32_t gpus, std::int64_t batch);

}  // namespace fmsim::test
