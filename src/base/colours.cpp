#include <algorithm>

#include "fmsim/base.hpp"

namespace fmsim {

std::size_t distinct(std::vector<Colour> colours) {
    std::sort(colours.begin(), colours.end());
    return static_cast<std::size_t>(std::unique(colours.begin(), colours.end()) - colours.begin());
}

}  // namespace fmsim
