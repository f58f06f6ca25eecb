// Errors of predictions, and the robust fit of constants, with answers worked out by hand.
#include <cmath>

#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

ValidatedRow row(std::string machine, std::int64_t bytes, double measured, double predicted) {
    return {.table = "t",
            .source = "s",
            .machine = std::move(machine),
            .collective = "all_reduce",
            .size = {bytes},
            .measured_us = measured,
            .predicted_us = predicted,
            .scored = true};
}

TEST_CASE("quantiles are linear between the order statistics, the bias is the mean") {
    // |error|: 10 20 30 40. Median 25; 90th at place 0.9 x 3 = 2.7: 30 + 0.7 x 10. Mean of 10 -20 30 -40: -5.
    const ErrorQuantiles q = quantiles_of({10, -20, 30, -40});
    CHECK(q.median == Approx(25));
    CHECK(q.p90 == Approx(37));
    CHECK(q.worst == Approx(40));
    CHECK(q.bias == Approx(-5));
    CHECK(quantiles_of({}).median == 0);
}

TEST_CASE("no machine outvotes another: the mean is over machines, not rows") {
    // One machine is 10 % off in one row, the other 30 % in three: 20, not 25.
    const Score s =
        score({row("a", 8, 100, 110), row("b", 8, 100, 130), row("b", 16, 100, 130), row("b", 32, 100, 70)});
    REQUIRE(s.small);
    CHECK_FALSE(s.large);
    CHECK(s.small->model.median == Approx(20));
    CHECK(s.small->rows == 4);
    REQUIRE(s.bands.size() == 2);
    CHECK(s.bands[1].model.bias == Approx(10));
}

TEST_CASE("targets: means over operations, EFA apart, tokens to experts not among them") {
    // EFA: 10 % off. Another machine 30 %. From 1 MiB on the mean is 20, over EFA 10; nothing is below.
    std::vector<ValidatedRow> rows{row("a", 1 << 20, 100, 110), row("b", 1 << 20, 100, 70), row("c", 1 << 20, 1, 9)};
    rows[0].over = "EFA";
    rows[2].collective = "moe_dispatch";
    const AccuracyTargets all = accuracy_targets(rows);
    REQUIRE(all.targets.size() == 3);
    CHECK(all.targets[0].operations == 2);
    CHECK(all.targets[0].median == Approx(20));
    CHECK_FALSE(all.targets[0].met());
    CHECK(all.targets[1].what == ">= 1 MiB, two and more instances over EFA");
    CHECK(all.targets[1].median == Approx(10));
    CHECK(all.biases.empty());
}

TEST_CASE("a machine's bias is the mean over its operations, told from three sources on") {
    // all_reduce +10 (two rows), sendrecv -40: -15.
    std::vector<ValidatedRow> rows{row("a", 8, 100, 105), row("a", 8, 100, 115), row("a", 8, 100, 60)};
    rows[2].collective = "sendrecv";
    CHECK(accuracy_targets(rows).biases.empty());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].source = "s" + std::to_string(i);
    const AccuracyTargets all = accuracy_targets(rows);
    REQUIRE(all.biases.size() == 1);
    CHECK(all.biases[0].sources == 3);
    CHECK(all.biases[0].bias == Approx(-15));
    CHECK_FALSE(all.biases[0].met());
}

TEST_CASE("what is out of reach has the errors of this run's rows, by table, operation and size") {
    std::vector<ValidatedRow> rows{row("a", 8, 100, 150), row("a", 64, 100, 130), row("a", 8, 100, 170)};
    rows[0].table = "b200-podA-8node-sendrecv";
    rows[1].table = "b200-podB-2node-sendrecv";
    rows[2].table = "b200-podA-8node-tree";
    const auto of = [&](std::vector<std::string> tables, Bytes from, Bytes below) {
        return out_of_reach({{.what = "w", .tables = std::move(tables), .from = from, .below = below, .why = "y"}},
                            rows)
            .front();
    };
    CHECK(of({"b200-pod*-sendrecv"}, {}, {}).rows == 2);
    CHECK(of({"b200-pod*-sendrecv"}, {}, {}).tables == 2);
    CHECK(of({"b200-pod*-sendrecv"}, {}, {}).errors.median == Approx(40));
    CHECK(of({"*"}, {}, {64}).rows == 2);
    CHECK(of({"b200-podA-8node-tree", "x"}, {8}, {9}).errors.bias == Approx(70));
    CHECK(of({"b200-*-send"}, {}, {}).rows == 0);
}

TEST_CASE("bands part at 1 MiB, and rows that do not count are left out") {
    ValidatedRow odd = row("a", 8, 100, 900);
    odd.scored = false;
    const Score s = score({row("a", (1 << 20) - 1, 10, 11), row("a", 1 << 20, 10, 12), odd});
    CHECK(s.small->model.worst == Approx(10));
    CHECK(s.large->model.worst == Approx(20));
}

TEST_CASE("the plain line goes through rows that lie on one") {
    // 5 us + bytes / (100 bytes a us).
    const Score s = score({row("a", 0, 5, 5), row("a", 1000, 15, 15), row("a", 10'000, 105, 100)});
    CHECK(s.small->fit.worst == Approx(0).margin(1e-9));
}

TEST_CASE("a machine is named without its count") {
    CHECK(machine_of("p5.48xlarge:16") == "p5.48xlarge");
    CHECK(machine_of("hgx-h100") == "hgx-h100");
}

// t = a + n / b, a = 7, b = 20, as residuals of logarithms.
FitProblem line_problem(const std::vector<double>& sizes, std::vector<double> times) {
    FitProblem problem{.start = {2, 50}, .bounds = {{0.1, 100}, {1, 1000}}};
    problem.residuals = [=](const std::vector<double>& v, std::optional<std::size_t>) {
        std::vector<double> r;
        for (std::size_t i = 0; i < sizes.size(); ++i) r.push_back(std::log((v[0] + sizes[i] / v[1]) / times[i]));
        return r;
    };
    return problem;
}

TEST_CASE("the fit finds two constants, and one wrong row in nine does not move them") {
    std::vector<double> sizes, times;
    for (double n = 1; n < 1000; n *= 2.3) {
        sizes.push_back(n);
        times.push_back(7 + n / 20);
    }
    const Fit clean = fit(line_problem(sizes, times), 40);
    CHECK(clean.values[0] == Approx(7).epsilon(0.01));
    CHECK(clean.values[1] == Approx(20).epsilon(0.01));
    CHECK(clean.cost_after < clean.cost_before);
    times[4] *= 5;
    const Fit wrong = fit(line_problem(sizes, times), 40);
    CHECK(wrong.values[0] == Approx(7).epsilon(0.1));
    CHECK(wrong.values[1] == Approx(20).epsilon(0.15));
}

TEST_CASE("a constant stays within its bounds, and one that no row tells stays where it is") {
    FitProblem problem{.start = {1, 3}, .bounds = {{0.5, 2}, {1, 10}}};
    problem.residuals = [](const std::vector<double>& v, std::optional<std::size_t>) {
        return std::vector<double>{std::log(v[0] / 8)};
    };
    const Fit fitted = fit(problem, 20);
    CHECK(fitted.values[0] == Approx(2));
    CHECK(fitted.values[1] == Approx(3));
    CHECK(fitted.spread_percent[1] == 0);
}

}  // namespace
}  // namespace fmsim
