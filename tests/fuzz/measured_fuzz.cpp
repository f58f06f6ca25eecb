// Any bytes as what was measured and what goes with it: the first byte says which file.
#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"
#include "fuzz/only_refusals.hpp"

namespace {

using namespace fmsim;

void timed(const Measurements& table) {
    test::require(!table.rows.empty());
    for (const MeasuredRow& row : table.rows) test::require(row.time_us > 0);
}

void read_as(std::uint8_t kind, std::string_view text) {
    switch (kind % 6) {
        case 0:
            for (const MeasuredStep& step : parse_measured_steps(text, "steps.json"))
                test::require(step.plans.empty() || step.seconds > 0);
            return;
        case 1:
            for (const Measurements& table : parse_expert_rows(text, "experts.json"))
                test::require(table.rows.size() == 1);  // with a time or a rate
            return;
        case 2:
            return timed(parse_nccl_tests_json(text, "run.json"));
        case 3:
            parse_out_of_reach(text, "out_of_reach.json");
            return;
        case 4:
            parse_unseen(text, "unseen.json", "0", "0");
            return;
        default:
            parse_tuner_rules(text, "rules.csv");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    return fmsim::test::only_refusals_of(bytes, size, read_as);
}
