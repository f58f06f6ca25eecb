// Measures src/lowering: a ring of 512 GPUs from cluster to end, every transfer of it, and as streams.
//
//   lowering_bench --benchmark_filter=chunk
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"

namespace fmsim {
namespace {

double peak_megabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

// p5 instances, one channel, slices of whole Simple chunks: 2 x 511 steps on 512 hops, and a flight on each 8th.
void ring(benchmark::State& state, Fidelity fidelity) {
    const Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = catalogue.cluster("p5.48xlarge");
    cluster.blocks[0].count = static_cast<std::uint32_t>(state.range(0) / 8);
    const Topology net = build_topology(cluster);
    const Nccl nccl = catalogue.nccl();
    const Group group = group_of(linear_placement(net, 0, 0));
    PredictOptions options{.fidelity = fidelity, .pins = {}};
    options.pins.protocol = Protocol::simple;
    options.pins.most_channels = 1;
    const Workload job = in_turn({{"ring", Collective::all_reduce, Bytes{1 << 30}}});
    double activities = 0;
    for (auto _ : state) {
        const Prediction prediction = predict(net, group, job, nccl, options);
        benchmark::DoNotOptimize(prediction.end);
        activities = static_cast<double>(prediction.lowered.system.activities());
    }
    state.counters["activities_per_s"] = benchmark::Counter(activities, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["activities"] = activities;
    state.counters["peak_MB"] = peak_megabytes();
}

BENCHMARK_CAPTURE(ring, chunk, Fidelity::chunk)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ring, stream, Fidelity::stream)->Arg(64)->Arg(512)->Arg(4096)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fmsim
