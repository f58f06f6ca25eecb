// Matrix products: tiles over SMs in whole waves.
//
// C is cut into tiles; a tile is the work of one SM: its k loop, at the sustained rate of the units or at the rate at
// which L2 feeds the SM, whichever is slower. All SMs work in waves. A wave of the largest tile begins and ends with a
// ramp that fills the pipeline and stores C; of smaller tiles an SM holds several at once, whose ramps hide behind each
// other's loops, all but one. Of the tiles that the library has the one that ends first runs; where a wave would leave
// half of the SMs idle, k may be split and the parts added through L2.
//
// By hand, a toy of 4 SMs of 1 TFLOP/s, one tile of 128 x 128, ramp 1 us, m = 640, n = 128, k = 1000: five tiles, two
// waves of 2 x 128 x 128 x 1000 / 1e12 = 32.768 us + 1 us: 67.536 us, though 5/4 of a wave would do.
//
// Cost: tiles of the library x groups x log2(SMs).
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "machine.hpp"

namespace fmsim {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

// What one library tile does with a product: how many of them, how long each takes.
struct Tiling {
    double tiles{};
    double seconds{};  // of the loop of one
};

class Product {
public:
    Product(const Gemm& gemm, const Machine& machine)
        : gemm_(gemm), machine_(machine), kind_(kind(gemm.precision)), rate_(machine.sm_peak(kind_.peak)) {
        const auto share = machine.facts.gemm.sustained.find(std::string(kind_.peak));
        if (share == machine.facts.gemm.sustained.end())
            throw Infeasible(
                fmt::format("no rate of {} products is known for {} GPUs", kind_.name, machine.facts.name));
        rate_ *= share->second;
    }

    // The k loop cut into `parts`, each on its own SM; partial sums cross L2 in FP32, out and in.
    Tiling with(const GemmTile& tile, double parts) const {
        const double m = tile.m, n = tile.n;
        const double k = real(gemm_.k) / parts;
        const double operands = (m + n) * k * kind_.bits / 8;
        const double partial = parts > 1 ? 2 * m * n * sizeof(float) : 0;
        const double feed = machine_.facts.gemm.feed.value;
        const double loop = std::max(2 * m * n * k / rate_, operands / feed);
        return {.tiles = std::ceil(real(gemm_.m) / m) * std::ceil(real(gemm_.n) / n) * real(gemm_.batch) * parts,
                .seconds = loop + partial / feed};
    }

private:
    const Gemm& gemm_;
    const Machine& machine_;
    const PrecisionKind& kind_;
    double rate_;
};

double area(const GemmTile& tile) { return static_cast<double>(tile.m) * tile.n; }

double largest_area(const std::vector<GemmTile>& tiles) {
    double largest = 0;
    for (const GemmTile& tile : tiles) largest = std::max(largest, area(tile));
    return largest;
}

// All groups with one tile: a persistent kernel works through them as one list, so waves count over all.
double with_tile(const std::vector<Product>& products, const GemmTile& tile, double parts, const Machine& machine) {
    double tiles = 0, work = 0;
    for (const Product& product : products) {
        const Tiling tiling = product.with(tile, parts);
        tiles += tiling.tiles;
        work += tiling.tiles * tiling.seconds;
    }
    const double rounds = waves(tiles, machine.sms);
    const double ramps = std::max(1.0, rounds * area(tile) / largest_area(machine.facts.gemm.tiles));
    return rounds * work / tiles + ramps * seconds(machine.facts.ramp);
}

double tiles_of(const std::vector<Product>& products, const GemmTile& tile) {
    double tiles = 0;
    for (const Product& product : products) tiles += product.with(tile, 1).tiles;
    return tiles;
}

}  // namespace

double compute_seconds(const GroupedGemm& grouped, const Machine& machine) {
    std::vector<Product> products;
    for (const Gemm& gemm : grouped.groups)
        if (gemm.m > 0 && gemm.n > 0 && gemm.k > 0 && gemm.batch > 0) products.emplace_back(gemm, machine);
    if (products.empty()) return 0;
    double least = std::numeric_limits<double>::infinity();
    for (const GemmTile& tile : machine.facts.gemm.tiles) {
        const double tiles = tiles_of(products, tile);
        least = std::min(least, with_tile(products, tile, 1, machine));
        for (double parts = 2; parts * tiles <= machine.sms; parts *= 2)
            least = std::min(least, with_tile(products, tile, parts, machine));
    }
    return least;
}

}  // namespace fmsim
