// Files and words in -> the values of the other rooms, or all problems at once.
//
//   const Cluster cluster = Catalogue::shipped().cluster("p5.48xlarge:2");
//   const Workload work = parse_workload(read_file("step.json"), "step.json");
//
// Every function here throws InputError with all problems it found, each with file, line and JSON pointer. Nothing
// else of the library reads a file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/analysis.hpp"
#include "fmsim/base.hpp"
#include "fmsim/choice.hpp"
#include "fmsim/engine.hpp"
#include "fmsim/gate.hpp"
#include "fmsim/kernels.hpp"
#include "fmsim/moe.hpp"
#include "fmsim/outcome.hpp"
#include "fmsim/topology.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {

// Of the door training.hpp.
struct MeasuredStep;
struct TrainingConstants;
struct TrainingPlan;
struct TransformerModel;

// The data files about machines and NCCL, by path ("instances/p5.48xlarge.json").
//
// A machine is an instance type, what several form together ("u-p6e-gb200x72", "gb200-nvl72"), or an HGX board with its
// NICs read from its name: "hgx-h100" (no network), "hgx-h100-8x400" (InfiniBand), "hgx-a100-16x100-roce".
class Catalogue {
public:
    static Catalogue shipped();  // as compiled in
    explicit Catalogue(std::map<std::string, std::string> files) : files_(std::move(files)) {}

    std::vector<std::string> names() const;  // of the machines that have a file, sorted
    InstanceType instance(std::string_view name) const;
    DomainType domain(std::string_view name) const;  // of one instance, where the name is an instance type's
    Cluster cluster(std::string_view words) const;   // "u-p6e-gb200x72:4", or "p5.48xlarge" for one
    Nccl nccl() const;
    KernelFacts kernels(const Gpu& gpu) const;  // of its generation
    TrainingConstants training() const;
    std::vector<Dispatcher> dispatchers() const;  // of tokens to experts, by name
    // Every value of a machine and of its parts, with its source.
    std::vector<SourcedValue> sources(std::string_view name) const;
    // And those of one file: "training.json".
    std::vector<SourcedValue> file_sources(const std::string& file) const;
    // Changes when any value of any file does; layout and key order do not count.
    std::string hash() const;
    const std::map<std::string, std::string>& files() const { return files_; }

private:
    std::map<std::string, std::string> files_;
};

// A cluster file (schemas/cluster.json). Types that the catalogue lacks are problems of the file.
Cluster parse_cluster(std::string_view text, const std::string& file, const Catalogue& catalogue);

// ---- Clusters as other tools describe them. ----

// What a file gave, and what of it has no place in a cluster, or was assumed for want of better.
struct Imported {
    Cluster cluster;
    std::vector<Problem> notes;
};

struct ImportOptions {
    std::string type;                 // the instance type of hosts that name none
    std::vector<std::string> layers;  // Kubernetes: keys of the labels from the top of the network down
};

// Slurm's topology.conf: SwitchName= lines (topology/tree), BlockName= lines (topology/block), or both.
Imported import_slurm_conf(std::string_view text, const std::string& file, const Catalogue& catalogue,
                           const ImportOptions& options);
// Slurm's topology.yaml: the tree and the block topology that are the cluster's default, or come first.
Imported import_slurm_yaml(std::string_view text, const std::string& file, const Catalogue& catalogue,
                           const ImportOptions& options);
// Answers of EC2, one page after another: DescribeInstanceTopology, DescribeCapacityReservationTopology, and
// DescribeInstanceTypes, whose counts must be those of the catalogue.
Imported import_ec2(std::string_view text, const std::string& file, const Catalogue& catalogue,
                    const ImportOptions& options);
// Nodes as `kubectl get nodes -o json` or `-o yaml` prints them. Without `layers`: AWS's labels, or the levels of a
// Kueue Topology in the file.
Imported import_kubernetes(std::string_view text, const std::string& file, const Catalogue& catalogue,
                           const ImportOptions& options);
// NCCL's topology XML of one machine, laid over `options.type`, or over the type of the catalogue that has such GPUs
// and NICs: a cluster of one.
Imported import_nccl(std::string_view text, const std::string& file, const Catalogue& catalogue,
                     const ImportOptions& options);

// A host file: an instance a line, by its name in the cluster file or by its number; '#' begins a comment, and what
// follows the name ("slots=8") is left alone.
std::vector<InstanceId> parse_hosts(std::string_view text, const std::string& file, const Topology& topology);

// A rank a line: an instance by name or number, or "domain:3", and the number of one of its GPUs; '#' begins a comment.
Placement parse_placement(std::string_view text, const std::string& file, const Topology& topology);

// The whole file; "-" is standard input. Throws InputError when it cannot be read or is larger than 256 MiB.
std::string read_file(const std::string& path);

// Beyond it a size is refused: no machine moves as much in the 2.56 hours that a run can last.
inline constexpr Bytes kLargestSize{std::int64_t{1} << 50};

// A workload file (schemas/workload.json), checked as far as it can be without knowing the ranks.
Workload parse_workload(std::string_view text, const std::string& file);
// Problems found later in the values that a file gave, with the file and the lines they came from.
InputError in_file(const InputError& error, std::string_view text, const std::string& file);

// The JSON schemas (draft 7) of the files above, by name ("workload"), each whole in itself.
std::vector<std::string> schema_names();
std::string schema_text(std::string_view name);

// ---- Training (with the door training.hpp). ----

// A plan and where it runs (schemas/training.json).
struct TrainingFile;
// The model is a preset of workloads/models, a Hugging Face config.json beside the file, or written out.
TrainingFile parse_training(std::string_view text, const std::string& file);
// Whether a workload file is a training plan: "kind": "training".
bool is_training(std::string_view text);
// Many plans that differ from one (schemas/training_plans.json), "kind": "training_plans".
std::vector<TrainingFile> parse_training_plans(std::string_view text, const std::string& file);
bool is_training_plans(std::string_view text);
// Hugging Face config.json, and a name of a preset.
TransformerModel parse_model_config(std::string_view text, const std::string& file);
TransformerModel model_preset(const std::string& name);
std::vector<std::string> model_presets();
// Megatron-LM's flags ("--tensor-model-parallel-size 8 ..."), NeMo's YAML. What has no place in a plan is left out;
// what is needed and missing is refused by name.
TrainingFile import_megatron(std::string_view text, const std::string& file);
TrainingFile import_nemo(std::string_view text, const std::string& file);
// torchtitan's TOML. What waits for the number of GPUs is left to complete().
TrainingFile import_torchtitan(std::string_view text, const std::string& file);
// A plan of ours, or one of those, by what the text looks like: TOML by the file's ending, YAML likewise, flags by
// "--num-layers". Nothing where it is none.
std::optional<TrainingFile> training_plan(std::string_view text, const std::string& file);

// What `run` or `collective` printed with --format json (schemas/run.json), in short.
Outcome parse_outcome(std::string_view text, const std::string& file);
// Whether a JSON file is such a result, by its keys.
bool is_outcome(std::string_view text);

// A suite of the gate (schemas/suite.json).
GateSuite parse_suite(std::string_view text, const std::string& file);
// Numbers of a JSON file of results, by their way in it: "throughput", "batch 32/latency_ms". Others are left out.
std::map<std::string, double> parse_results(std::string_view text, const std::string& file);
// What --update-baseline stores, one entry a scenario: of its metrics those that have a value.
struct BaselineUpdate {
    std::map<std::string, double> values;
    std::optional<Outcome> before;
};
// The suite's text with new baselines; all else stays, in its order. `facts` of machines replace those there were.
std::string updated_suite(std::string_view text, const std::string& file, const std::vector<BaselineUpdate>& updates,
                          const std::map<std::string, Words>& facts);

// Measured training steps of a source, with the plan that each row describes. A text is one when its rows have a
// `measured` each; tables of collectives have none.
bool is_measured_steps(std::string_view text);
std::vector<MeasuredStep> parse_measured_steps(std::string_view text, const std::string& file);

Measurements parse_measurements(std::string_view text, const std::string& file);
// Tables that the model cannot reach, and why (schemas/out_of_reach.json).
std::vector<OutOfReach> parse_out_of_reach(std::string_view text, const std::string& file);
// The errors of sources that a fit had not seen, as `calibrate --format json` wrote them. Refused unless they are of
// the constants and inputs with these hashes.
std::vector<UnseenErrors> parse_unseen(std::string_view text, const std::string& file,
                                       const std::string& constants_hash, const std::string& inputs_hash);

// A file of measured exchanges of tokens by many libraries, a row each; a table of each that has a time or a rate.
bool is_expert_rows(std::string_view text);
std::vector<Measurements> parse_expert_rows(std::string_view text, const std::string& file);

// What nccl-tests printed, with old or new columns, also behind a launcher's prefixes ("[1,0]<stdout>:", "3: "). Of the
// two measurements of a row it takes the out-of-place one, or the in-place one where that has no time. The cluster is
// left empty; the collective too where the log does not name it.
Measurements parse_nccl_tests(std::string_view text, const std::string& file);

// The same of what nccl-tests wrote with -J. NCCL's variables of the run's environment pin the choice.
Measurements parse_nccl_tests_json(std::string_view text, const std::string& file);
// Whether a JSON text is such a file, and no table of measurements.
bool is_nccl_tests_json(std::string_view text);

// A bare system of the schema in schemas/system.json. Activities come in the order of its flows.
struct SolveCase {
    std::string id;
    std::vector<std::string> flows;
    System system;
};
std::vector<SolveCase> parse_solve(std::string_view text, const std::string& file);

// "8..16GiB" with a factor, or "1 MiB,4MiB,1000". In the order given; throws for none.
std::vector<Bytes> parse_sizes(std::string_view words, double factor);

Collective parse_collective(std::string_view word);
Protocol parse_protocol(std::string_view word);  // in any case of letters
AlgorithmKind parse_algorithm(std::string_view word);

// "NCCL_ALGO=allreduce:tree,ring": sets what NCCL's variable of that name does. Known: NCCL_ALGO, NCCL_PROTO,
// NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS, NCCL_MIN_CTAS, NCCL_MAX_CTAS, NCCL_NVLS_ENABLE, NCCL_PXN_DISABLE,
// NCCL_PAT_ENABLE, NCCL_BUFFSIZE, NCCL_P2P_NET_CHUNKSIZE, NCCL_NCHANNELS_PER_NET_PEER, NCCL_TUNER_CONFIG_FILE.
void set_nccl_variable(std::string_view assignment, Pins& pins);
bool has_nccl_knob(std::string_view assignment);  // whether set_nccl_variable knows the name; without a value too
// MSCCL's XML: who sends which chunk to whom, step by step. The schedule is played on sets of contributions; refused
// with its line is what waits for ever, a send that nobody receives, a place outside its buffer, and an output that
// lacks a contribution or has it twice. Throws LimitReached for files beyond what this can follow.
CustomAlgorithm parse_msccl(std::string_view text, const std::string& file);

// The file of NCCL's example tuner plugin: rules as CSV, the first that fits wins.
std::vector<TunerRule> parse_tuner_rules(std::string_view text, const std::string& file);

// CRC-64 of a text, as 16 hexadecimal digits.
std::string hash_of(std::string_view text);

}  // namespace fmsim
