// Any bytes as a suite of the gate, as results, as a saved run, and as a change.
#include "fmsim/formats.hpp"
#include "fmsim/whatif.hpp"
#include "fuzz/only_refusals.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace fmsim;
    const std::string_view text = test::as_text(bytes, size);
    test::only_refusals([&] {
        const GateSuite suite = parse_suite(text, "suite.json");
        test::require(!suite.scenarios.empty());
        const std::vector<GateMeasured> none(suite.scenarios.size());
        for (const Judgement& judgement : judge(suite, none, "2026-11-30"))
            test::require(judgement.verdict == Verdict::missing || judgement.verdict == Verdict::allowed);
        const std::vector<BaselineUpdate> nothing(suite.scenarios.size());
        test::require(updated_suite(text, "suite.json", nothing, {}) == text);
    });
    test::only_refusals([&] { parse_results(text, "results.json"); });
    test::only_refusals([&] { parse_outcome(text, "run.json"); });
    test::only_refusals([&] {
        const Change change = parse_change(text);
        test::require(!change.thing.empty() && change.text == text);
    });
    return 0;
}
