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

#include <cstdint>
#include <optional>
#include <string>
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
// With its group. `group` counts Job::groups.
struct CollectiveCall {
    Collective collective{};
    Bytes size;
    std::uint32_t group{};
    std::uint32_t root{};                               // position in the group: broadcast, reduce
    std::vector<std::vector<std::int64_t>> pair_bytes;  // all_to_all with unequal parts: [from][to]; else empty
    std::string algorithm;                              // pinned, as NCCL names it; empty: NCCL's choice
    std::string protocol;
};
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
