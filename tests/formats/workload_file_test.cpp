// A workload written out and read again is the same workload, told by its being written the same.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/report.hpp"
#include "support/golden.hpp"

namespace fmsim {
namespace {

void check_round_trip(const std::string& text) {
    const Workload work = parse_workload(text, "j");
    const std::string written = to_workload_file(work);
    CAPTURE(written);
    const Workload again = parse_workload(written, "k");
    CHECK(to_workload_file(again) == written);
    REQUIRE(again.jobs.size() == work.jobs.size());
    for (std::size_t i = 0; i < work.jobs.size(); ++i) {
        CHECK(again.jobs[i].name == work.jobs[i].name);
        CHECK(again.jobs[i].programs.size() == work.jobs[i].programs.size());
        const std::vector<Task> before = tasks_of(work.jobs[i], 64), after = tasks_of(again.jobs[i], 64);
        REQUIRE(before.size() == after.size());
        for (std::size_t task = 0; task < before.size(); ++task) {
            CHECK(before[task].ranks == after[task].ranks);
            CHECK(before[task].after == after[task].after);
            CHECK(before[task].start == after[task].start);
            CHECK(before[task].size == after[task].size);
        }
    }
}

TEST_CASE("what is shipped survives being written out") {
    for (const auto& entry : std::filesystem::directory_iterator(FMSIM_SOURCE_DIR "/workloads")) {
        if (!entry.is_regular_file() || is_training(test::read_whole(entry.path()))) continue;
        if (entry.path().filename() == "suite.json") continue;  // of the gate
        CAPTURE(entry.path());
        check_round_trip(test::read_whole(entry.path()));
    }
}

TEST_CASE("the long form of each thing a file can say") {
    const std::string text = R"({
        "name": "n", "environment": {"NCCL_PROTO": "LL"}, "scenario": {"cluster": "c", "gpus": 16, "most_channels": 4},
        "jobs": [
          {"name": "a", "start": "1.5 us", "placement": {"policy": "packed", "gpus": 8},
           "groups": {"g": {"ranks": [4, 0, 1, 2]}, "h": {"ranks": ["0-3", [7, 5]]}, "s": {"size": 4, "stride": 2}},
           "programs": [
            {"role": "r", "ranks": "4,0-2", "operations": [
              {"name": "x", "compute": {"flops": "1.5 GFLOP", "dtype": "fp8"}, "repeat": 2},
              {"collective": "reduce", "size": "8 MiB", "group": "g", "root": 3, "stream": "net", "after": ["x"],
               "algorithm": "Ring", "protocol": "Simple"},
              {"collective": "all_to_all", "group": "g", "pair_sizes": [[0,1,2,3],[4,0,5,6],[7,8,0,9],[1,1,1,0]]},
              {"collective": "barrier", "group": "g"},
              {"delay": "7 ns", "start": "2.5 ms"}]},
            {"ranks": [7, 5], "operations": [
              {"together": [{"send": {"to": "+2", "size": "1 kB"}}, {"receive": {"from": "-2", "size": "1 kB"}},
                            {"send": {"to": "-2", "size": 8}}, {"receive": {"from": "+2", "size": 8}}]}]}]},
          {"name": "b", "operations": [{"compute": {"duration": "333.3 ns", "dtype": "t"}}]}]})";
    const Workload work = parse_workload(text, "j");
    test::check_golden("cli/scenario_long.json", to_workload_file(work));
    const std::string written = to_workload_file(work);
    CHECK(to_workload_file(parse_workload(written, "k")) == written);
}

TEST_CASE("every time is read back to the femtosecond it was") {
    for (const char* span : {"1 ns", "0.000001 ns", "18 us", "0.1 us", "333.3333333333333 ms", "1.1 s",
                             "9000.123456789 s", "9007.199254740993 ms", "9100.000000000001 s", "0 s"}) {
        CAPTURE(span);
        const auto read = [](const std::string& one) {
            return parse_workload(R"({"operations": [{"delay": ")" + one + R"("}]})", "j");
        };
        const Workload work = read(span);
        const auto delay = [](const Workload& one) {
            return std::get<Delay>(one.jobs[0].programs[0].operations[0].action).span;
        };
        CHECK(delay(parse_workload(to_workload_file(work), "k")) == delay(work));
    }
}

}  // namespace
}  // namespace fmsim
