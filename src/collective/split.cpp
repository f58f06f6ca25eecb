// How NCCL splits one operation over channels: equal parts for the channels in the middle, what is left at the ends.
//
// By hand: all-reduce of 1 MiB on 16 channels. Traffic 2 bytes a byte = 2 MiB, target 128 KiB of traffic a channel. A
// cell is 32 KiB / 2 = 16 KiB of data, so 64 cells, 4 a channel: 16 parts of 64 KiB.
//
// Source: NCCL 2.30, scheduling of collective tasks (enqueue.cc). Cost: one division each.
#include <algorithm>
#include <cmath>

#include "fmsim/collective.hpp"

namespace fmsim {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }
std::int64_t ceil_div(double value, double by) { return static_cast<std::int64_t>(std::ceil(value / by)); }

// Cells of the first channel, of each middle one, and of the last.
struct Parts {
    std::int64_t first{}, middle{}, last{};
    std::int64_t middles{};
};

Parts part(std::int64_t cells, std::int64_t each, std::int64_t channels) {
    if (channels == 1) return {.first = cells};
    Parts parts{.first = std::min(cells, each)};
    parts.middle = parts.first;
    parts.middles = (cells - parts.first) / parts.middle;
    parts.last = (cells - parts.first) % parts.middle;
    if (1 + parts.middles + (parts.last > 0 ? 1 : 0) > channels) {
        parts.middles = channels - 2;
        parts.middle = (cells - parts.first) / (parts.middles + 1);
        parts.last = parts.middle + (cells - parts.first) % (parts.middles + 1);
    }
    if (parts.last == 0 && parts.middles > 0) {
        parts.last = parts.middle;
        --parts.middles;
    }
    return parts;
}

}  // namespace

std::vector<Bytes> split_over_channels(Bytes size, double traffic_per_byte, std::uint32_t channels, bool ll,
                                       const NcclShape& shape) {
    if (size.count == 0) return {};
    const double per_byte = traffic_per_byte * (ll ? shape.ll_traffic : 1);
    const auto least = static_cast<double>(shape.least_traffic.count);
    const std::int64_t alignment = shape.split_alignment.count;
    const double traffic = std::max(least, static_cast<double>(size.count) * per_byte);
    const std::int64_t target = round_up(static_cast<std::int64_t>(traffic / channels), alignment);
    const std::int64_t cell = round_up(ceil_div(least, per_byte), alignment);
    const std::int64_t cells = (size.count + cell - 1) / cell;
    const std::int64_t each =
        std::max<std::int64_t>(1, ceil_div(static_cast<double>(target), static_cast<double>(cell) * per_byte));

    const Parts parts = part(cells, each, channels);
    std::vector<Bytes> split;
    std::int64_t left = size.count;
    const auto give = [&](std::int64_t part_cells) {
        const std::int64_t bytes = std::min(left, part_cells * cell);
        if (bytes > 0) split.push_back({bytes});
        left -= bytes;
    };
    give(parts.first);
    for (std::int64_t i = 0; i < parts.middles; ++i) give(parts.middle);
    give(parts.last);
    return split;
}

}  // namespace fmsim
