// Folded equals unfolded, over random workloads, clusters, placements and faults.
#include <random>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

using Random = std::mt19937;

std::uint32_t below(Random& random, std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); }
template <class T>
T one_of(Random& random, std::initializer_list<T> all) {
    return *(all.begin() + below(random, static_cast<std::uint32_t>(all.size())));
}

struct Drawn {
    Cluster cluster;
    Workload workload;
    std::vector<std::string> placements;
    bool symmetric{};  // no fault, linear, nothing that tells machines apart
};

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

Drawn drawn(std::uint32_t seed) {
    Random random(seed);
    Drawn made{.symmetric = seed % 2 == 0};
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

}  // namespace

TEST_CASE("folded equals unfolded, and symmetric workloads do fold") {
    static const Nccl nccl = Catalogue::shipped().nccl();
    const std::uint32_t seeds =
        std::getenv("FMSIM_FOLDS") != nullptr ? static_cast<std::uint32_t>(std::atoi(std::getenv("FMSIM_FOLDS"))) : 60;
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
        const Drawn made = drawn(seed);
        const Topology net = build_topology(made.cluster);
        const auto placements = places_of(net, made, seed);
        Prediction folded, whole;
        try {
            whole = predict(net, placements, made.workload, nccl, {.fold = false});
        } catch (const Infeasible&) {
            CHECK_THROWS_AS(predict(net, placements, made.workload, nccl, {.fold = true}), Infeasible);
            continue;
        }
        folded = predict(net, placements, made.workload, nccl, {.fold = true});
        INFO("seed " << seed << ": " << net.cluster.name << " x " << net.domains());
        const auto activities = static_cast<double>(whole.lowered.system.activities());
        CHECK(std::abs(static_cast<double>(folded.end.fs - whole.end.fs)) <=
              1e-9 * static_cast<double>(whole.end.fs) + activities);
        REQUIRE(folded.calls.size() == whole.calls.size());
        for (std::size_t i = 0; i < folded.calls.size(); ++i) {
            INFO(whole.calls[i].call.name << " " << whole.calls[i].kind << " " << whole.calls[i].algorithm);
            CHECK(std::abs(static_cast<double>(folded.calls[i].time().fs - whole.calls[i].time().fs)) <=
                  1e-9 * static_cast<double>(whole.end.fs) + activities);
            CHECK(folded.calls[i].times == whole.calls[i].times);
        }
        if (!made.symmetric) continue;
        REQUIRE(folded.folding.has_value());
        const bool own = std::any_of(whole.calls.begin(), whole.calls.end(), [](const CallPrediction& call) {
            return call.kind == "broadcast" || call.algorithm.find("Tree") != std::string::npos;
        });
        if (!own && net.domains() >= 4) CHECK(folded.folding->rank_classes < folded.folding->ranks);
    }
}

TEST_CASE("rings over alike domains fold in chunks too") {
    static const Nccl nccl = Catalogue::shipped().nccl();
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        Random random(seed);
        Cluster cluster = Catalogue::shipped().cluster(one_of(random, {"p5en.48xlarge", "p6-b200.48xlarge"}));
        cluster.blocks[0].count = 2 * (2 + below(random, 2));
        const Topology net = build_topology(cluster);
        Job job{.name = "job",
                .groups = {{.name = "tensor", .members = {}, .size = 8},
                           {.name = "data", .members = {}, .size = cluster.blocks[0].count, .stride = 8}},
                .programs = {{.role = "all"}}};
        for (std::uint32_t i = 0; i < 3; ++i) {
            Operation made = collective(random, below(random, 2), i);
            auto& call = std::get<CollectiveCall>(made.action);
            call.collective =
                one_of(random, {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter});
            call.size = {std::int64_t{1} << (12 + below(random, 10))};
            call.algorithm = "Ring";
            job.programs[0].operations.push_back(std::move(made));
        }
        const Workload work{.jobs = {job}};
        const std::vector<Placement> placements{linear_placement(net, 0, 0)};
        const auto in_chunks = [&](bool fold) {
            return predict(net, placements, work, nccl, {.fidelity = Fidelity::chunk, .fold = fold});
        };
        const Prediction folded = in_chunks(true), whole = in_chunks(false);
        INFO("seed " << seed << ": " << cluster.name << " x " << net.domains());
        REQUIRE(folded.folding.has_value());
        CHECK(folded.lowered.system.activities() < whole.lowered.system.activities());
        const auto activities = static_cast<double>(whole.lowered.system.activities());
        CHECK(std::abs(static_cast<double>(folded.end.fs - whole.end.fs)) <=
              1e-9 * static_cast<double>(whole.end.fs) + activities);
    }
}

}  // namespace fmsim
