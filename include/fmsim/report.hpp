// Findings -> text, JSON or CSV. Returns strings; only cli prints.
//
// A report is made of tables; a column has a key for JSON and CSV, with its unit in the name, and a head for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fmsim/analysis.hpp"
#include "fmsim/choice.hpp"
#include "fmsim/gate.hpp"
#include "fmsim/outcome.hpp"
#include "fmsim/predict.hpp"
#include "fmsim/topology.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {

// Of the door training.hpp.
struct ComparedStep;
struct StepPrediction;

enum class Format { text, json, csv };

// What a result rests on, so that a figure can be traced years later.
struct Provenance {
    std::string fmsim_version;
    std::string constants_hash;
    std::string inputs_hash;
    std::vector<std::string> assumptions;
    std::vector<std::string> warnings;
};

// One collective at one size, or one operation of a job.
struct ReportedCall {
    CallPrediction predicted;
    CallFinding finding;
    std::optional<double> measured_us;
};

struct SweepReport {
    std::string cluster;
    std::uint32_t ranks{};
    std::uint32_t domains{};
    Collective collective{};
    Fidelity fidelity{};
    BytesPerSecond line_rate{};  // of all NICs of a domain, one direction; 0: nothing leaves one
    std::vector<ReportedCall> rows;
    std::optional<Measurements> measurements;  // laid beside, when given
    Provenance provenance;
};
std::string write(const SweepReport& report, Format format);

// Tokens to experts, or back, by one or several dispatchers.
struct ReportedExperts {
    ExpertCall call;
    std::optional<CallPrediction> predicted;  // none: the dispatcher refused
    CallFinding finding;
    double network_bytes{};  // of the busiest GPU, out or in
    double nvlink_bytes{};
    std::string refused;
};
struct ExpertReport {
    std::string cluster;
    std::uint32_t ranks{};
    std::uint32_t domains{};
    std::vector<ReportedExperts> rows;  // one or more, which differ in tokens and dispatcher
    Provenance provenance;
};
std::string write(const ExpertReport& report, Format format);

// What NCCL chooses for one call, and why.
struct ChoiceReport {
    std::string cluster;
    Collective collective{};
    Bytes size;
    std::string nccl_version;
    Communicator communicator;
    ChoiceExplained why;
    Provenance provenance;
};
std::string write(const ChoiceReport& report, Format format);

struct RunReport {
    std::string cluster;
    std::uint32_t ranks{};
    PlacementSpread placement;
    GroupsAcross groups;  // of the collectives' groups
    Fidelity fidelity{};
    SimTime end;
    std::vector<ReportedCall> operations;
    std::vector<LinkFinding> links;
    Provenance provenance;
};
std::string write(const RunReport& report, Format format);

// What a folded run made of a workload; and whether its prediction can be trusted, where that was checked.
struct FoldingReport {
    std::string cluster;
    std::optional<Folding> folding;  // none: it was not folded
    SimTime end;
    struct Check {
        SimTime unfolded;
        SimTime perturbed;  // with all bytes 1e-12 more
    };
    std::optional<Check> check;
    Provenance provenance;
};
std::string write(const FoldingReport& report, Format format);
// The check's two figures as parts of the time, and whether both are below 1e-9.
struct Trust {
    double folded_off{}, perturbed_off{};
    bool holds() const { return folded_off <= 1e-9 && perturbed_off <= 1e-9; }
};
Trust trust_of(const FoldingReport& report);

// Why a run takes what it takes: fmsim explain.
struct NamedSaturated {
    std::string name;
    std::string call;
    Saturated found;
};
struct WhyReport {
    std::string title;  // "p5.48xlarge:2, 16 GPUs"
    double seconds{};   // of the run
    WhyNode tree;
    std::string focus;  // the node to show whole, by id or name; empty: all, two levels deep
    std::vector<NamedSaturated> saturated;
    std::vector<Lever> levers;
    std::vector<UseOverTime> use;
    Provenance provenance;
};
std::string write(const WhyReport& report, Format format);

// A training step: what it takes, where it goes, what each stage holds.
struct TrainingFile;
struct TrainingReport {
    std::string cluster;
    std::uint32_t gpus{};
    const TrainingFile* file{};
    const StepPrediction* step{};
    GroupsAcross model_groups;  // of tensor x context ranks side by side: how many span domains
    std::string fabric;         // between domains: "EFA"
    Provenance provenance;
};
std::string write(const TrainingReport& report, Format format);

// Many plans, fastest a token first; those without a prediction last, with the reason.
struct PlannedStep {
    const TrainingFile* file{};
    const StepPrediction* step{};  // none: not predicted
    std::string why_not;
};
struct PlansReport {
    std::string cluster;
    std::vector<PlannedStep> plans;
    Provenance provenance;
};
std::string write(PlansReport report, Format format);
// What each of these says in short, for comparisons; named by its cluster.
Outcome outcome_of(const SweepReport& report);
Outcome outcome_of(const RunReport& report);
Outcome outcome_of(const TrainingReport& report);

// Two runs side by side, with what made the difference.
struct PolicyTimes {
    std::string name;                            // of a row, or "all"
    std::vector<std::optional<double>> seconds;  // for each policy; none: it would never end
};
struct ComparisonReport {
    std::string what;  // "what if nic[3,7].down", "a.json beside b.json"
    Comparison comparison;
    std::vector<std::string> notes;     // "efa.bandwidth*2: no effect: 0 bytes"
    std::vector<std::string> policies;  // of rails, where a NIC has a fault: "keep", "even", "neighbour"
    std::vector<PolicyTimes> policy_times;
    Provenance provenance;
};
std::string write(const ComparisonReport& report, Format format);

// A suite's judgements, for people, for programs and for pipelines.
enum class GateFormat { text, json, junit, sarif, github, md };
struct GateReport {
    std::string name, file;
    std::string today;
    std::vector<std::string> changes;  // of --what-if
    std::size_t scenarios{};
    std::vector<Judgement> judgements;
    Provenance provenance;
};
std::string write(const GateReport& report, GateFormat format);
// Baselines that --update-baseline replaced.
struct BaselineMove {
    std::string scenario, metric;
    std::optional<double> before;
    double after{};
};
std::string write(const std::vector<BaselineMove>& moves, const std::string& file);

// Predicted beside measured steps; with pairs where they are wanted.
struct TrainingValidation {
    const std::vector<ComparedStep>* rows{};
    bool pairs{};
    Provenance provenance;
};
std::string write(const TrainingValidation& report, Format format);

// A cluster as it is: what it is made of, and how much can flow across its cuts.
struct NamedCut {
    std::string name;
    BytesPerSecond rate;
};
struct TopologyReport {
    const Topology* topology{};
    std::vector<NamedCut> cuts;
};
std::string write(const TopologyReport& report, Format format);

// The devices and links as a Graphviz graph.
std::string to_graphviz(const Topology& topology);

// The machines that have a name, a line each; and all values of one with their sources.
std::string write(const std::vector<DomainType>& machines, Format format);
std::string write(const std::vector<SourcedValue>& values, Format format);

// A file of our own (schemas/cluster.json). `with_instances` also writes what the machines have, for those that are not
// quite the catalogue's.
std::string to_cluster_file(const Cluster& cluster, bool with_instances);

// A file of our own (schemas/workload.json), with all that is known of each operation written out.
std::string to_workload_file(const Workload& workload);

// Slurm's topology.conf: blocks where NVLink domains have several instances, else the tree of switches. Its
// topology.yaml has both. Hosts without names are called n1, n2, ..
std::string to_slurm_conf(const Cluster& cluster);
std::string to_slurm_yaml(const Cluster& cluster);

// NCCL's topology file of one machine.
std::string to_nccl_xml(const InstanceType& type);

// Published tables beside their predictions.
struct ValidationReport {
    std::size_t tables{};
    std::vector<ValidatedRow> rows;
    Score score;
    std::optional<ExpertScore> experts{};
    std::optional<ExpertsLeftOut> experts_without_source{}, experts_without_table{};
    std::vector<UnseenErrors> unseen{};            // of `calibrate`, if it was asked
    std::vector<OutOfReachErrors> out_of_reach{};  // where reasons were given
    Provenance provenance;
};
// What the model is held to, and whether it does; empty where no row is of a collective.
std::string targets_text(const ValidationReport& report);
std::string targets_json(const ValidationReport& report);  // an object with keys of its own
std::string targets_markdown(const ValidationReport& report);
std::string out_of_reach_markdown(const ValidationReport& report);
// The part of it about tokens to experts; empty where no table is.
std::string experts_text(const ValidationReport& report);
std::string experts_json(const ValidationReport& report);  // an object with keys of its own
std::string experts_markdown(const ValidationReport& report);
std::string write(const ValidationReport& report, Format format);
// Tables and training steps of one folder. Throws InputError for CSV, which has one table.
std::string write(const ValidationReport& tables, const TrainingValidation& steps, Format format);

// As a page of documentation, with a picture beside.
std::string to_markdown(const ValidationReport& report, const std::string& picture);
// Predicted against measured, both on logarithmic axes.
std::string to_svg(const std::vector<ValidatedRow>& rows);

// Constants fitted to measured tables.
struct FittedConstant {
    std::string file;     // of the catalogue
    std::string pointer;  // RFC 6901
    std::string unit;     // empty: a plain number
    double before{};
    double after{};
    double spread_percent{};
};
struct LeftOut {
    std::string source;  // whose rows the fit had not seen
    std::size_t rows{};
    ErrorQuantiles seen;    // of them, when it had seen all
    ErrorQuantiles unseen;  // when it had not
};
struct CalibrationReport {
    std::size_t tables{};
    std::size_t rows{};
    Score before, after;  // each operation of a machine counts the same
    Score unseen;         // each source's rows predicted by a fit that had not seen them
    std::vector<FittedConstant> constants;
    std::vector<LeftOut> left_out;
    Provenance provenance;
};
std::string write(const CalibrationReport& report, Format format);

struct SolvedFlow {
    std::string id;
    SimTime finish;
};
struct SolvedCase {
    std::string id;
    std::vector<SolvedFlow> flows;
};
std::string write(const std::vector<SolvedCase>& cases, Format format);

}  // namespace fmsim
