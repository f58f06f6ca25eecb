// A base image lowers throughput (NVIDIA/Megatron-LM#5692): a floor and a ceiling of 10 % around stored baselines.
#include <catch2/catch.hpp>

#include "fmsim/gate.hpp"

namespace fmsim {
namespace {

GateMetric metric(const std::string& name, Better better, double baseline) {
    return {.name = name, .better = better, .tolerance = 0.1, .baseline = baseline};
}
GateSuite suite_of(std::vector<GateMetric> metrics) {
    GateScenario scenario;
    scenario.name = "batch 32";
    scenario.metrics = std::move(metrics);
    GateSuite suite;
    suite.scenarios = {scenario};
    return suite;
}
Judgement only(const GateSuite& suite, double value, const std::string& today = "2026-11-30") {
    GateMeasured measured;
    measured.values[suite.scenarios[0].metrics[0].name] = value;
    return judge(suite, {measured}, today).at(0);
}

}  // namespace

TEST_CASE("throughput below its floor and latency above its ceiling fail, what is between passes") {
    const GateSuite suite =
        suite_of({metric("throughput", Better::higher, 1081.357), metric("latency", Better::lower, 3783.034),
                  metric("other", Better::higher, 1188.752)});
    GateMeasured measured;
    measured.values = {{"throughput", 961.963}, {"latency", 4253.818}, {"other", 1130.042}};
    const auto all = judge(suite, {measured}, "2026-11-30");
    REQUIRE(all.size() == 3);
    CHECK(all[0].verdict == Verdict::regressed);
    CHECK(*all[0].limit == Approx(973.221).epsilon(1e-6));
    CHECK(*all[0].percent() == Approx(-11.04).epsilon(1e-3));
    CHECK(all[1].verdict == Verdict::regressed);
    CHECK(*all[1].limit == Approx(4161.337).epsilon(1e-6));
    CHECK(*all[1].percent() == Approx(12.44).epsilon(1e-3));
    CHECK(all[2].verdict == Verdict::within);
    CHECK(*all[2].percent() == Approx(-4.94).epsilon(1e-3));
    CHECK(regressed(all));
}

TEST_CASE("a value exactly on its limit passes, in all directions and for baselines that binary cannot hold") {
    for (const double baseline : {1081.357, 0.1, 3783.034, 7e-9, 1e12})
        for (const auto& [better, value] : {std::pair{Better::higher, baseline * 0.9},
                                            {Better::lower, baseline * 1.1},
                                            {Better::both, baseline * 0.9},
                                            {Better::both, baseline * 1.1}}) {
            CAPTURE(baseline, value);
            CHECK(only(suite_of({metric("m", better, baseline)}), value).verdict == Verdict::within);
        }
    CHECK(only(suite_of({metric("m", Better::both, 100)}), 89.9).verdict == Verdict::regressed);
    CHECK(only(suite_of({metric("m", Better::both, 100)}), 110.1).verdict == Verdict::regressed);
}

TEST_CASE("what got better beyond the tolerance is told of and passes; what is missing fails") {
    const GateSuite suite = suite_of({metric("m", Better::lower, 100)});
    CHECK(only(suite, 80).verdict == Verdict::improved);
    CHECK_FALSE(regressed({only(suite, 80)}));
    const auto none = judge(suite, {GateMeasured{}}, "2026-11-30");
    CHECK(none[0].verdict == Verdict::missing);
    CHECK(regressed(none));
    CHECK(only(suite, std::numeric_limits<double>::quiet_NaN()).verdict == Verdict::missing);
}

TEST_CASE("a known failure is allowed and shown until its last day") {
    GateSuite suite = suite_of({metric("m", Better::lower, 100)});
    suite.allow = {{"batch 32", "m", "new driver", "2026-12-31"}};
    CHECK(only(suite, 120, "2026-12-31").verdict == Verdict::allowed);
    CHECK(only(suite, 120, "2026-12-31").allowance == "until 2026-12-31: new driver");
    CHECK_FALSE(regressed({only(suite, 120, "2026-12-31")}));
    CHECK(only(suite, 120, "2027-01-01").verdict == Verdict::regressed);
    CHECK(only(suite, 120, "2027-01-01").allowance == "ended 2026-12-31: new driver");
    CHECK(only(suite, 100, "2026-12-31").allowance.empty());
    suite.allow[0].metric = "another";
    CHECK(only(suite, 120).verdict == Verdict::regressed);
    suite.allow[0].metric = "";
    CHECK(only(suite, 120).verdict == Verdict::allowed);
}

TEST_CASE("a baseline of 0 has no percentage, and any value above it is worse where lower is better") {
    const GateSuite suite = suite_of({metric("m", Better::lower, 0)});
    CHECK(only(suite, 0).verdict == Verdict::within);
    CHECK(only(suite, 1e-9).verdict == Verdict::regressed);
    CHECK_FALSE(only(suite, 1e-9).percent());
}

}  // namespace fmsim
