// Blocking and background checkpoints (NVIDIA-NeMo/Automodel PR 635): 112 GB at 4.1 GB/s, or staged to the host at 200
// GB/s and written behind the steps.
//
//   blocking:    step ---- write 27.3 s ---- step
//   background:  step - stage 0.56 s - step ...       one staging buffer: the next stage waits
//                        write 27.3 s -------------|  for the write before
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

constexpr double kWrite = 112.0 / 4.1, kStage = 112.0 / 200;

Operation operation(const std::string& name, Action action, const std::string& stream = "",
                    std::vector<std::uint32_t> after = {}) {
    return {.name = name,
            .stream = stream,
            .after = std::move(after),
            .start = {},
            .action = std::move(action),
            .place = ""};
}

// Seconds that a save blocks the steps, over `saves` of them.
double blocked(double interval, bool background, std::uint32_t saves) {
    Job job;
    job.groups.push_back({.name = "all", .members = {}, .size = 0, .stride = 1, .place = ""});
    Program program;
    auto& all = program.operations;
    const auto named = [&](const std::string& what) { return what + " " + std::to_string(all.size()); };
    const auto step = [&] { all.push_back(operation(named("step"), Compute{.duration = from_seconds(interval)})); };
    step();
    for (std::uint32_t i = 0; i < saves; ++i) {
        if (background) {
            std::vector<std::uint32_t> before;  // the write that still has the buffer
            if (i > 0) before = {static_cast<std::uint32_t>(all.size()) - 2};
            all.push_back(operation(named("stage"), Delay{from_seconds(kStage)}, "", before));
            all.push_back(operation(named("write"), Delay{from_seconds(kWrite)}, "checkpoint",
                                    {static_cast<std::uint32_t>(all.size()) - 1}));
        } else {
            all.push_back(operation(named("write"), Delay{from_seconds(kWrite)}));
        }
        step();
    }
    job.programs.push_back(std::move(program));
    Workload work;
    work.jobs.push_back(std::move(job));
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge"));
    const Prediction p = predict(net, linear_placement(net, 0, 0), work, catalogue.nccl(), {});
    return (seconds(p.calls.back().ended) - interval * (saves + 1)) / saves;
}

}  // namespace

TEST_CASE("a blocking save costs its write, one in the background its staging") {
    for (const double interval : {600.0, 60.0}) {
        CHECK(blocked(interval, false, 5) == Approx(27.3).epsilon(0.01));
        CHECK(blocked(interval, true, 5) == Approx(0.56).epsilon(0.01));
    }
}

TEST_CASE("saves more often than a write takes queue up: no free lunch at every step") {
    // The steps between two saves are all that hides: stage + write - interval.
    const double every_step = blocked(1, true, 50);
    CHECK(every_step == Approx(kStage + (kWrite - 1) * 49 / 50).epsilon(0.001));
    CHECK(every_step > 0.9 * blocked(1, false, 50));
    CHECK(every_step < blocked(1, false, 50));
    CHECK(blocked(20, true, 50) < every_step);
}

}  // namespace fmsim
