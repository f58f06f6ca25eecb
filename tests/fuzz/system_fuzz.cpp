// Any bytes as a bare system; a small one is also run.
#include "fmsim/engine.hpp"
#include "fmsim/formats.hpp"
#include "fuzz/only_refusals.hpp"

namespace {

constexpr std::size_t kMostFlows = 64;

void run_it(const fmsim::SolveCase& solve) {
    using namespace fmsim;
    if (solve.flows.size() > kMostFlows) return;
    const Timeline timeline = run(solve.system, Record::rates);
    for (std::uint32_t i = 0; i < solve.flows.size(); ++i) {
        const ActivityId flow{i};
        test::require(timeline.started[flow] <= timeline.flowing[flow]);
        test::require(timeline.flowing[flow] <= timeline.ended[flow] || !timeline.unfinished.empty());
        test::require(timeline.ended[flow] <= timeline.end || !timeline.unfinished.empty());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace fmsim;
    std::vector<SolveCase> cases;
    test::only_refusals([&] { cases = parse_solve(test::as_text(bytes, size), "system.json"); });
    for (const SolveCase& solve : cases) {
        test::require(solve.flows.size() == solve.system.activities());
        test::only_refusals([&] { run_it(solve); });
    }
    return 0;
}
