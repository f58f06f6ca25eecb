// The critical path adds up to the run and slopes are those that runs at other costs show, over random workloads.
#include <cstdlib>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "toy/drawn.hpp"

namespace fmsim {
namespace {

std::uint32_t seeds(std::uint32_t usual) {
    const char* const asked = std::getenv("FMSIM_REASONS");
    return asked != nullptr ? static_cast<std::uint32_t>(std::atoi(asked)) : usual;
}

// Runs that can be made; the first seeds have no placement over a link that is down.
template <class Visit>
void each_run(std::uint32_t count, Visit visit) {
    static const Nccl nccl = Catalogue::shipped().nccl();
    for (std::uint32_t seed = 1; seed <= count; ++seed) {
        const toy::Drawn made = toy::drawn(seed);
        const Topology net = build_topology(made.cluster);
        INFO("seed " << seed << ": " << net.cluster.name << " x " << net.domains());
        const Prediction prediction = predict(net, toy::places_of(net, made, seed), made.workload, nccl, {});
        visit(net, prediction, again(net, prediction.made, {}, Record::rates));
    }
}

SimTime end_at(const Topology& net, const Prediction& prediction, Cause cause, double factor) {
    CostFactors factors;
    factors[cause] = factor;
    return again(net, prediction.made, factors).timeline.end;
}

}  // namespace

TEST_CASE("the critical path of random workloads adds up to the run") {
    each_run(seeds(20), [](const Topology& net, const Prediction& prediction, const Rerun& run) {
        CHECK(run.timeline.end == prediction.end);
        SimTime at;
        double spent = 0;
        for (const CriticalPart& part : critical_path(net, prediction.made, run)) {
            CHECK(part.from == at);
            CHECK(part.causes.all() == Approx(seconds(part.to - part.from)).epsilon(1e-9).margin(1e-14));
            at = part.to;
            spent += part.causes.all();
        }
        CHECK(at == prediction.end);
        CHECK(spent == Approx(seconds(prediction.end)).epsilon(1e-9));
    });
}

TEST_CASE("slopes of random workloads add up to the run and are those of runs at other costs") {
    // One-sided differences by 1e-5; their own error is some femtoseconds an event over the step.
    constexpr double kStep = 1e-5;
    std::size_t checked = 0, kinks = 0, wrong = 0, none = 0;
    double worst = 0;
    each_run(seeds(20), [&](const Topology& net, const Prediction& prediction, const Rerun& run) {
        const double end = seconds(run.timeline.end);
        const CauseSeconds slope = slopes(net, run);
        if (slope.kinks == 0) CHECK(slope.all() == Approx(end).epsilon(1e-4));
        const double rounding = 1e-15 * 20 * std::sqrt(static_cast<double>(run.lowered.system.activities())) / kStep;
        for (std::size_t i = 0; i + 1 < kCauses; ++i) {
            const auto cause = static_cast<Cause>(i);
            if (slope.kink(cause)) {
                ++kinks;
                continue;
            }
            const double above = (seconds(end_at(net, prediction, cause, 1 + kStep)) - end) / kStep;
            const double below = (end - seconds(end_at(net, prediction, cause, 1 - kStep))) / kStep;
            for (const double side : {above, below}) {
                ++checked;
                if (slope[cause] == 0 && std::abs(side) <= rounding) ++none;
                const double off = std::abs(slope[cause] - side);
                if (off > 0.01 * std::abs(side) + rounding) {
                    ++wrong;
                    UNSCOPED_INFO(fmt::format("{}: slope {:.6g}, above {:.6g}, below {:.6g}, end {:.6g}", name(cause),
                                              slope[cause], above, below, end));
                    CHECK(off <= 0.01 * std::abs(side) + rounding);
                }
                if (std::abs(side) > rounding) worst = std::max(worst, (off - rounding) / std::abs(side));
            }
        }
    });
    if (std::getenv("FMSIM_REASONS") != nullptr)
        WARN(fmt::format("{} one-sided slopes, {} of them 0 on both counts; {} wrong, worst {:.2g}; {} at kinks",
                         checked, none, wrong, worst, kinks));
    CHECK(checked > 3 * kinks);
}

}  // namespace fmsim
