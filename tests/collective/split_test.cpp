// How an operation is split over channels.
#include <catch2/catch.hpp>
#include <numeric>

#include "fmsim/collective.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {

TEST_CASE("the parts of a split are the whole, on no more channels than allowed") {
    const NcclShape shape = Catalogue::shipped().nccl().shape;
    const auto channels = GENERATE(1u, 2u, 3u, 5u, 16u, 24u, 32u);
    const bool ll = GENERATE(false, true);
    for (std::int64_t size = 1; size < (std::int64_t{1} << 35); size = size * 7 / 2 + 5) {
        const auto parts = split_over_channels(Bytes{size}, 2, channels, ll, shape);
        CHECK(parts.size() <= channels);
        std::int64_t sum = 0;
        for (const Bytes part : parts) {
            CHECK(part.count > 0);
            sum += part.count;
        }
        CHECK(sum == size);
    }
}

TEST_CASE("1 MiB on 16 channels is 16 parts of 64 KiB") {
    const NcclShape shape = Catalogue::shipped().nccl().shape;
    CHECK(split_over_channels(Bytes{1 << 20}, 2, 16, false, shape) == std::vector<Bytes>(16, Bytes{1 << 16}));
}

}  // namespace fmsim
