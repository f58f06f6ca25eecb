// Any bytes as a training plan or a model: the first byte says whose.
#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"
#include "fuzz/only_refusals.hpp"

namespace {

using namespace fmsim;

void sane(const TransformerModel& model) { test::require(model.layers > 0 && model.hidden > 0); }

void read(std::uint8_t kind, std::string_view text) {
    switch (kind % 7) {
        case 0:
            return sane(parse_training(text, "plan.json").plan.model);
        case 1:
            test::require(!parse_training_plans(text, "plans.json").empty());
            return;
        case 2:
            return sane(parse_model_config(text, "config.json"));
        case 3:
            return sane(import_megatron(text, "flags.txt").plan.model);
        case 4:
            return sane(import_nemo(text, "nemo.yaml").plan.model);
        case 5:
            return sane(import_torchtitan(text, "titan.toml").plan.model);
        default:
            training_plan(text, "plan");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    return fmsim::test::only_refusals_of(bytes, size, read);
}
