// What NCCL calls things.
#include <array>

#include "fmsim/choice.hpp"

namespace fmsim {

std::string_view name(AlgorithmKind algorithm) {
    static constexpr PerAlgorithm<std::string_view> kNames{{"Tree", "Ring", "NVLS", "NVLSTree", "PAT"}};
    return kNames[algorithm];
}

std::string_view name(PickedBy by) {
    static constexpr std::array<std::string_view, 3> kNames{"NCCL", "AWS tuner", "tuner file"};
    return kNames[static_cast<std::size_t>(by)];
}

}  // namespace fmsim
