// Large jobs cost what their operations are: twice the ranks, twice the time, and nothing grows with their square.
#include <algorithm>
#include <ctime>

#include <catch2/catch.hpp>

#include "workload/jobs.hpp"

namespace fmsim::test {
namespace {

// A step of 16 layers: tensor-parallel calls, data-parallel ones on a second stream, a pipeline's messages.
Job step(std::uint32_t ranks, std::uint32_t layers) {
    std::vector<Operation> operations;
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
        const std::string number = std::to_string(layer);
        const auto first = static_cast<std::uint32_t>(operations.size());
        operations.push_back(compute("f" + number));
        operations.push_back(call("t" + number, 1));
        operations.push_back(compute("b" + number));
        operations.push_back(on("net", after({first + 2}, call("d" + number, 2))));
        operations.push_back({.name = "x" + number,
                              .action = Transfers{.sends = {{next(8), Bytes{8}}}, .receives = {{next(-8), Bytes{8}}}}});
    }
    return everyone(std::move(operations), {{.name = "tp", .size = 8}, {.name = "dp", .size = ranks / 8, .stride = 8}});
}

// Of this process, so that others on the machine count little.
double seconds_of(const Job& job, std::uint32_t ranks) {
    const std::clock_t begin = std::clock();
    CHECK_FALSE(tasks_of(job, ranks).empty());
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST_CASE("eight times the ranks cost about eight times as much") {
    double once = 1e9, eight = 1e9;
    for (int i = 0; i < 3; ++i) {
        once = std::min(once, seconds_of(step(1024, 4), 1024));
        eight = std::min(eight, seconds_of(step(8192, 4), 8192));
    }
    CHECK(eight < 40 * once + 0.05);  // a square would be 64; caches get the rest
}

TEST_CASE("20 calls on all of 131072 ranks are 20 tasks, in little time") {
    std::vector<Call> calls;
    for (int i = 0; i < 20; ++i) calls.push_back({"c" + std::to_string(i), Collective::all_reduce, Bytes{8}});
    const Workload work = in_turn(calls);
    const std::vector<Task> tasks = tasks_of(work.jobs[0], 131072);
    REQUIRE(tasks.size() == 20);
    CHECK(tasks[19].ranks.size() == 131072);
    CHECK(tasks[19].after == std::vector<std::uint32_t>{18});
}

TEST_CASE("a job beyond what memory should hold is refused as too large") {
    std::vector<Operation> many;
    for (int i = 0; i < 300; ++i) many.push_back(compute("c" + std::to_string(i)));
    CHECK_THROWS_AS(tasks_of(everyone(many), 1'000'000), LimitReached);
}

TEST_CASE("a step of 131072 ranks and 100 operations each", "[.large]") {
    const double seconds = seconds_of(step(131072, 20), 131072);
    WARN("tasks_of: " << seconds << " s");
    CHECK(seconds < 30);
}

}  // namespace
}  // namespace fmsim::test
