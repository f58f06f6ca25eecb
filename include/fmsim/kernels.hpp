// A GPU and a kernel's shape -> its duration, and what bound it.
//
//   const Kernel gemm = Gemm{.m = 8192, .n = 4096, .k = 4096, .precision = Precision::bf16};
//   const KernelTime time = time_of(gemm, gpu, facts);        // facts: Catalogue::kernels(gpu)
//   time.total();                                             // max(compute, memory) + launch
//   bound_by(time);                                           // Bound::compute
//
// A duration comes from few constants of a GPU generation (topologies/kernels/), each a thing of the machine: the share
// of the published peak that power leaves, the fill and drain of a tile, what feeds one SM, what HBM reads and writes.
// docs/models/kernels.md has the form, and the errors against every measured row.
//
// Not here: layers and models, which kernels a framework fuses, communication.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

// ---- What a generation's file says (topologies/kernels/). ----

struct GemmTile {
    std::uint32_t m{}, n{};
};

struct GemmFacts {
    std::map<std::string, double> sustained;  // share of the published peak that power leaves, by word of Gpu::peak
    std::vector<GemmTile> tiles;              // that the library has kernels for; the best one runs
    BytesPerSecond feed;                      // operands from L2 into one SM
};

// Of one implementation. Each pair of a query and a key costs two matrix products and an exponential.
struct AttentionFacts {
    double matmul{};          // share of the published peak at which its products run
    double pairs_a_second{};  // exponentials and what goes with them, of one SM, where they show beside the products
    SimTime ramp;             // of a block of queries: load, fill, last rescale, store
    double backward{};        // speed of the backward pass over that of the forward one, a FLOP
    std::uint32_t tile{};     // queries of a block, and keys of a step
};

struct LaunchFacts {
    SimTime gap;   // between two kernels of a stream, on the GPU
    SimTime host;  // that the host needs to issue one
};

struct KernelFacts {
    std::string name;  // "hopper"
    GemmFacts gemm;
    SimTime ramp;         // fill and drain of a wave: first loads, last stores
    double read_share{};  // of the published HBM rate, of a stream of reads alone
    double write_share{};
    std::map<std::string, AttentionFacts> attention;  // by implementation: "flash_attention_3"
    std::string usual_attention;                      // the one that runs where none is named
    LaunchFacts launch;                               // kernel by kernel
    LaunchFacts graph;                                // of a CUDA graph
};

// ---- Kernels. Sizes are 0 or more; a size of 0 is a kernel that only launches. ----

// How operands of a matrix product are stored, and so which units multiply them. Sums are FP32 in all.
enum class Precision : std::uint8_t { bf16, fp16, tf32, fp8, fp8_blockwise, mxfp8, nvfp4 };
struct PrecisionKind {
    Precision precision{};
    std::string_view name;
    std::string_view peak;       // its word in Gpu::peak
    std::uint32_t bits{};        // of an element
    std::uint32_t scale_bits{};  // of the scale that a block of elements shares
    std::uint32_t block{};       // elements; 0: one scale for the whole tensor ("tensorwise", "delayed")
};
inline constexpr std::array kPrecisions{
    PrecisionKind{Precision::bf16, "bf16", "bf16", 16, 0, 0},
    PrecisionKind{Precision::fp16, "fp16", "bf16", 16, 0, 0},
    PrecisionKind{Precision::tf32, "tf32", "tf32", 32, 0, 0},
    PrecisionKind{Precision::fp8, "fp8", "fp8", 8, 0, 0},
    PrecisionKind{Precision::fp8_blockwise, "fp8_blockwise", "fp8", 8, 32, 128},
    PrecisionKind{Precision::mxfp8, "mxfp8", "fp8", 8, 8, 32},
    PrecisionKind{Precision::nvfp4, "nvfp4", "fp4", 4, 8, 16},
};
const PrecisionKind& kind(Precision precision);
std::string_view name(Precision precision);
// Of that many elements with their scales; a last byte or block that is not full counts whole.
Bytes stored(std::int64_t elements, Precision precision);

// C (m x n) = A (m x k) B (k x n), `batch` times.
struct Gemm {
    std::int64_t m{}, n{}, k{};
    std::int64_t batch = 1;
    Precision precision{};
    std::uint32_t output_bits = 16;
    bool accumulates{};  // adds to C, such as weight gradients over micro-batches: C is read too
};

// Several products in one launch, such as those of a GPU's experts.
struct GroupedGemm {
    std::vector<Gemm> groups;
};

enum class Pass : std::uint8_t { forward, backward };

// softmax(Q K') V without storing the scores (FlashAttention), BF16 or FP16. Causal: the last query sees all keys, the
// one before one less, and so on.
struct Attention {
    std::int64_t batch = 1;
    std::int64_t heads{};
    std::int64_t kv_heads{};  // fewer than heads: grouped queries
    std::int64_t queries{};   // sequence length
    std::int64_t keys{};
    std::int64_t qk_dim{};  // of a head; 192 and 128 in multi-head latent attention
    std::int64_t v_dim{};
    bool causal = true;
    std::int64_t window{};  // keys that a causal query sees at most; 0: all
    Pass pass{};
    std::string implementation{};  // empty: the generation's usual one
};

// Kernels that HBM bounds, by what they read and write of each element.
enum class Streaming : std::uint8_t {
    copy,           // also permutation, transposition and conversion between 16-bit types
    add,            // residual
    norm,           // RMS or layer norm
    norm_backward,  // gradient of the input; those of the weights stay on chip
    activation,     // GeLU and such
    activation_backward,
    gated_activation,  // SwiGLU and such: elements of the output
    gated_activation_backward,
    rotary,  // in place
    loss,    // cross-entropy: logits read, a number a token written
    loss_backward,
    embedding,           // rows gathered
    embedding_backward,  // rows added to the table's gradient
};
struct StreamingKind {
    Streaming kernel{};
    std::string_view name;
    std::uint32_t reads{}, writes{};  // tensors of that many elements
};
inline constexpr std::array kStreaming{
    StreamingKind{Streaming::copy, "copy", 1, 1},
    StreamingKind{Streaming::add, "add", 2, 1},
    StreamingKind{Streaming::norm, "norm", 1, 1},
    StreamingKind{Streaming::norm_backward, "norm_backward", 2, 1},
    StreamingKind{Streaming::activation, "activation", 1, 1},
    StreamingKind{Streaming::activation_backward, "activation_backward", 2, 1},
    StreamingKind{Streaming::gated_activation, "gated_activation", 2, 1},
    StreamingKind{Streaming::gated_activation_backward, "gated_activation_backward", 3, 2},
    StreamingKind{Streaming::rotary, "rotary", 1, 1},
    StreamingKind{Streaming::loss, "loss", 1, 0},
    StreamingKind{Streaming::loss_backward, "loss_backward", 1, 1},
    StreamingKind{Streaming::embedding, "embedding", 1, 1},
    StreamingKind{Streaming::embedding_backward, "embedding_backward", 2, 1},
};
const StreamingKind& kind(Streaming kernel);

struct Stream {
    Streaming kernel{};
    std::int64_t elements{};
    std::uint32_t bits = 16;  // of an element
};

// Elements of 16 or 32 bits -> a precision with its scales.
struct Quantise {
    std::int64_t elements{};
    std::uint32_t from_bits = 16;
    Precision to{};
    bool transposed_too{};  // written a second time, for the products of the backward pass
};

// Adam: gradient, master copy and moments read; master copy, moments and the new parameter written.
struct OptimizerStep {
    std::int64_t parameters{};
    std::uint32_t gradient_bits = 32;
    std::uint32_t master_bits = 32;  // 0: the parameters themselves are updated
    std::uint32_t moment_bits = 32;  // of each of the two
    std::uint32_t parameter_bits = 16;
};

// What any other kernel moves.
struct Traffic {
    Bytes reads;
    Bytes writes;
    bool operator==(const Traffic&) const = default;
};

using Kernel = std::variant<Gemm, GroupedGemm, Attention, Stream, Quantise, OptimizerStep, Traffic>;

// ---- What they cost. ----

// FLOPs of matrix products, two a multiplication and addition; of attention only pairs that are not masked. 0 for
// kernels that have none. A double is exact up to 2^53, and rounded beyond.
double flops_of(const Kernel& kernel);
// Through HBM, each operand once.
Traffic bytes_of(const Kernel& kernel);

enum class Bound : std::uint8_t { compute, memory, launch };
std::string_view name(Bound bound);

struct KernelTime {
    SimTime compute;  // waves of tiles over the SMs
    SimTime memory;   // bytes through HBM
    SimTime launch;
    SimTime total() const { return (compute < memory ? memory : compute) + launch; }
    bool operator==(const KernelTime&) const = default;
};
Bound bound_by(const KernelTime& time);  // the longest part

// What else goes on while a kernel runs.
struct Setting {
    std::uint32_t sms_taken = 0;  // by communication kernels
    bool in_graph = false;        // launched from a CUDA graph
};

// Throws Infeasible for a precision that the GPU has no units or no measured rate for, and for an attention
// implementation that its generation lacks.
KernelTime time_of(const Kernel& kernel, const Gpu& gpu, const KernelFacts& facts, const Setting& setting = {});

// From the issue of the first to the end of the last of kernels in one stream, where the host issues one after another
// and a kernel waits for its issue and for the one before.
SimTime span_of(std::span<const KernelTime> kernels, const KernelFacts& facts, const Setting& setting = {});

}  // namespace fmsim
