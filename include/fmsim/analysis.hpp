// A prediction -> why: what bound each call, how busy each kind of link was, and how far a measurement is.
//
//   const Findings why = explain(net, prediction);
//   why.calls[0].limited_by;                       // "EFA"
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/choice.hpp"
#include "fmsim/moe.hpp"
#include "fmsim/predict.hpp"
#include "fmsim/topology.hpp"
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

// A published table of one operation on one cluster.
struct MeasuredRow {
    Bytes size;
    double time_us{};
    bool typical = true;  // false: somebody has found it out of line with other runs of the machine
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
