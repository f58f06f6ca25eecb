// A suite's scenarios, each asked with and without what changed, for the gate.
#pragma once

#include "ask.hpp"
#include "fmsim/gate.hpp"

namespace fmsim::cli {

struct SuiteRun {
    std::vector<GateMeasured> measured;   // of each scenario
    std::vector<BaselineUpdate> updates;  // what --update-baseline would store
    std::map<std::string, Words> facts;   // of the machines that were asked
};
// `changes` are of all scenarios whose cluster has what they are about; one that fits none is refused. The catalogue is
// that of `options`. Metrics that moved get the reason: which fact of the machine makes how much of it, and which part
// of the time it is. Throws InputError where the suite asks for a metric that its scenario does not have.
SuiteRun run_suite(const GateSuite& suite, const std::vector<Change>& changes, const ScenarioOptions& options);

}  // namespace fmsim::cli
