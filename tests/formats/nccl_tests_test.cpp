// Logs of nccl-tests, old and new.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

constexpr const char* kNew = R"(# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid   4242 on     node-a device  0 [0000:11:00] GPU
#  Rank  1 Group  0 Pid   4243 on     node-a device  1 [0000:12:00] GPU
#
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1   120.00    8.74   16.38       0   119.00    8.81   16.52       0
     2097152        524288     float     sum      -1  1.3e+02    8.74   16.38       0   119.00    8.81   16.52       0
# Avg bus bandwidth    : 16.45
)";

TEST_CASE("a log gives its rows, its collective and its ranks") {
    const Measurements table = parse_nccl_tests(kNew, "run.log");
    CHECK(table.collective == "all_reduce");
    CHECK(table.gpus == 2);
    CHECK(table.cluster.empty());
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].size == Bytes{1 << 20});
    CHECK(table.rows[0].time_us == 120.0);
    CHECK(table.rows[1].time_us == 130.0);
}

TEST_CASE("old columns, a launcher's prefix, and a half without a time") {
    const Measurements old = parse_nccl_tests(
        "[1,0]<stdout>:#       size         count    type   redop     time   algbw   busbw  error     time   algbw\n"
        "[1,0]<stdout>:        1024           256   float     sum    22.50    0.05    0.09  1e-07    21.00    0.05\n"
        "3:                    2048           512   float     sum      N/A    0.05    0.09    N/A    23.00    0.05\n",
        "old.log");
    REQUIRE(old.rows.size() == 2);
    CHECK(old.rows[0].time_us == 22.5);
    CHECK(old.rows[1].time_us == 23.0);
    CHECK(old.collective.empty());
}

constexpr const char* kJson = R"({"version": 3, "args": ["/opt/nccl-tests/all_reduce_perf", "-b", "1M"],
 "env": ["TOKEN=secret", "NCCL_NVLS_ENABLE=0", "NCCL_DEBUG=INFO"], "nccl_version": 22807,
 "config": {"nthreads": 1, "devices": [{"rank": 0, "hostname": "node-a"}, {"rank": 1, "hostname": "node-a"}]},
 "results": [
  {"size": 1048576, "count": 262144, "type": "float", "root": "    -1",
   "out_of_place": {"time": 120.0, "alg_bw": 8.74, "bus_bw": 16.38, "nwrong": 0.0}, "in_place": {"time": 119.0}},
  {"size": 2097152, "out_of_place": {"time": "nan"}, "in_place": {"time": 130.5}},
  {"size": 4194304, "out_of_place": {"time": null}, "in_place": {"time": "nan"}}],
 "out_of_bounds": {"count": 0, "okay": "true"}})";

TEST_CASE("the JSON of a run gives its rows, its collective, its ranks and what its variables pin") {
    CHECK(is_nccl_tests_json(kJson));
    CHECK_FALSE(is_nccl_tests_json(R"({"id": "x", "rows": []})"));
    CHECK_FALSE(is_nccl_tests_json("{"));
    const Measurements table = parse_nccl_tests_json(kJson, "run.json");
    CHECK(table.collective == "all_reduce");
    CHECK(table.gpus == 2);
    CHECK(table.pins.transfers_before_2_29);  // NCCL 2.28.7
    CHECK_FALSE(table.pins.nvls);
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].size == Bytes{1 << 20});
    CHECK(table.rows[0].time_us == 120.0);
    CHECK(table.rows[1].time_us == 130.5);
}

TEST_CASE("JSON of a run that says nothing, or was cut short, is refused with its place") {
    const auto problem = [](const char* text) {
        try {
            parse_nccl_tests_json(text, "run.json");
        } catch (const InputError& error) {
            return error.problems.front();
        }
        FAIL("accepted");
        return Problem{};
    };
    CHECK(problem(R"({"results": []})").pointer == "/results");
    CHECK(problem("{\"results\":\n [{\"size\": \"big\"}]}").line == 2);
    CHECK(problem("{\"results\":\n [{\"size\": 1024").line == 2);
    CHECK(problem("{\"env\": [\"NCCL_ALGO=Spiral\"], \"results\": []}").pointer == "/env/0");
}

TEST_CASE("what is no log is refused, and a row that is cut short with its line") {
    CHECK_THROWS_AS(parse_nccl_tests("", "a.log"), InputError);
    CHECK_THROWS_AS(parse_nccl_tests("hello\n1 2 three\n", "a.log"), InputError);
    try {
        parse_nccl_tests("# size count type redop time\n1024 256 float\n", "a.log");
        FAIL("accepted");
    } catch (const InputError& error) {
        REQUIRE(error.problems.size() == 1);
        CHECK(error.problems[0].line == 2);
        CHECK(error.problems[0].expected == "expected as many columns as the head has");
    }
}

}  // namespace
}  // namespace fmsim
