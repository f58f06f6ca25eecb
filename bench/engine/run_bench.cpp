// How fast a run is at its two extremes: few instants with many ordered activities in tiny components (a ring in
// chunks), and many instants with one large component (random flows on a fat tree).
#include <sys/resource.h>

#include <cmath>
#include <random>

#include <benchmark/benchmark.h>

#include "fmsim/engine.hpp"

namespace {

using namespace fmsim;

// The peak is that of the process: with a filter it is that of one bench.
void count(benchmark::State& state, const System& system) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
    state.counters["activities/s"] =
        benchmark::Counter(static_cast<double>(system.activities()), benchmark::Counter::kIsIterationInvariantRate);
}

// A two-level fat tree without oversubscription: NICs of 50 GB/s, 32 to a leaf, a spine for each NIC of a leaf.
struct FatTree {
    static constexpr std::uint32_t kLeaves = 32, kNicsPerLeaf = 32, kSpines = 32;
    static constexpr std::uint32_t kNics = kLeaves * kNicsPerLeaf;

    explicit FatTree(SystemBuilder& builder) {
        for (std::uint32_t i = 0; i < 2 * kNics + 2 * kLeaves * kSpines; ++i) builder.add_resource(50e9);
    }
    static ResourceId nic_up(std::uint32_t nic) { return {nic}; }
    static ResourceId nic_down(std::uint32_t nic) { return {kNics + nic}; }
    static ResourceId leaf_up(std::uint32_t leaf, std::uint32_t spine) { return {2 * kNics + leaf * kSpines + spine}; }
    static ResourceId leaf_down(std::uint32_t leaf, std::uint32_t spine) {
        return {2 * kNics + (kLeaves + leaf) * kSpines + spine};
    }
};

System random_flows(std::uint32_t flows) {
    std::mt19937_64 bits(1);
    const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(bits() % end); };
    SystemBuilder builder;
    const FatTree tree(builder);
    for (std::uint32_t i = 0; i < flows; ++i) {
        const std::uint32_t from = below(FatTree::kNics), to = below(FatTree::kNics), spine = below(FatTree::kSpines);
        const std::uint32_t leaf = from / FatTree::kNicsPerLeaf, far_leaf = to / FatTree::kNicsPerLeaf;
        std::vector<Use> uses{{tree.nic_up(from), 1}, {tree.nic_down(to), 1}};
        if (leaf != far_leaf) {
            uses.push_back({tree.leaf_up(leaf, spine), 1});
            uses.push_back({tree.leaf_down(far_leaf, spine), 1});
        }
        // No two sizes are equal, so no two ends are: the most instants there can be.
        builder.add({.work = 1e6 + 1e4 * below(10'000) + i, .uses = uses});
    }
    return std::move(builder).build();
}

// A ring all-reduce of `size` bytes over machines of 8 ranks, a chunk an activity. NVLink 450 GB/s and NIC 50 GB/s,
// up and down, for each rank. A send waits for what it passes on and for the rank's own send before it.
System chunk_ring(std::uint32_t ranks, double size) {
    constexpr std::uint32_t kPerMachine = 8;
    const std::uint32_t steps = 2 * (ranks - 1);
    SystemBuilder builder;
    builder.reserve(std::size_t{steps} * ranks, std::size_t{2} * steps * ranks, std::size_t{2} * steps * ranks);
    for (std::uint32_t i = 0; i < 4 * ranks; ++i) builder.add_resource(i < 2 * ranks ? 450e9 : 50e9);
    for (std::uint32_t step = 0; step < steps; ++step)
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const std::uint32_t next = (rank + 1) % ranks;
            const std::uint32_t nic = rank / kPerMachine == next / kPerMachine ? 0 : 2 * ranks;
            const std::vector<Use> uses{{{nic + rank}, 1}, {{nic + ranks + next}, 1}};
            const ActivityId send = builder.add({.work = size / ranks, .uses = uses});
            if (step == 0) continue;
            builder.order({(step - 1) * ranks + rank}, send);
            builder.order({(step - 1) * ranks + (rank + ranks - 1) % ranks}, send);
        }
    return std::move(builder).build();
}

void random_flows_on_a_fat_tree(benchmark::State& state) {
    const System system = random_flows(static_cast<std::uint32_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(run(system));
    count(state, system);
}
BENCHMARK(random_flows_on_a_fat_tree)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

// The slowest edge sets the pace of all: 2 (N - 1) steps of size / N at 50 GB/s.
void ring_in_chunks(benchmark::State& state) {
    const auto ranks = static_cast<std::uint32_t>(state.range(0));
    const double size = 1024.0 * 1024 * 1024;
    const System system = chunk_ring(ranks, size);
    const double expected = 2.0 * (ranks - 1) * size / ranks / 50e9;
    for (auto _ : state) {
        const Timeline timeline = run(system);
        if (!(std::abs(seconds(timeline.end) - expected) <= 1e-9 * expected)) {
            state.SkipWithError("the ring does not take the time of its closed form");
            break;
        }
    }
    state.counters["simulated_s"] = expected;
    count(state, system);
}
BENCHMARK(ring_in_chunks)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);

// What it costs to lay the system out.
void build_ring_in_chunks(benchmark::State& state) {
    const auto ranks = static_cast<std::uint32_t>(state.range(0));
    for (auto _ : state) {
        const System system = chunk_ring(ranks, 1e9);
        benchmark::DoNotOptimize(system.activities());
    }
}
BENCHMARK(build_ring_in_chunks)->Arg(512)->Unit(benchmark::kMillisecond);

}  // namespace
