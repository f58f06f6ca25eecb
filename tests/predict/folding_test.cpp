// Folded equals unfolded, over random workloads, clusters, placements and faults.
#include <array>
#include <cstdlib>
#include <random>

#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/drawn.hpp"

namespace fmsim {
namespace {

using Random = std::mt19937;

std::uint32_t below(Random& random, std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); }

}  // namespace

TEST_CASE("folded equals unfolded, and symmetric workloads do fold") {
    static const Nccl nccl = Catalogue::shipped().nccl();
    const std::uint32_t seeds =
        std::getenv("FMSIM_FOLDS") != nullptr ? static_cast<std::uint32_t>(std::atoi(std::getenv("FMSIM_FOLDS"))) : 60;
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
        const toy::Drawn made = toy::drawn(seed);
        const Topology net = build_topology(made.cluster);
        const auto placements = toy::places_of(net, made, seed);
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
        Cluster cluster = Catalogue::shipped().cluster(below(random, 2) == 0 ? "p5en.48xlarge" : "p6-b200.48xlarge");
        cluster.blocks[0].count = 2 * (2 + below(random, 2));
        const Topology net = build_topology(cluster);
        Job job{.name = "job",
                .groups = {{.name = "tensor", .members = {}, .size = 8},
                           {.name = "data", .members = {}, .size = cluster.blocks[0].count, .stride = 8}},
                .programs = {{.role = "all"}}};
        for (std::uint32_t i = 0; i < 3; ++i) {
            constexpr std::array kKinds{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter};
            Operation made{.name = "operation " + std::to_string(i),
                           .action = CollectiveCall{.collective = kKinds[below(random, 3)],
                                                    .size = {std::int64_t{1} << (12 + below(random, 10))},
                                                    .group = below(random, 2),
                                                    .algorithm = "Ring"}};
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

TEST_CASE("PAT over alike machines is drawn with two of them, whatever their number") {
    static const Nccl nccl = Catalogue::shipped().nccl();
    const std::uint32_t machines = GENERATE(3u, 4u, 7u, 12u);
    const Fidelity fidelity = GENERATE(Fidelity::stream, Fidelity::chunk);
    const bool slow_nic = GENERATE(false, true);
    Cluster cluster = Catalogue::shipped().cluster("hgx-h100-8x400:" + std::to_string(machines));
    if (slow_nic) cluster.faults.push_back({DeviceKind::nic, 1, 0, 0.2});
    const Topology net = build_topology(cluster);
    Job job{.name = "job",
            .groups = {{.name = "data", .members = {}, .size = machines, .stride = 8}},
            .programs = {{.role = "all"}}};
    for (const std::int64_t size : {50'000, 3'000'000})
        for (const Collective collective : {Collective::all_gather, Collective::reduce_scatter})
            job.programs[0].operations.push_back(
                {.name = "operation " + std::to_string(job.programs[0].operations.size()),
                 .action = CollectiveCall{.collective = collective, .size = {size}, .group = 0, .algorithm = "PAT"}});
    const Workload work{.jobs = {job}};
    const auto predicted = [&](bool fold) {
        return predict(net, {linear_placement(net, 0, 0)}, work, nccl, {.fidelity = fidelity, .fold = fold});
    };
    const Prediction folded = predicted(true), whole = predicted(false);
    INFO(machines << " machines" << (slow_nic ? ", a slow NIC" : ""));
    const auto activities = static_cast<double>(whole.lowered.system.activities());
    for (std::size_t i = 0; i < whole.calls.size(); ++i) {
        CHECK(whole.calls[i].algorithm == "PAT");
        CHECK(std::abs(static_cast<double>(folded.calls[i].time().fs - whole.calls[i].time().fs)) <=
              1e-9 * static_cast<double>(whole.end.fs) + activities);
    }
    if (slow_nic) return;
    REQUIRE(folded.folding.has_value());
    for (const Step& step : folded.made.steps) CHECK(step.group->parts.size() == 2);
    for (const Step& step : whole.made.steps) CHECK(step.group->parts.size() == machines);
}

}  // namespace fmsim
