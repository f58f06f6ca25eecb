// What NCCL's search would find where nobody published a result, by the rules that the published ones follow.
#pragma once

#include "fmsim/choice.hpp"

namespace fmsim {

// What a domain's part of a communicator has, in NCCL's eyes.
struct PartLinks {
    std::uint32_t gpus{};
    std::uint32_t devices{};  // groups of NICs that its GPUs use; 0: alone
    std::uint32_t compute_capability{};
    double nvlink_gbps{};  // of a GPU
    double device_gbps{};
    bool multicast{};
    PathType ring_to_nic{}, tree_to_nic{};
    bool same_order{};  // the search is short enough to find one order for all channels
};

PublishedGraphs graphs_by_rule(const PartLinks& links, const NcclSearch& rules);

}  // namespace fmsim
