// A prediction -> why: what bound each call, how busy each kind of link was, and how far a measurement is.
//
//   const Findings why = explain(net, prediction);
//   why.calls[0].limited_by;                       // "EFA"
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/choice.hpp"
#include "fmsim/moe.hpp"
#include "fmsim/predict.hpp"
#include "fmsim/topology.hpp"
#include "fmsim/training.hpp"
#include "fmsim/whatif.hpp"

namespace fmsim {

// Where the time of a call went. The three add up to it.
struct CallFinding {
    std::string limited_by;  // "EFA", "NVLink", "PCIe", "channels" (the copy rate of their SMs),
                             // "latency" where less than half the time goes to bytes, "nothing" for 0 bytes,
                             // "compute" and "delay" of operations that are no communication
    std::string busiest;     // the link that held it, by name; empty when none did
    SimTime launch;          // of the kernel
    SimTime waiting;         // latencies, filling and draining of the pipeline
    SimTime working;         // the busiest stage moves bytes; of compute all of it
};

// The busiest link of each kind, over the whole run.
struct LinkFinding {
    std::string kind;
    std::string busiest;
    std::size_t links{};
    double bytes{};        // over the busiest
    double utilisation{};  // of the busiest: bytes / (rate x run)
};

struct Findings {
    std::vector<CallFinding> calls;
    std::vector<LinkFinding> links;
};

Findings explain(const Topology& topology, const Prediction& prediction);

// Bytes over each link during a run; folded, over the links that its class stands for.
std::map<LinkId, double> bytes_over_links(const Topology& topology, const Prediction& prediction);

// Why a change cannot matter to a prediction: "0 bytes" over what it is about, "no computing", "it holds nothing back".
// None where it can. `prediction` is of the unchanged cluster.
std::optional<std::string> no_effect(const Topology& topology, const Prediction& prediction, const Change& change);
// ---- Why a run takes what it takes. In `stream`; all of it works on folded runs, and costs what they cost. ----

// A part of the critical path: what the end of the run waited for. The causes add up to the part.
struct CriticalPart {
    SimTime from, to;
    std::uint32_t step{};            // in RunSteps
    bool flows{};                    // bytes moved, at the rate that `held_by` set; else a delay passed
    ResourceId held_by = kOwnLimit;  // as the topology counts; kOwnLimit: the SMs of the channels
    CauseSeconds causes;
    std::optional<std::uint32_t> late_rank;  // the first part of a step that had to wait for its last rank
    SimTime waited;                          // the first of its ranks for that one
};
// From 0 to the end of the run without a gap. Of several predecessors that end last together the lowest id.
std::vector<CriticalPart> critical_path(const Topology& topology, const RunSteps& made, const Rerun& run);

// How the end of the run grows with the cost of each cause: d end / d ln(cost), seconds. By Euler they add up to the
// end. A kink: a hair more or less and something else counts, so that the two sides differ.
// `run`: recorded with rates. Choices (algorithms, channels) are pinned.
CauseSeconds slopes(const Topology& topology, const Rerun& run);

// What more of something would bring.
struct Lever {
    Cause cause{};
    double slope{};   // seconds for each ln(cost); of a kink the mean of the next two
    double dearer{};  // the same to each side, where there is a kink
    double cheaper{};
    bool kink{};
    double room{};              // how many times as cheap it can get with the slope as it is; infinity: no end found
    SimTime end_there;          // of the run then
    std::optional<Cause> then;  // what counts instead from there on
    bool no_effect{};           // it does not come up: 0 bytes, or never waited for
    double amount{};            // bytes over all links of the kind; else seconds in all delays
};
// One for each cause but `fixed`, the largest slope first.
std::vector<Lever> levers(const Topology& topology, const RunSteps& made, const Rerun& run, const CauseSeconds& slopes);

// How busy the links of a kind are, in equal spans of the run.
struct UseOverTime {
    std::string kind;
    std::vector<double> mean;     // over all links that the run uses
    std::vector<double> busiest;  // the busiest of them, each span by itself
};
std::vector<UseOverTime> use_over_time(const Topology& topology, const RunSteps& made, const Rerun& run,
                                       std::size_t spans);

// A resource that set rates on the critical path.
struct Saturated {
    ResourceId resource;     // as the topology counts; kOwnLimit: channels
    std::uint32_t call{};    // in Prediction::calls
    std::uint32_t alike{1};  // that are as busy
    SimTime critical;        // time on the critical path in which it set the rate
    double busy{};           // of its capacity while the call ran
};

struct Reasons {
    std::vector<CriticalPart> path;
    CauseSeconds spent;  // on the path, by cause: adds up to the end
    CauseSeconds slopes;
    std::vector<Lever> levers;
    std::vector<Saturated> saturated;  // the longest first
    std::vector<UseOverTime> use;
};
// How many resources one of a folded run stands for.
std::uint32_t members_of(const Topology& topology, const RunSteps& made, ResourceId resource);
// "p5.48xlarge #1, NIC 7, transmit".
std::string plain_name(const Topology& topology, ResourceId resource);
// Of a prediction in `stream`.
Reasons reasons_of(const Topology& topology, const Prediction& prediction, std::size_t spans = 20);

// ---- The why-tree: from the step down to the link, each figure with the rule and the inputs that made it. ----

struct WhyInput {
    std::string name;        // "nics/efa-v3.json /carries", or what was asked
    std::string value;       // "48.4 GB/s"
    std::string confidence;  // empty: no value of the catalogue
    std::string source;
};
struct WhyAlternative {
    std::string what;  // "Tree LL128"
    double seconds{};  // of the whole run with it
    std::string why;   // there is none
};
struct WhyNode {
    std::string id;     // "1.2"; of the whole empty
    std::string title;  // "gradient reduce: all_reduce of 1 GiB"
    double seconds{};   // of its parent's; children add up to it
    std::string rule;
    std::vector<WhyInput> inputs;
    std::optional<double> bound_s;  // closed form: nothing can be faster
    std::string bound_rule;
    std::vector<WhyAlternative> alternatives;
    std::vector<WhyNode> children;
};
// Numbers the nodes below `root` by their place.
void number(WhyNode& root);
// The node of an id, or of the title's words before the colon; null where there is none.
const WhyNode* find(const WhyNode& root, std::string_view id);

// `sources`: of all machines of the cluster.
WhyNode why_tree(const Topology& topology, const Prediction& prediction, const Reasons& reasons,
                 const std::vector<SourcedValue>& sources);

// Of a training step: the parts of its slowest stage, of each the kernels with what holds them, or the exchanges with
// their own tree; and what more of each cause would bring, by predicting the step again with the choices pinned.
WhyNode why_step(const TrainingPlan& plan, const Trainer& trainer, Exchanges& exchanges, const StepPrediction& step,
                 const std::vector<SourcedValue>& sources);
std::vector<Lever> step_levers(const TrainingPlan& plan, const Trainer& trainer, Exchanges& exchanges,
                               const StepPrediction& step);

// What the run would take with the other algorithms and protocols for one of its calls, each predicted. Those that NCCL
// cannot run there say why.
std::vector<WhyAlternative> alternatives(const Topology& topology, const std::vector<Placement>& placements,
                                         const Workload& workload, const Nccl& nccl, const PredictOptions& options,
                                         const CallPrediction& call);

// A published table of one operation on one cluster.
struct MeasuredRow {
    Bytes size;
    double time_us{};
    bool typical = true;     // false: somebody has found it out of line with other runs of the machine
    std::uint32_t tokens{};  // of each rank, and the SMs of the kernel: tokens to experts
    std::uint32_t sms{};
    BytesPerSecond rate{};  // of tokens to experts instead of a time, as the libraries count it
};
struct Measurements {
    std::string id;
    std::string cluster;     // in our short form; empty: the catalogue has no such machine
    std::string collective;  // nccl-tests' word, or "sendrecv_oneway", "rdma_write_stream", "moe_dispatch"
    std::string source;
    std::vector<MeasuredRow> rows;
    bool healthy = true;
    bool typical = true;
    std::uint32_t gpus{};        // 0: all of the cluster
    std::uint32_t per_domain{};  // 0: all of a domain
    std::string nccl_version;    // empty: not known
    bool torch{};                // timed through PyTorch, not by nccl-tests
    Pins pins;                   // what its run had fixed
    std::string dtype{};
    std::string note{};
};

// The measured time of a size, if the table has it.
std::optional<double> measured_us(const Measurements& measurements, Bytes size);

// predicted / measured - 1, in percent.
double error_percent(SimTime predicted, double measured_us);

// The mean of |error| over the rows that both have.
struct ErrorSummary {
    std::size_t rows{};
    double mean_percent{};
    double worst_percent{};
};
ErrorSummary summarise(const std::vector<double>& error_percents);

// ---- All published tables at once. ----

// A measured row with what the model says of it.
struct ValidatedRow {
    std::string table;
    std::string source;
    std::string machine;  // "p5.48xlarge", whatever the count
    std::string collective;
    Bytes size;
    double measured_us{};
    std::optional<double> predicted_us;
    std::string why;        // there is no prediction, or it is shown but not scored
    bool scored{};          // predicted, of a healthy machine, typical
    std::string algorithm;  // as predicted
    std::string protocol;
    std::uint32_t channels{};
    std::string over;  // the fabric between its domains, such as "EFA"; empty: one domain
    // Of tokens to experts; else 0 and empty.
    std::string cluster{};
    std::uint32_t gpus{};
    std::uint32_t tokens{};
    double plain_us{};  // bytes as the table counts them, less the part that stays, over what the links carry
};
// "p5.48xlarge:2" -> "p5.48xlarge".
std::string machine_of(std::string_view cluster);
// Rows of a table that nobody can predict.
std::vector<ValidatedRow> not_predicted(const Measurements& table, const std::string& why);
// Predicts each row in `stream`. What the model has no word for says why.
std::vector<ValidatedRow> validate(const Measurements& table, const Topology& topology, const Nccl& nccl);

// ---- Tokens to experts. ----

bool is_of_experts(const Measurements& table);
// What a row asks; of a round trip both ways. Nothing where no dispatcher is known by the table's words.
std::vector<ExpertCall> expert_calls(const Measurements& table, const MeasuredRow& row,
                                     const std::vector<Dispatcher>& dispatchers);
// Of a row with a rate: the bytes that it counts over it.
double measured_us_of(const Measurements& table, const Group& group, const MeasuredRow& row,
                      const std::vector<Dispatcher>& dispatchers);
std::vector<ValidatedRow> validate_experts(const Measurements& table, const Topology& topology, const Nccl& nccl,
                                           const std::vector<Dispatcher>& dispatchers);

// |error| of time in percent, and the bias: the mean of the signed errors.
struct ErrorQuantiles {
    double median{};
    double p90{};
    double worst{};
    double bias{};
};
ErrorQuantiles quantiles_of(const std::vector<double>& error_percents);

// The scored rows of one operation of a machine in one band of sizes, or the mean over such.
struct BandScore {
    std::string machine;
    std::string collective;
    bool large{};  // from kLargeBand on
    std::size_t rows{};
    std::size_t sources{};
    ErrorQuantiles model;
    ErrorQuantiles fit;  // of latency + bytes / bandwidth, fitted to the rows of both bands
};
inline constexpr Bytes kLargeBand{std::int64_t{1} << 20};
struct Score {
    std::vector<BandScore> bands;           // by machine, operation and band
    std::optional<BandScore> small, large;  // each the plain mean of its bands; `worst` is the worst
};
Score score(const std::vector<ValidatedRow>& rows);

// ---- What the model is held to, and what it cannot reach. ----

// Means over the operations of machines of the quantiles of each, in percent, and the most that they may be.
struct AccuracyTarget {
    std::string what;  // ">= 1 MiB, EFA"
    std::size_t operations{};
    double median{}, p90{};
    double most_median{}, most_p90{};
    bool met() const { return median <= most_median && p90 <= most_p90; }
};
// The mean over its operations of the mean signed error of each, in percent.
struct MachineBias {
    std::string machine;
    std::size_t sources{};
    double bias{};
    bool met() const;
};
struct AccuracyTargets {
    std::vector<AccuracyTarget> targets;
    std::vector<MachineBias> biases;  // of machines with three or more sources
};
// Of the scored rows but those of tokens to experts.
AccuracyTargets accuracy_targets(const std::vector<ValidatedRow>& rows);

// The means of each source predicted by constants fitted without it, as `calibrate` finds them.
struct UnseenErrors {
    double median{}, p90{};
    bool large{};  // from kLargeBand on
};
inline constexpr double kMostUnseenRatio = 1.5;  // of unseen / seen

// Tables that the model cannot reach, and the physical reason.
struct OutOfReach {
    std::string what;                 // as people would say it
    std::vector<std::string> tables;  // ids; "*" stands for any letters
    std::string collective;           // empty: any
    Bytes from{}, below{};            // sizes; below 0: no end
    std::string why;
};
struct OutOfReachErrors {
    OutOfReach said;
    std::size_t tables{}, rows{};
    ErrorQuantiles errors;
};
// With the errors of this run: of scored rows, one with no such row has 0 of them.
std::vector<OutOfReachErrors> out_of_reach(const std::vector<OutOfReach>& said, const std::vector<ValidatedRow>& rows);
bool is_said(const OutOfReach& said, const ValidatedRow& row);

// Two dispatchers on the same machine with the same tokens, as measured.
struct OrderedPair {
    ValidatedRow fast, slow;
    bool right{};  // predicted in this order too
};
struct ExpertScore {
    std::size_t rows{}, tables{};
    ErrorQuantiles of_rows;
    ErrorQuantiles of_tables;  // of the medians of each
    ErrorQuantiles plain;      // of rows, by ValidatedRow::plain_us
    struct OfDispatcher {
        std::string dispatcher, collective;
        std::size_t rows{};
        ErrorQuantiles errors;
    };
    std::vector<OfDispatcher> by_dispatcher;
    std::vector<OrderedPair> pairs;
};
// Of the scored rows that are of tokens to experts; nothing when there are none.
std::optional<ExpertScore> score_experts(const std::vector<ValidatedRow>& rows);

// Constants of dispatchers fitted to tables from values that are the same for all of them, and again without a source,
// or a table, each; what is left out is predicted with what the others say.
struct ExpertTable {
    const Measurements* table{};
    Topology topology;
};
struct LeftOutExperts {
    std::string what;  // the source, or the table
    std::size_t rows{};
    ErrorQuantiles seen, unseen;
};
struct ExpertsLeftOut {
    ErrorQuantiles seen, unseen;  // of all rows together
    std::vector<LeftOutExperts> each;
};
enum class LeaveOut : std::uint8_t { source, table };
ExpertsLeftOut leave_out_experts(const std::vector<ExpertTable>& tables, const std::vector<Dispatcher>& dispatchers,
                                 LeaveOut what);

// ---- Constants from measurements. ----

// A residual is the logarithm of predicted / measured, times the root of its weight. Fitted are the logarithms of the
// constants, so that none gets below zero.
struct FitBounds {
    double least{};
    double most{};
};
struct FitProblem {
    std::vector<double> start;      // of each constant, above 0
    std::vector<FitBounds> bounds;  // of each constant
    // Of all rows, for these values. `changed`: only this one differs from the values last asked with none, so that
    // rows which do not depend on it need no new prediction.
    std::function<std::vector<double>(const std::vector<double>& values, std::optional<std::size_t> changed)> residuals;
    std::vector<std::size_t> groups;  // of each row: its source. None: nothing is left out
};
struct Fit {
    std::vector<double> values;
    std::vector<double> spread_percent;        // of each, one standard deviation; 0: the rows do not tell it
    std::vector<std::vector<double>> without;  // a group each: the values without its rows, by one step from the fit
    double cost_before{};                      // the mean of Huber's loss
    double cost_after{};
    int rounds{};
};
// Gauss-Newton with Huber's weights, numeric derivatives, damping and bounds.
Fit fit(const FitProblem& problem, int most_rounds);

// Weights so that each operation of a machine in each band of sizes counts the same, whatever its number of rows.
std::vector<double> fit_weights(const std::vector<ValidatedRow>& rows);

}  // namespace fmsim
