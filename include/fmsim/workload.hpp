// What ranks do, as people write it, and the tasks that come of it.
//
//   const Workload work = in_turn({{"layer 0", Collective::all_reduce, Bytes{1 << 20}}});    // on all ranks
//   const std::vector<Task> tasks = tasks_of(work.jobs[0], 16);                              // 16 ranks
//
// A workload is one or more jobs on one cluster. A job has ranks, named groups of them, and programs: each rank issues
// the operations of its program in their order, and runs those of one stream one after another. Collectives and
// transfers pair the ranks up by that order, as NCCL does: the k-th collective that a rank issues on a group meets the
// k-th of every other member, the k-th message from a rank to another the k-th receive there. Who meets whom does not
// depend on time, so tasks_of finds every deadlock before anything runs. Not here: files, algorithms, links, time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fmsim/base.hpp"

namespace fmsim {

// ---- What one rank does ----

// On its GPU: a duration, or work that the GPU's rates turn into one.
struct Compute {
    std::optional<SimTime> duration;
    double flops{};
    Bytes bytes;        // of HBM
    std::string dtype;  // of the FLOPs: "bf16"
};
struct Delay {
    SimTime span;
};
// Where tokens go: to top_k different experts drawn from all alike; to as many ranks as they can, in turn; or to some
// experts more than to others: expert i in an order drawn from the seed is as popular as 1 / (1 + skew i).
enum class TokenRouting : std::uint8_t { random, balanced, skewed };
std::string_view name(TokenRouting routing);  // "random"
inline constexpr std::array kTokenRoutings{TokenRouting::random, TokenRouting::balanced, TokenRouting::skewed};

// Tokens out to the experts of a mixture, or what these made of them back (room moe).
struct ExpertCall {
    bool combine{};           // back; else out
    std::uint32_t tokens{};   // of each rank
    std::uint32_t hidden{};   // elements of a token
    std::uint32_t top_k{};    // experts of a token
    std::uint32_t experts{};  // of all ranks together; rank r has those from r * experts / ranks on
    std::uint32_t limit{};    // a token's experts are in at most so many domains (node-limited routing); 0: any
    std::string dtype;        // of the elements on their way: "fp8", with its scales
    std::string dispatcher;   // of the catalogue
    TokenRouting routing{};
    double skew{};
    std::uint64_t seed{};
    std::uint32_t sms{};  // that its kernels take; 0: as many as the dispatcher takes by itself
    bool operator==(const ExpertCall&) const = default;
    std::string_view kind() const { return combine ? "moe_combine" : "moe_dispatch"; }
};
std::string to_text(const ExpertCall& call);  // all of it, in one line

// An element type as it travels: "fp8" is a byte, and four more for each 128 elements of a token.
struct TokenType {
    std::string_view name;
    std::uint32_t bits{};         // of an element
    std::uint32_t scale_bytes{};  // of a block
    std::uint32_t block{};        // elements with one scale; 0: none
};
inline constexpr std::array kTokenTypes{TokenType{"bf16", 16, 0, 0}, TokenType{"fp16", 16, 0, 0},
                                        TokenType{"fp32", 32, 0, 0}, TokenType{"fp8", 8, 4, 128},
                                        TokenType{"nvfp4", 4, 1, 16}};
// Bytes of one token on its way, scales included. Throws InputError for a type that is none of the above.
std::int64_t token_bytes(const ExpertCall& call);
// tokens x top_k x hidden x element, scales and de-duplication aside: how the published tables count an exchange.
Bytes size_of(const ExpertCall& call);

// With its group. `group` counts Job::groups.
struct CollectiveCall {
    Collective collective{};
    Bytes size;
    std::uint32_t group{};
    std::uint32_t root{};                               // position in the group: broadcast, reduce
    std::vector<std::vector<std::int64_t>> pair_bytes;  // all_to_all with unequal parts: [from][to]; else empty
    std::string algorithm;                              // pinned, as NCCL names it; empty: NCCL's choice
    std::string protocol;
    std::optional<ExpertCall> experts{};  // all_to_all of the tokens of a mixture of experts; `size` is size_of() them
};
CollectiveCall call_of(ExpertCall experts, std::uint32_t group);
// Another rank: by its number in the job, or as far from the own one (modulo the job's ranks).
struct Peer {
    bool relative{};
    std::int64_t rank{};
};
struct Send {
    Peer to;
    Bytes size;
};
struct Receive {
    Peer from;
    Bytes size;
};
// Started together, as between ncclGroupStart and ncclGroupEnd; over when all are. One send is a list of one.
struct Transfers {
    std::vector<Send> sends;
    std::vector<Receive> receives;
};
using Action = std::variant<Compute, Delay, CollectiveCall, Transfers>;

// Waits for the one before it on its stream, for those in `after`, and for its start.
struct Operation {
    std::string name;
    std::string stream;                // of its rank; "" is one too
    std::vector<std::uint32_t> after;  // operations of the same program
    SimTime start;                     // not before this, counted from the job's start
    Action action;
    std::string place;  // where it is written (RFC 6901), for messages; empty: as it is counted in its job
};

// ---- Jobs ----

// Ranks in an order; a family of them when several run the same side by side: the tensor-parallel groups of a job.
// Either members, or a size and a stride, which cut all ranks of the job as Megatron does: of 16, size 4 and stride 2
// gives 0 2 4 6, 1 3 5 7, 8 10 12 14, 9 11 13 15. With neither it is one group of all ranks.
struct GroupFamily {
    std::string name;
    std::vector<std::vector<std::uint32_t>> members;  // of each group; no rank in two of them
    std::uint32_t size{};
    std::uint32_t stride{1};
    std::string place;
};

// The groups of a family on a job of `ranks` ranks. Throws InputError where they do not fit.
std::vector<std::vector<std::uint32_t>> groups_of(const GroupFamily& family, std::uint32_t ranks);

struct Program {
    std::string role;
    std::vector<std::uint32_t> ranks;  // none: all of the job
    std::vector<Operation> operations;
    std::string place;
};

// Which GPUs a job gets; the words are those of --placement, --gpus and --per-domain.
struct PlacementWish {
    std::string placement = "linear";
    std::uint32_t gpus{};        // 0: all
    std::uint32_t per_domain{};  // 0: all of each domain
};

struct Job {
    std::string name;
    std::optional<PlacementWish> wish;  // none: as the command line has it
    SimTime start;
    std::vector<GroupFamily> groups;
    std::vector<Program> programs;  // of all its ranks; one that is in none does nothing
};

struct Workload {
    std::string name;
    std::vector<Job> jobs;
    std::vector<std::pair<std::string, std::string>> environment;  // NCCL_ variables
    std::vector<std::pair<std::string, std::string>> scenario;     // words of the command line: {"cluster", "p5:2"}
};

// One collective after another, on all ranks.
struct Call {
    std::string name;
    Collective collective{};
    Bytes size;
};
Workload in_turn(const std::vector<Call>& calls);

// ---- Tasks: each thing that happens once, on all its ranks together ----

struct Task {
    std::uint32_t program{};  // whose operation it is: of a collective its group's first, of a transfer the sender
    std::uint32_t operation{};
    std::vector<std::uint32_t> ranks;  // one; a group in its order; sender and receiver
    std::vector<std::uint32_t> after;  // earlier tasks, in order, each once
    SimTime start;                     // not before this, counted from the job's start
    Bytes size;                        // of a transfer
};

// In an order in which each comes after those it waits for. Throws InputError where the job cannot end: a collective
// that a member never calls or calls with another size or kind, a send without its receive, ranks that wait for each
// other in a circle. The problem names operation, group, who arrived and who did not. Throws LimitReached beyond 2^28
// operations of ranks. Cost: linear in the operations of all ranks and in who waits for whom.
std::vector<Task> tasks_of(const Job& job, std::uint32_t ranks);

// What can be refused without knowing the ranks: negative sizes, unknown groups, names twice, circles of `after`.
// Throws InputError with pointers but without a file.
void check(const Workload& workload);

// The bytes that nccl-tests counts for each byte of the size: busbw = algbw * this. all_reduce: 2(n-1)/n.
double bus_factor(Collective collective, std::uint32_t ranks);

}  // namespace fmsim
