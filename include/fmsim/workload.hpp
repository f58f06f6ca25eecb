// A training job -> the operations its ranks perform.
//
//   const Job job{.name = "gradients", .calls = {{"layer 0", Collective::all_reduce, Bytes{1 << 20}}}};
//
// Today a job is a list of collectives over all ranks, one after another. Not here: files, algorithms, time.
#pragma once

#include <string>
#include <vector>

#include "fmsim/base.hpp"

namespace fmsim {

struct Call {
    std::string name;
    Collective collective{};
    Bytes size;  // all_reduce: the buffer of each rank
};

struct Job {
    std::string name;
    std::vector<Call> calls;  // each starts when the one before has ended on all ranks
};

// Throws InputError on a negative size, an empty job, or two calls of one name.
void check(const Job& job);

// The bytes that nccl-tests counts for each byte of the buffer: busbw = algbw * this. all_reduce: 2(n-1)/n.
double bus_factor(Collective collective, std::uint32_t ranks);

}  // namespace fmsim
