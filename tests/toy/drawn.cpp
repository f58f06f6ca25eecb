#include "drawn.hpp"

#include <algorithm>
#include <random>
#include <tuple>

#include <fmt/format.h>

#include "fmsim/formats.hpp"

namespace fmsim::toy {
namespace {

using Random = std::mt19937;

std::uint32_t below(Random& random, std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); }
template <class T>
T one_of(Random& random, std::initializer_list<T> all) {
    return *(all.begin() + below(random, static_cast<std::uint32_t>(all.size())));
}

Cluster cluster_of(Random& random, bool symmetric, std::uint32_t instances) {
    static const Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = catalogue.cluster(one_of(random, {"p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge"}));
    cluster.blocks[0].count = instances;
    if (symmetric) return cluster;
    if (below(random, 2) == 0)
        cluster.network.layers = {
            {.name = "leaf", .children = 1 + below(random, 3), .oversubscription = one_of(random, {1.0, 2.0})}};
    const std::uint32_t faults = below(random, 3);
    for (std::uint32_t i = 0; i < faults; ++i)
        cluster.faults.push_back({.kind = one_of(random, {DeviceKind::nic, DeviceKind::gpu}),
                                  .instance = below(random, instances),
                                  .index = below(random, 8),
                                  .fraction = 0.5});
    std::sort(cluster.faults.begin(), cluster.faults.end(), [](const Fault& a, const Fault& b) {
        return std::tuple(a.kind, a.instance, a.index) < std::tuple(b.kind, b.instance, b.index);
    });
    cluster.faults.erase(std::unique(cluster.faults.begin(), cluster.faults.end(),
                                     [](const Fault& a, const Fault& b) {
                                         return a.kind == b.kind && a.instance == b.instance && a.index == b.index;
                                     }),
                         cluster.faults.end());
    return cluster;
}

Operation collective(Random& random, std::uint32_t family, std::uint32_t number) {
    return {.name = fmt::format("operation {}", number),
            .stream = one_of<const char*>(random, {"", "", "side"}),
            .after = {},
            .start = {},
            .action = CollectiveCall{.collective = one_of(random, {Collective::all_reduce, Collective::all_gather,
                                                                   Collective::reduce_scatter, Collective::all_to_all,
                                                                   Collective::broadcast}),
                                     .size = {std::int64_t{1} << (10 + below(random, 17))},
                                     .group = family}};
}

// Tensor groups inside machines, data groups across them, computing between; now and then a pipeline of two stages.
Job job_of(Random& random, std::uint32_t ranks, std::uint32_t number) {
    Job job{.name = fmt::format("job {}", number)};
    const std::uint32_t tensor = one_of(random, {2u, 4u, 8u});
    job.groups.push_back({.name = "tensor", .members = {}, .size = tensor});
    // Of each pipeline stage its own, where there are stages.
    const std::uint32_t stages = below(random, 2) == 0 && ranks % (4 * tensor) == 0 ? 2 : 1;
    job.groups.push_back({.name = "data", .members = {}, .size = ranks / tensor / stages, .stride = tensor * stages});
    Program program{.role = "all"};
    const std::uint32_t operations = 2 + below(random, 5);
    for (std::uint32_t i = 0; i < operations; ++i) {
        if (below(random, 3) == 0)
            program.operations.push_back(
                {.name = fmt::format("operation {}", i),
                 .stream = "",
                 .after = {},
                 .start = {},
                 .action = Compute{.duration = SimTime{std::int64_t{1000} * (1 + below(random, 1'000'000))}}});
        else
            program.operations.push_back(collective(random, below(random, 2), i));
    }
    job.programs.push_back(program);
    if (below(random, 3) != 0 || ranks % 16 != 0) return job;
    // The second half gets what the first half sends.
    job.programs = {{.role = "first"}, {.role = "second"}};
    for (std::uint32_t r = 0; r < ranks; ++r) job.programs[r < ranks / 2 ? 0 : 1].ranks.push_back(r);
    const auto half = static_cast<std::int64_t>(ranks / 2);
    const Bytes size{1 << 20};
    job.programs[0].operations.push_back({.name = "send", .action = Transfers{.sends = {{{true, half}, size}}}});
    job.programs[1].operations.push_back({.name = "receive", .action = Transfers{.receives = {{{true, -half}, size}}}});
    for (Program& each : job.programs)
        each.operations.push_back(
            {.name = "sum",
             .action = CollectiveCall{.collective = Collective::all_reduce, .size = {1 << 22}, .group = 0}});
    return job;
}

}  // namespace

Drawn drawn(std::uint32_t seed) {
    Random random(seed);
    Drawn made{.cluster = {}, .workload = {}, .symmetric = seed % 2 == 0};
    const std::uint32_t instances = 2 + below(random, 7);
    made.cluster = cluster_of(random, made.symmetric, instances);
    const std::uint32_t jobs = made.symmetric ? 1 : 1 + below(random, 2);
    for (std::uint32_t j = 0; j < jobs; ++j) made.workload.jobs.push_back(job_of(random, instances * 8, j));
    return made;
}

std::vector<Placement> places_of(const Topology& net, const Drawn& made, std::uint32_t seed) {
    std::vector<Placement> placements;
    for (std::size_t j = 0; j < made.workload.jobs.size(); ++j)
        placements.push_back(made.symmetric || seed % 3 == 0 ? linear_placement(net, 0, 0)
                                                             : random_placement(net, 0, 0, seed + j));
    return placements;
}

}  // namespace fmsim::toy
