// Measured values beside stored baselines -> which moved too far, and why.
//
//   const std::vector<Judgement> all = judge(suite, measured, "2026-11-30");
//   regressed(all);                                  // whether a pipeline should fail
//
// A value exactly on its limit passes; one that is missing fails; one better than its limit is told of and passes. What
// is allowed to be worse is still shown, with its reason, until its last day. Not here: how a scenario is predicted
// (cli), files (formats), and the clock: the day is given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmsim/outcome.hpp"

namespace fmsim {

enum class Better : std::uint8_t { lower, higher, both };
std::string_view name(Better better);  // "lower", "higher", "both": any move counts

struct GateMetric {
    std::string name;  // "time_us", "busbw_GBps"
    Better better{};
    double tolerance{};  // part of the baseline
    std::optional<double> baseline;
    std::size_t line{};  // of the file
};

using Words = std::vector<std::pair<std::string, std::string>>;  // keys and values, in order

// What is asked: one collective, a workload or training plan, or a file of results that others measured.
struct GateScenario {
    std::string name;
    std::string collective, size;
    std::string workload;  // a path, as the suite has it
    std::string results;   // likewise
    Words words;           // of the command line: cluster, placement, gpus, ..
    std::vector<std::string> changes;
    std::vector<GateMetric> metrics;
    std::optional<Outcome> before;  // as it was when the baseline was stored
    std::string pointer;            // RFC 6901
};

struct GateAllowance {
    std::string scenario;
    std::string metric;  // empty: all of them
    std::string reason;
    std::string until;  // the last day, "2027-01-31"
};

struct GateSuite {
    std::string name, file;
    std::vector<GateScenario> scenarios;
    std::vector<GateAllowance> allow;
    std::map<std::string, Words> facts;  // of each machine, when the baseline was stored
};

struct GateMeasured {
    std::map<std::string, double> values;
    std::map<std::string, std::string> reasons;  // of metrics that moved
    std::string failed;                          // why there are no values
};

enum class Verdict : std::uint8_t { within, improved, regressed, missing, allowed };
std::string_view name(Verdict verdict);  // "within", "improved", "regressed", "missing", "allowed"

struct Judgement {
    std::string scenario, metric;
    Verdict verdict{};
    std::optional<double> measured;
    double baseline{};
    std::optional<double> limit;  // that it crossed, or the nearer one; none: of an improvement without limit
    std::string reason;           // of the move
    std::string allowance;        // "until 2027-01-31: new driver"; also of one that has ended
    std::size_t line{};
    std::optional<double> percent() const;  // of the baseline; none where that is 0 or nothing was measured
};

// `measured` has one entry a scenario; `today` is a day as YYYY-MM-DD. Metrics without a baseline are left out.
std::vector<Judgement> judge(const GateSuite& suite, const std::vector<GateMeasured>& measured,
                             const std::string& today);
bool regressed(const std::vector<Judgement>& judgements);
// Whether a value is worse than its limit.
bool worse(const GateMetric& metric, double measured);

}  // namespace fmsim
