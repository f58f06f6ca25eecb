// A sum for each of the resources that something was added to: few of a large machine, so no array over all of it, and
// many additions, so no tree. Open addressing; asked for, they come in order of id.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "fmsim/engine.hpp"

namespace fmsim {

class ResourceSums {
public:
    void add(ResourceId resource, double value) {
        if (2 * count_ >= slots_.size()) grow();
        Slot& slot = find(resource.value);
        count_ += slot.key == kFree ? 1 : 0;
        slot.key = resource.value;
        slot.sum += value;
    }
    double largest() const {  // 0 when there is none
        double most = 0;
        for (const Slot& slot : slots_) most = std::max(most, slot.sum);
        return most;
    }
    std::vector<std::pair<ResourceId, double>> in_order() const {
        std::vector<std::pair<ResourceId, double>> all;
        for (const Slot& slot : slots_)
            if (slot.key != kFree) all.push_back({{slot.key}, slot.sum});
        std::sort(all.begin(), all.end());
        return all;
    }

private:
    static constexpr std::uint32_t kFree = 0xffffffff;
    struct Slot {
        std::uint32_t key = kFree;
        double sum = 0;
    };
    Slot& find(std::uint32_t key) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = (key * 0x9e3779b97f4a7c15 >> 32) & mask;
        while (slots_[at].key != key && slots_[at].key != kFree) at = (at + 1) & mask;
        return slots_[at];
    }
    void grow() {
        std::vector<Slot> before(std::max<std::size_t>(16, 2 * slots_.size()));
        before.swap(slots_);
        for (const Slot& slot : before)
            if (slot.key != kFree) find(slot.key) = slot;
    }

    std::vector<Slot> slots_;  // a power of two of them, half free
    std::size_t count_ = 0;
};

}  // namespace fmsim
