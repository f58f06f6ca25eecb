// How NCCL cuts the data of a channel; shared by the chunks and by the AWS tuner, which foresees them.
#pragma once

#include "fmsim/choice.hpp"

namespace fmsim {

// Tree LL128: halved while the channel has too little for the depth of the tree.
std::int64_t tree_ll128_chunk(std::int64_t chunk, std::int64_t on_channel, std::uint32_t domains,
                              std::uint32_t ranks_a_domain, const NcclChunks& rules);

// What the AWS plugin makes of a chunk; the chunk itself where it has no rule.
std::int64_t aws_chunk(const Communicator& communicator, Collective collective, const Pick& pick,
                       std::int64_t on_channel, std::int64_t chunk, const AwsTuner& aws);

}  // namespace fmsim
