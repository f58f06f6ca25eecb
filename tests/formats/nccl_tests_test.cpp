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
