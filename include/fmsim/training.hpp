// A model, a parallel plan and a cluster -> the time of a training step, where it goes, and whether it fits in memory.
//
//   Exchanges exchanges(cluster, 0, nccl);                          // times of collectives, kept
//   const Trainer trainer{gpu, kernels, constants};                 // what a GPU does
//   const StepPrediction step = predict_step(plan, trainer, exchanges);
//   step.seconds; step.parts;                                       // parts add up to the step
//
// Kernels of one layer come from the room kernels, collectives from predict on one representative group of each family
// (with all its sister groups at once), and the pipeline's schedule is played chunk by chunk on every stage. Ranks are
// laid out as Megatron does: tensor fastest, then context, data, pipeline; experts over tensor, context and data.
// docs/models/training.md has the forms, the constants and the errors beside measured steps. Not here: files.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/choice.hpp"
#include "fmsim/kernels.hpp"
#include "fmsim/lowering.hpp"
#include "fmsim/predict.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

// ---- Models ----

// Multi-head latent attention: queries and keys/values go through narrow projections (DeepSeek).
struct LatentAttention {
    std::int64_t q_rank{};  // 0: queries are projected at once
    std::int64_t kv_rank{};
    std::int64_t nope{};  // of a head of queries and keys, the part without positions
    std::int64_t rope{};  // and with
    std::int64_t v{};
};

struct MixtureOfExperts {
    std::int64_t experts{};
    std::int64_t chosen{};  // a token
    std::int64_t ffn{};     // of one
    std::int64_t shared_ffn{};
    std::int64_t first_dense{};  // layers without experts at the start
    std::int64_t every = 1;      // of the others each so manieth has experts
    bool bias{};                 // of experts and router
};

struct TransformerModel {
    std::string name;
    std::int64_t layers{};
    std::int64_t hidden{};
    std::int64_t ffn{};  // of dense layers
    std::int64_t heads{};
    std::int64_t kv_heads{};
    std::int64_t head_dim{};
    std::int64_t vocabulary{};
    bool gated = true;             // SwiGLU and such: three matrices instead of two
    bool tied{};                   // input and output embedding are one
    bool bias{};                   // of linear layers
    bool norm_bias{};              // layer norm instead of RMS norm
    bool qkv_bias{};               // of those alone
    bool qk_norm{};                // of each head of queries and keys
    bool sinks{};                  // a learned logit a head
    std::int64_t positions{};      // learned ones; 0: rotary
    std::int64_t window{};         // keys that a query sees at most; 0: all
    std::int64_t window_every{1};  // of so many layers one has it
    std::optional<LatentAttention> latent;
    std::optional<MixtureOfExperts> experts;
    std::int64_t mtp_layers{};  // multi-token prediction: a block, a projection and the output once more
};

// Exact, of the whole model or of one layer.
struct ParameterCounts {
    std::int64_t attention{};  // with its norms
    std::int64_t dense{};      // MLPs, routers, shared experts and norms
    std::int64_t routed{};     // all routed experts
    std::int64_t embedding{};  // input, positions, output, last norm
    std::int64_t mtp{};
    std::int64_t active{};  // that a token meets, mtp left out
    std::int64_t all() const { return attention + dense + routed + embedding + mtp; }
};
ParameterCounts parameters_of(const TransformerModel& model);
ParameterCounts layer_parameters(const TransformerModel& model, std::int64_t layer);
bool has_experts(const TransformerModel& model, std::int64_t layer);

// Of products of a token, forward and backward, no recomputation.
struct ModelFlops {
    double products{};   // 6 a parameter that multiplies it, output projection and mtp too
    double attention{};  // pairs of query and key that are not masked
    double attention_full{};
    double causal() const { return products + attention; }
    double full() const { return products + attention_full; }
};
ModelFlops flops_a_token(const TransformerModel& model, std::int64_t sequence);

// ---- Plans ----

enum class Sharding : std::uint8_t {
    none,   // all gradients are summed everywhere, all parameters updated everywhere
    zero1,  // optimizer state in parts: gradients are reduce-scattered, parameters gathered
    fsdp_whole,  // zero1 with FSDP's copies beside the shards: reshard_after_forward false, as in PyTorch's pipelines
    zero2,  // gradients too: scattered after each micro-batch
    zero3,  // parameters too (FSDP): gathered layer by layer
};
enum class PipelineSchedule : std::uint8_t { gpipe, one_f_one_b, zero_bubble, dual_pipe };
enum class ContextExchange : std::uint8_t { ring, all_gather, all_to_all };
// How tokens go to experts: to each expert's rank, or once to each domain and on from there (DeepEP, HybridEP).
enum class Dispatch : std::uint8_t { all_to_all, once_a_domain };

struct Recompute {
    bool all{};  // everything but a layer's input
    bool attention{};
    bool norms{};
    bool activations{};
    bool mlp{};
    bool latent_up{};
    bool experts{};
    bool half_products{};  // every second product, and all that is cheap (per-operator)
    bool any() const {
        return all || attention || norms || activations || mlp || latent_up || experts || half_products;
    }
    bool operator==(const Recompute&) const = default;
};

// What runs beside computing.
struct Overlap {
    bool gradients = true;   // sums of gradients beside the last backward passes
    bool parameters = true;  // gathers of parameters beside the first forward passes
    bool tensor = false;     // tensor-parallel exchanges cut up and beside their products
    bool pipeline = true;    // messages between stages
    bool experts = false;    // expert exchanges beside another micro-batch
};

// GPUs that are not equally fast.
struct Stragglers {
    double jitter{};            // standard deviation of a GPU's time over that of the fastest, less 1
    std::uint32_t slow_gpus{};  // somewhere in the job
    double slow_by = 1;         // their time over that of the others
    std::uint64_t seed = 1;
    bool any() const { return jitter > 0 || (slow_gpus > 0 && slow_by > 1); }
};

struct TrainingPlan {
    TransformerModel model;
    std::uint32_t gpus{};
    std::int64_t sequence{};
    std::int64_t global_batch{};  // sequences a step
    std::int64_t micro_batch = 1;
    Precision precision{};
    std::string attention;      // implementation; empty: the GPU's usual one; "unfused": stored scores
    bool fused = true;          // small kernels are fused (compiled, or written so)
    bool graph = false;         // CUDA graphs
    bool graph_experts = true;  // of routed experts too, where `graph`; else the host issues those kernel by kernel
    Recompute recompute;
    std::uint32_t tensor = 1, context = 1, pipeline = 1, experts = 1;
    std::uint32_t expert_tensor = 1;
    std::uint32_t chunks = 1;        // of a stage: interleaved
    std::uint32_t first_layers = 0;  // of the first stage, where it differs; 0: even
    std::uint32_t last_layers = 0;   // and of the last
    bool ends_count = false;         // embedding and loss each count as a layer when layers are dealt out
    bool sequence_parallel = true;   // with tensor > 1
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    ContextExchange context_exchange = ContextExchange::ring;
    Dispatch dispatch = Dispatch::all_to_all;
    std::int64_t dispatch_bits = 16;
    Sharding sharding = Sharding::zero1;
    std::uint32_t shard_group = 0;     // zero3: ranks that share one copy; 0: all of data and context
    std::uint32_t gradient_bits = 32;  // as they are summed
    std::uint32_t gather_bits = 16;    // as parameters are gathered
    std::uint32_t state_bytes = 12;    // of optimizer state a parameter: master copy and two moments
    bool frozen = false;               // adapters only (LoRA): no gradients of weights
    bool offload = false;              // parameters and state on the host
    Overlap overlap;
    Stragglers stragglers;
    std::uint32_t data() const { return gpus / tensor / context / pipeline; }
    std::int64_t micro_batches() const { return global_batch / data() / micro_batch; }
};
// A plan as a file has it, with where it runs.
struct TrainingFile {
    std::string name;
    std::string cluster;  // short form; empty: the command line has it
    std::uint32_t per_domain{};
    double tokens{};  // of the whole training; 0: not said
    // What waits for the number of GPUs, where `plan` has none.
    std::uint32_t copies{};     // of sharded parameters (HSDP); 0: the plan's shard_group says it
    std::int64_t copy_batch{};  // sequences a step of each rank of data parallelism; where the plan's global_batch is 0
    std::string prefers;        // implementation of attention, where the GPU has it
    TrainingPlan plan;
};
// Fills in what waits for the GPUs, which `plan.gpus` says.
void complete(TrainingFile& file, const KernelFacts& kernels);
// Throws InputError, all that is wrong at once: degrees that do not divide, batches that do not come out.
void check(const TrainingPlan& plan);
// Layers of each chunk of each stage: [stage][chunk].
std::vector<std::vector<std::int64_t>> layers_of(const TrainingPlan& plan);

// ---- Constants (topologies/training.json) ----

struct TrainingConstants {
    std::map<std::string, double> power;  // by GPU: the clock that its power leaves it in training, of the one assumed
    double products{};                    // speed of products between others, over that of one alone
    std::map<std::string, double> attention;  // the same of attention, by implementation
    double streams{};                         // of kernels that HBM bounds
    double grouped{};                         // of products of experts, besides
    double unfused{};                         // traffic of small kernels where they are not fused, over fused
    double loss_passes{};                     // over the logits, 32 bits, forward and backward
    double tensor_hidden{};                   // of a tensor-parallel exchange, hidden where `overlap.tensor`
    double overlap_slows{};                   // computing beside an exchange: time lost, of the exchange's
    SimTime layer_host;       // of the host, a layer and pass, kernel by kernel; a CUDA graph needs none
    SimTime experts_host;     // and of a layer of experts besides: routing, permutations
    SimTime expert_host;      // and of each expert on the GPU: libraries issue products expert by expert
    SimTime expert_host_low;  // where operands are quantised first
    std::map<std::string, double> host_slower;  // by instance type: such times over those of the others; absent: 1
    // Of a layer of experts whose tokens cross the fabric, by fabric or fabric/once_a_domain: what the GPU waits for
    // hosts and proxies, not in a graph; and the part of the collective's speed that unequal parts leave.
    std::map<std::string, SimTime> experts_gap;
    std::map<std::string, double> experts_wire;
    double experts_hidden{};  // of an expert exchange, hidden where `overlap.experts`
    double bias_passes{};     // over the rows of experts that have a bias, where it is added outside of the products
    SimTime exchange_host;    // to issue one exchange of a layer
    SimTime chunk_gap;        // of a stage, a chunk of a micro-batch
    SimTime step_gap;         // of a step: data, norm of gradients, logging
    SimTime step_graph;       // where CUDA graphs hold the step
    double straggler{};       // part of a step lost for each doubling of the domains
    double imbalance{};       // most tokens of a rank of experts over the mean, less 1
    Bytes reserved;           // memory of context, libraries and communicators
    double fragmentation{};   // of activations
};

// ---- Time of collectives ----

// A family of groups that run side by side: `size` ranks, `stride` apart, over all ranks of the job.
struct Family {
    std::uint32_t size{};
    std::uint32_t stride{1};
    auto operator<=>(const Family&) const = default;
};

class Exchanges {
public:
    // `per_domain`: GPUs of each domain that the job has; 0: all. A fault is one of the representative block's, wherever
    // it lies: the slowest block decides.
    Exchanges(Cluster cluster, std::uint32_t per_domain, Nccl nccl, Pins pins = {});
    ~Exchanges();
    Exchanges(Exchanges&&) noexcept;
    // Of one call, on all groups of the family at once. 0 for a group of one.
    double seconds(const Family& family, Collective collective, double bytes);
    // One message from each rank to that `stride` further.
    double message_seconds(std::uint32_t stride, double bytes);
    std::uint32_t domain_gpus() const;                     // that the job has of one
    std::uint32_t domains_of(const Family& family) const;  // that one group is spread over
    const Cluster& cluster() const;

    // From now on times are those at these costs, with the choices as they were at the cluster's own.
    void set_costs(const CostFactors& factors);
    // What one call is predicted from: a block of the family on as many domains as are simulated.
    struct Scenario {
        const Topology* topology{};  // as long as this lives
        Prediction prediction;
    };
    Scenario scenario(const Family& family, Collective collective, double bytes);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// ---- The step ----

enum class StepPart : std::uint8_t {
    products,
    attention,
    experts,  // products of routed experts
    streams,  // kernels that HBM bounds
    recompute,
    host,
    tensor,  // exposed exchanges, by group
    context,
    expert_exchange,
    data,
    pipeline,
    optimizer,
    bubble,
    stragglers,
};
inline constexpr std::size_t kStepParts = static_cast<std::size_t>(StepPart::stragglers) + 1;
std::string_view name(StepPart part);

struct Parts {
    std::array<double, kStepParts> seconds{};
    double& operator[](StepPart part) { return seconds[static_cast<std::size_t>(part)]; }
    double operator[](StepPart part) const { return seconds[static_cast<std::size_t>(part)]; }
    double all() const;
    Parts& add(const Parts& other, double times = 1);
};

struct MemoryParts {
    double parameters{}, gradients{}, state{}, activations{}, buffers{}, reserved{};
    double all() const { return parameters + gradients + state + activations + buffers + reserved; }
};

struct StagePrediction {
    std::int64_t layers{};
    double parameters{};  // on one GPU, shards not counted
    Parts parts;          // add up to the step
    MemoryParts memory;
};

// A kind of exchange of the step: what it moves and how long one call takes.
struct ExchangeUse {
    std::string name;  // "tensor all_gather"
    Family family;
    Collective collective{};
    double bytes{};
    double seconds{};  // of one call
    double calls{};    // of layers in a step, on the stage with most; 0: once a step or a message
    std::uint32_t domains = 1;  // that one group is spread over
};

// A pass that a stage takes next: 0 backward, 1 forward, 2 gradients of weights.
struct PipelinePick {
    int kind{};
    std::size_t stage{}, way{};
};

// What a step costs at the catalogue's prices, and what a checkpoint of parameters and optimizer state asks of a host.
struct Outlay {
    std::uint32_t instances{};
    std::optional<double> on_demand_usd, capacity_block_usd;  // a step; none: no price is published
    double checkpoint{};                                      // bytes of an instance, each byte saved once
    double of_host_memory{}, of_drives{};                     // as parts of what it has; 0: it has none
};

struct StepPrediction {
    double seconds{};
    double tokens_per_second_gpu{};
    ModelFlops flops;          // a token
    double model_flops_gpu{};  // a second, causal
    double mfu{};              // of the peak of the plan's precision
    double peak{};
    double bubble{};  // share of a step that stages wait for each other
    std::vector<StagePrediction> stages;
    std::size_t slowest{};  // stage whose parts are shown
    Outlay outlay;
    std::vector<ExchangeUse> exchanges;
    std::vector<PipelinePick> order;  // of zero_bubble and dual_pipe, whose stages take what is there
    const Parts& parts() const { return stages[slowest].parts; }
};

struct Trainer {
    Gpu gpu;
    KernelFacts kernels;
    TrainingConstants constants;
};

struct StepOptions {
    bool must_fit = true;  // throws Infeasible when a stage needs more than the GPU's memory
    const std::vector<PipelinePick>* order = nullptr;  // of another prediction of the plan: its stages' passes
};

// Throws InputError as check() does, Infeasible when it does not fit or the GPU lacks the units.
StepPrediction predict_step(const TrainingPlan& plan, const Trainer& trainer, Exchanges& exchanges,
                            const StepOptions& options = {});
// ---- What a step is made of ----

// A kernel of a stage, all that are alike together.
struct KernelUse {
    StepPart part{};
    std::string name;  // "product 8192 x 6656 x 16384 bf16, backward"
    double times{};    // a step
    double seconds{};  // of all of them; launches are the host's part
    Bound bound{};     // what holds each
    double least_s{};  // of all: FLOPs at the GPU's peak or bytes at its HBM's rate, whichever is longer
};
// Of one stage over a step, the longest first. Of a part that kernels make up (products, attention, experts, streams,
// recompute) they add up to it.
std::vector<KernelUse> kernels_of(const TrainingPlan& plan, const Trainer& trainer, std::size_t stage);
// The same trainer where units, HBM and hosts have these costs.
Trainer at_cost(const Trainer& trainer, const CostFactors& factors);

// Of every stage.
std::vector<MemoryParts> memory_of(const TrainingPlan& plan, const TrainingConstants& constants);

// ---- A pipeline's schedule alone ----

struct PipelineCosts {
    std::uint32_t stages{}, chunks{1};
    std::int64_t micro_batches{};
    std::vector<std::vector<double>> forward, backward;  // [stage][chunk], seconds
    std::vector<std::vector<double>> weights;            // of zero_bubble: the part of backward that can wait
    double message{};                                    // from a stage to the next
    bool message_hidden = true;                          // else the sender waits for it
    std::vector<std::vector<double>> ready;              // before which a chunk cannot start; empty: at once
    const std::vector<PipelinePick>* order = nullptr;    // of a schedule that takes what is there: not another one
};
struct PipelineTimes {
    double seconds{};
    std::vector<double> busy;                // of a stage
    std::vector<std::vector<double>> ended;  // the last backward pass of a chunk
    std::vector<std::int64_t> messages;      // that a stage sends
    std::vector<std::int64_t> alive;         // most forward passes that wait for their backward one, in chunks
    std::vector<PipelinePick> order;         // of a schedule that takes what is there
};
PipelineTimes play(PipelineSchedule schedule, const PipelineCosts& costs);

// ---- Beside measured steps ----

// A measured step, and the plans that its source leaves open: the fastest that fits is what its authors ran.
struct MeasuredStep {
    std::string id;
    std::string source;  // file, without its ending
    std::string gpu;
    std::string precision;  // as written
    bool experts{};
    std::string confidence;
    bool recompute_known{};  // the source says what is computed again
    std::string cluster;     // short form; empty: not known
    std::uint32_t per_domain{};
    double seconds{};
    std::vector<TrainingPlan> plans;
    std::string why;  // there is no plan
};
struct ComparedStep {
    MeasuredStep measured;
    double predicted{};  // seconds; 0: none was made
    std::string why;
    TrainingPlan plan;  // of those that could be meant
    StepPrediction step;
    double baseline{};  // seconds by the median MFU of the other rows of this GPU, precision and kind
    double error() const { return predicted / measured.seconds - 1; }
};
// `step` and `why` set. Never throws for what a row says.
ComparedStep compare(const MeasuredStep& measured, const Trainer& trainer, Exchanges& exchanges);
void add_baselines(std::vector<ComparedStep>& rows);

struct ErrorsOfSteps {
    std::size_t rows{};
    double median{}, p90{}, mean{}, worst{};  // of |error|
    double bias{};                            // median of the error with its sign
};
ErrorsOfSteps errors_of(std::vector<double> errors);

// Two rows of one source that differ in one thing.
struct PairOfSteps {
    std::size_t a{}, b{};
    std::string differs;
    double measured{}, predicted{};  // a over b, of tokens a second and GPU
    bool same_order() const { return (measured > 1) == (predicted > 1); }
};
std::vector<PairOfSteps> pairs_of(const std::vector<ComparedStep>& rows);

// At the machine's prices.
Outlay outlay_of(const TrainingPlan& plan, const InstanceType& type, double step_seconds);
// 65e9 parameters, 1.4e12 tokens -> days; and the GPUs that a deadline needs, rounded up to whole machines.
double days_to_train(double tokens, double tokens_per_second_gpu, double gpus);
std::int64_t gpus_to_train(double parameters, double tokens, double days, double flops_gpu, std::uint32_t machine);

}  // namespace fmsim
