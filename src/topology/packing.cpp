// Fitting jobs into domains with room, and what a placement breaks apart.
//
// By hand: rooms 3, 5, 8. Need 4: the 5. Need 6: the 8. Need 9, preferably in one: the 8, then 1 of the 3, the smallest
// that has room for what is left.
#include <algorithm>

#include "fmsim/topology.hpp"

namespace fmsim {

GroupsAcross groups_across(const Topology& topology, const Placement& placement, std::uint32_t size) {
    GroupsAcross across;
    for (std::size_t first = 0; size > 0 && first < placement.size(); first += size) {
        const auto end = std::min(first + size, placement.size());
        const auto differs = [&](auto what) {
            return std::any_of(placement.begin() + static_cast<std::ptrdiff_t>(first),
                               placement.begin() + static_cast<std::ptrdiff_t>(end),
                               [&](const GpuPlace& gpu) { return what(gpu) != what(placement[first]); });
        };
        ++across.groups;
        across.domains += differs([](const GpuPlace& gpu) { return gpu.domain.value; });
        across.leaves += differs([&](const GpuPlace& gpu) { return topology.leaf_of(topology.instance_of(gpu)); });
    }
    return across;
}

std::vector<RoomTaken> smallest_room(const std::vector<std::uint32_t>& room, std::uint32_t need, bool must_be_one) {
    std::vector<std::uint32_t> left = room;
    std::vector<RoomTaken> taken;
    while (need > 0) {
        std::size_t best = left.size();
        for (std::size_t d = 0; d < left.size(); ++d) {
            if (left[d] == 0) continue;
            const bool fits = left[d] >= need;
            const bool best_fits = best < left.size() && left[best] >= need;
            const bool better = best == left.size() || (fits && !best_fits) ||
                                (fits && best_fits && left[d] < left[best]) ||
                                (!fits && !best_fits && left[d] > left[best]);
            if (better) best = d;
        }
        if (best == left.size() || (must_be_one && left[best] < need)) return {};
        const std::uint32_t part = std::min(left[best], need);
        taken.push_back({best, part});
        need -= part;
        left[best] = 0;
    }
    return taken;
}

}  // namespace fmsim
