// What NCCL believes of a pair of algorithm and protocol, whether it is allowed or not.
#pragma once

#include <bit>
#include <cstdint>

#include "fmsim/choice.hpp"

namespace fmsim {

// Volta, Ampere, Hopper, Blackwell.
inline std::size_t generation(std::uint32_t compute_capability) {
    if (compute_capability >= 100) return 3;
    if (compute_capability >= 90) return 2;
    return compute_capability >= 80 ? 1 : 0;
}

// NCCL's logarithm: rounded down.
inline std::uint32_t floor_log2(std::uint64_t value) { return static_cast<std::uint32_t>(std::bit_width(value)) - 1; }

inline double gbps(BytesPerSecond rate) { return rate.value / 1e9; }

// Of the algorithm, in GB/s of the collective's bytes; 0: NCCL will not have it.
double believed_gbps(const Communicator& communicator, Collective collective, AlgorithmKind algorithm,
                     Protocol protocol, const NcclTuning& tuning);
double believed_latency_us(const Communicator& communicator, Collective collective, AlgorithmKind algorithm,
                           Protocol protocol, const NcclTuning& tuning);
// Of an operation of this size among `operations` tuned together.
double believed_us(const Communicator& communicator, Collective collective, Candidate candidate, Bytes size,
                   std::uint32_t operations, const NcclTuning& tuning);

}  // namespace fmsim
