// Folded equals unfolded, over random workloads, clusters, placements and faults.
#include <cstdlib>

#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/drawn.hpp"

namespace fmsim {

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

}  // namespace fmsim
