// What all algorithms share: an empty schedule of a call, the bytes of its channels, and their cut into loops.
#pragma once

#include <vector>

#include "fmsim/collective.hpp"

namespace fmsim {

// A schedule without channels, and the request as numbers.
Schedule begin_schedule(Collective collective, std::string_view algorithm, const PlanRequest& request);

// What one channel gets of the data, and the bytes of it. Where each rank brings a part of its own (gather, scatter),
// the data are a rank's part, and `exact` may be less than `bytes`: the size need not be a multiple of the ranks.
struct ChannelData {
    Bytes bytes;
    double exact{};
};
std::vector<ChannelData> split_whole(const PlanRequest& request, double traffic_per_byte);
std::vector<ChannelData> split_by_rank(const PlanRequest& request, std::uint32_t ranks);

struct Cut {
    std::uint32_t steps_a_chunk = 1;
    std::uint32_t slices_a_chunk = 1;
};
// Data of a chunk, at most.
double most_chunk(const PlanRequest& request, const Cut& cut);
// Loops over `data` bytes of each block.
std::vector<Loop> loops_of(double data, const PlanRequest& request, const Cut& cut);

// Sends of a hop that may be under way: all the steps of its buffer.
std::uint32_t chunks_in_flight(const PlanRequest& request, const Cut& cut);

// The path that a channel takes inside a part of the group.
const RingPath& path_in(const RingSearch& search, std::uint32_t channel, std::uint32_t part);

// The position of the rank on a GPU of a part.
std::uint32_t position_of(const Group& group, const Group::Part& part, std::uint32_t gpu);

}  // namespace fmsim
