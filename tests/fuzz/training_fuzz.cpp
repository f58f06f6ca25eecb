// Any bytes as a training plan or a model: the first byte says whose.
#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"
#include "fuzz/only_refusals.hpp"

namespace {

using namespace fmsim;

// What is read may still be no plan: check() says so.
void checked(const TrainingFile& file) {
    check(file.plan);
    test::require(file.plan.model.layers > 0 && file.plan.gpus > 0);
}

void read_as(std::uint8_t kind, std::string_view text) {
    switch (kind % 7) {
        case 0:
            return checked(parse_training(text, "plan.json"));
        case 1:
            for (const TrainingFile& file : parse_training_plans(text, "plans.json")) checked(file);
            return;
        case 2:
            parse_model_config(text, "config.json");
            return;
        case 3:
            return checked(import_megatron(text, "flags.txt"));
        case 4:
            return checked(import_nemo(text, "nemo.yaml"));
        case 5:
            return checked(import_torchtitan(text, "titan.toml"));
        default:
            training_plan(text, "plan");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    return fmsim::test::only_refusals_of(bytes, size, read_as);
}
