#include "nccl_speeds.hpp"

#include <array>

namespace fmsim {
namespace {

constexpr std::array kDomainAmpere{40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0};
constexpr std::array kDomainHopper{60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0};
constexpr std::array kDomainBlackwell{90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0};
constexpr std::array kNetworkAmpere{48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0,
                                    7.0,  6.0,  5.0,  4.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kNetworkHopper{48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5,
                                    15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kNetworkBlackwell{96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0,
                                       20.0, 17.5, 15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};

}  // namespace

std::span<const double> speeds(const Gpu& gpu, Reach reach) {
    const bool domain = reach == Reach::domain;
    if (gpu.compute_capability >= 100)
        return domain ? std::span<const double>(kDomainBlackwell) : std::span<const double>(kNetworkBlackwell);
    if (gpu.compute_capability >= 90)
        return domain ? std::span<const double>(kDomainHopper) : std::span<const double>(kNetworkHopper);
    return domain ? std::span<const double>(kDomainAmpere) : std::span<const double>(kNetworkAmpere);
}

// A link of 25 GB/s counts as 20 on Ampere and 20.6 on Hopper, one of 50 GB/s as 40.1 on Blackwell.
double nvlink_gbps(const Gpu& gpu, BytesPerSecond published) {
    const double share = gpu.compute_capability >= 100  ? 40.1 / 50
                         : gpu.compute_capability >= 90 ? 20.6 / 25
                                                        : 20.0 / 25;
    return published.value * 1e-9 * share;
}

// Sixteen lanes count as 12, 24, 48 and 96 GB/s where PCI-SIG has 15.75, 31.5, 63 and 126.
double pcie_gbps(BytesPerSecond published) { return published.value * 1e-9 * 16 / 21; }

bool doubles(const Gpu& gpu, std::size_t paths, double gbps) {
    if (gbps < 25 || 2 * paths > kMostRingPaths) return false;
    return gpu.compute_capability < 90 || gbps >= 50 || paths <= 4;
}

}  // namespace fmsim
