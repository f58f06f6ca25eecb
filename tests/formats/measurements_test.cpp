// Tables of measured times.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

TEST_CASE("a table reads to its rows; those without a time are left out; other keys are free") {
    const Measurements table = parse_measurements(R"({
        "id": "p5-2", "cluster": "p5.48xlarge:2", "collective": "all_reduce", "source": "a\npage", "nccl": "2.18",
        "rows": [
            {"bytes": 8, "time_us": 121.5, "busbw_GBps": 0.1},
            {"bytes": 16},
            {"bytes": 32, "time_us": null},
            {"bytes": 17179869184, "time_us": 82477}
        ]})",
                                                  "t.json");
    CHECK(table.id == "p5-2");
    CHECK(table.cluster == "p5.48xlarge:2");
    CHECK(table.collective == "all_reduce");
    CHECK(table.source == "a\npage");
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].size == Bytes{8});
    CHECK(table.rows[0].time_us == 121.5);
    CHECK(table.rows[1].size == Bytes{16LL << 30});
    CHECK(measured_us(table, Bytes{16}) == std::nullopt);
    CHECK(measured_us(table, Bytes{16LL << 30}) == 82477.0);
}

TEST_CASE("what PyTorch timed, the variables say") {
    const auto by_torch = [](const std::string& env) {
        return parse_measurements(R"({"id": "t", "cluster": "p5.48xlarge:1", "collective": "all_reduce", "source": "s",
                                      "env": )" +
                                      env + R"(, "rows": [{"bytes": 8192, "time_us": 40}]})",
                                  "t.json")
            .torch;
    };
    CHECK(by_torch(R"({"benchmark": "torch 2.9.1 all_reduce_bench.py", "NCCL_DEBUG": "INFO"})"));
    CHECK_FALSE(by_torch(R"({"benchmark": "nccl-tests 2.17"})"));
    CHECK_FALSE(by_torch("null"));
}

TEST_CASE("reasons why tables are out of reach, and a fit's errors of sources left out") {
    const auto said = parse_out_of_reach(read_file(FMSIM_SOURCE_DIR "/bench/out_of_reach.json"), "out_of_reach.json");
    REQUIRE(!said.empty());
    for (const OutOfReach& one : said) CHECK(!one.why.empty());
    const std::string fit = R"({"constants_hash": "c", "inputs_hash": "i", "errors": [
        {"constants": "before", "sizes": "< 1 MiB", "median_percent": 1, "p90_percent": 2},
        {"constants": "fitted without the source", "sizes": ">= 1 MiB", "median_percent": 3, "p90_percent": 4}]})";
    const auto unseen = parse_unseen(fit, "fit.json", "c", "i");
    REQUIRE(unseen.size() == 1);
    CHECK(unseen[0].large);
    CHECK(unseen[0].p90 == 4);
    CHECK_THROWS_AS(parse_unseen(fit, "fit.json", "other", "i"), InputError);
}

}  // namespace
}  // namespace fmsim
