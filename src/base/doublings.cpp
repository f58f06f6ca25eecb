#include <algorithm>

#include "fmsim/base.hpp"

namespace fmsim {

double doublings(double n) {
    double power = 1, count = 0;
    for (; 2 * power <= n; power *= 2) ++count;
    return count + std::max(1.0, n) / power - 1;
}

}  // namespace fmsim
