// `collective` and `run`: their JSON, that both say the same, and that the same question has the same answer.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

std::string output_of(Words words, const std::string& input = "") {
    const Ended ended = run_program({.arguments = std::move(words), .input = input});
    CAPTURE(ended.errors);
    REQUIRE(ended.code == 0);
    return ended.output;
}

Words collective(const Words& more) {
    Words words{"collective", "all_reduce", "--cluster", "p5.48xlarge:2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::string job_of(const std::string& size) {
    return R"({"operations": [{"name": "it", "collective": "all_reduce", "size": )" + size + "}]}";
}

void check_provenance(const json& report) {
    CHECK(report["schema_version"] == 1);
    CHECK(report["fmsim_version"].is_string());
    CHECK(report["constants_hash"].get<std::string>().size() == 16);
    CHECK(report["inputs_hash"].get<std::string>().size() == 16);
    CHECK(report["cluster"] == "p5.48xlarge:2");
    CHECK(report["ranks"] == 16);
    CHECK_FALSE(report["assumptions"].empty());
    CHECK(report["warnings"].is_array());
}

void check_row(const json& row) {
    CHECK(row["bytes"].is_number_integer());
    for (const char* key : {"time_us", "algbw_GBps", "busbw_GBps", "launch_us", "waiting_us", "working_us"}) {
        CAPTURE(key);
        REQUIRE(row[key].is_number());
        CHECK(row[key].get<double>() >= 0);
    }
    CHECK(row["algorithm"].is_string());
    CHECK(row["protocol"].is_string());
    CHECK(row["channels"].is_number_integer());
    CHECK(row["limited_by"].is_string());
    // The parts of a call's time add up to it.
    const double parts =
        row["launch_us"].get<double>() + row["waiting_us"].get<double>() + row["working_us"].get<double>();
    CHECK(parts == Approx(row["time_us"].get<double>()).epsilon(1e-12));
}

TEST_CASE("collective in JSON has a row a size with all of nccl-tests' figures") {
    const json report = json::parse(output_of(collective({"--sizes", "0,1,1MiB,1GiB", "--format", "json"})));
    check_provenance(report);
    CHECK(report["collective"] == "all_reduce");
    CHECK(report["domains"] == 2);
    CHECK(report["fidelity"] == "stream");
    REQUIRE(report["rows"].size() == 4);
    for (const json& row : report["rows"]) check_row(row);
    CHECK(report["rows"][3]["bytes"] == 1 << 30);
    // 1 GiB in the given time, and 2 x 15/16 of it on the bus.
    const json& row = report["rows"][3];
    const double algbw = 1'073'741.824 / row["time_us"].get<double>();
    CHECK(row["algbw_GBps"].get<double>() == Approx(algbw).epsilon(1e-12));
    CHECK(row["busbw_GBps"].get<double>() == Approx(algbw * 1.875).epsilon(1e-12));
}

TEST_CASE("run in JSON has the whole and its parts") {
    const std::string job = R"({"operations": [{"name": "a", "collective": "all_reduce", "size": "1 MiB"},
                                               {"name": "b", "collective": "all_reduce", "size": "1 GiB"}]})";
    const json report = json::parse(output_of({"run", "-", "--cluster", "p5.48xlarge:2", "--format", "json"}, job));
    check_provenance(report);
    REQUIRE(report["operations"].size() == 2);
    CHECK(report["operations"][0]["name"] == "a");
    CHECK(report["operations"][1]["collective"] == "all_reduce");
    double sum_us = 0;
    for (const json& row : report["operations"]) {
        check_row(row);
        sum_us += row["time_us"].get<double>();
    }
    const double time_s = report["time_s"];
    CHECK(time_s == Approx(sum_us * 1e-6).epsilon(1e-12));
    const json& breakdown = report["breakdown"];
    CHECK(breakdown["launch_s"].get<double>() + breakdown["waiting_s"].get<double>() +
              breakdown["working_s"].get<double>() ==
          Approx(time_s).epsilon(1e-12));
    REQUIRE_FALSE(report["resources"].empty());
    for (const json& resource : report["resources"]) {
        CHECK(resource["kind"].is_string());
        CHECK(resource["utilisation"].get<double>() >= 0);
        CHECK(resource["utilisation"].get<double>() <= 1 + 1e-9);
    }
}

TEST_CASE("a workload of one operation gives exactly what collective gives") {
    const auto [fidelity, size] = GENERATE(table<std::string, std::string>({
        {"stream", "0"},
        {"stream", "1"},
        {"stream", "8"},
        {"stream", "100001"},
        {"stream", "1048576"},
        {"stream", "17179869184"},
        {"chunk", "0"},
        {"chunk", "1"},
        {"chunk", "8"},
        {"chunk", "100001"},
        {"chunk", "4194304"},
    }));
    CAPTURE(fidelity, size);
    const json sweep =
        json::parse(output_of(collective({"--sizes", size, "--fidelity", fidelity, "--format", "json"})));
    const json run = json::parse(output_of(
        {"run", "-", "--cluster", "p5.48xlarge:2", "--fidelity", fidelity, "--format", "json"}, job_of(size)));
    json operation = run["operations"][0];
    for (const char* key : {"name", "collective", "ranks", "times"}) operation.erase(key);
    CHECK(operation == sweep["rows"][0]);
    CHECK(run["time_s"].get<double>() * 1e6 == Approx(operation["time_us"].get<double>()).epsilon(1e-15));
    CHECK(run["constants_hash"] == sweep["constants_hash"]);
}

TEST_CASE("what is pinned is what runs, in any case of letters") {
    const json report = json::parse(output_of(collective(
        {"--sizes", "64MiB", "--proto", "simple", "--algo", "Ring", "--max-channels", "3", "--format", "json"})));
    CHECK(report["rows"][0]["protocol"] == "Simple");
    CHECK(report["rows"][0]["channels"] == 3);
}

TEST_CASE("every collective is predicted, with a root where it has one and a reduction where it reduces") {
    for (const auto& [name, columns] : std::vector<std::pair<std::string, std::string>>{{"all_reduce", "float  sum      -1"},
                                                                                        {"reduce_scatter", "float  sum      -1"},
                                                                                        {"all_gather", "float  none     -1"},
                                                                                        {"broadcast", "float  none      0"},
                                                                                        {"reduce", "float  sum       0"},
                                                                                        {"all_to_all", "float  none     -1"},
                                                                                        {"send_recv", "float  none     -1"},
                                                                                        {"barrier", "-     -      -     "}}) {
        const std::string text = output_of({"collective", name, "--cluster", "p5.48xlarge:2", "--sizes", "1MiB"});
        CHECK_THAT(text, Catch::Contains(columns));
        const json row = json::parse(output_of(
            {"collective", name, "--cluster", "p5.48xlarge:2", "--sizes", "1MiB", "--format", "json"}))["rows"][0];
        CHECK(row["time_us"] > 0);
        CHECK(row["busbw_GBps"].is_null() == (name == "barrier"));
    }
    CHECK_THAT(output_of({"collective", "reduce", "--root", "5", "--cluster", "p5.48xlarge:2", "--sizes", "8"}),
               Catch::Contains("sum       5"));
    const Ended beyond = fmsim({"collective", "reduce", "--root", "16", "--cluster", "p5.48xlarge:2", "--sizes", "8"});
    CHECK(beyond.code == 2);
    CHECK_THAT(beyond.errors, Catch::Contains("--root: expected a rank below 16; found 16"));
    CHECK_THAT(fmsim(collective({"--root", "0"})).errors, Catch::Contains("expected broadcast or reduce"));
}

TEST_CASE("variables of NCCL are set by --env or --nccl; one without a knob is warned of") {
    const Words ring = collective({"--sizes", "1GiB", "--format", "json", "--env", "NCCL_ALGO=ring"});
    CHECK(json::parse(output_of(ring))["rows"][0]["algorithm"] == "Ring");
    const Words same = collective({"--sizes", "1GiB", "--format", "json", "--nccl", "NCCL_ALGO=ring"});
    CHECK(output_of(same) == output_of(ring));
    const Ended unknown = fmsim(collective({"--sizes", "8", "--env", "NCCL_IB_HCA=mlx5"}));
    CHECK(unknown.code == 0);
    CHECK(unknown.errors == "fmsim: warning: NCCL_IB_HCA: the model has no such knob\n");
    CHECK_THAT(fmsim(collective({"--sizes", "8", "--env", "NCCL_ALGO=rong"})).errors, Catch::Contains("--env NCCL_ALGO"));
    CHECK(fmsim(collective({"--sizes", "8", "--env", "HOME=/"})).code == 2);
    // The command line goes before the file.
    const std::string file = R"({"environment": {"NCCL_ALGO": "tree"}, "operations": [{"collective": "all_reduce", "size": "1 GiB"}]})";
    const auto algorithm = [&](Words more) {
        Words words{"run", "-", "--cluster", "p5.48xlarge:2", "--format", "json"};
        words.insert(words.end(), more.begin(), more.end());
        return json::parse(output_of(words, file))["operations"][0]["algorithm"].get<std::string>();
    };
    CHECK(algorithm({}) == "Tree");
    CHECK(algorithm({"--env", "NCCL_ALGO=ring"}) == "Ring");
}

TEST_CASE("a breakdown says whether it adds up, and assumptions are those of the operations shown") {
    const auto report = [](const std::string& job) {
        return json::parse(output_of({"run", "-", "--cluster", "p5.48xlarge:1", "--format", "json"}, job));
    };
    const json turn = report(R"({"operations": [{"compute": {"duration": "1 ms"}}, {"collective": "all_to_all", "size": "1 MiB"}]})");
    CHECK_THAT(turn["breakdown"]["counts"].get<std::string>(), Catch::Contains("time_s") && !Catch::Contains("not time_s"));
    CHECK(turn["operations"][0]["busbw_GBps"].is_null());
    CHECK(turn["operations"][0]["limited_by"] == "compute");
    CHECK_THAT(turn["assumptions"].dump(), Catch::Contains("exchange") && Catch::Contains("computing") &&
                                               !Catch::Contains("algorithm, protocol"));
    const json beside = report(R"({"operations": [{"compute": {"duration": "1 ms"}, "stream": "a"},
                                                  {"collective": "all_reduce", "size": "64 MiB", "stream": "b"}]})");
    CHECK_THAT(beside["breakdown"]["counts"].get<std::string>(), Catch::Contains("not time_s"));
    CHECK_THAT(beside["assumptions"].dump(), Catch::Contains("algorithm, protocol") && !Catch::Contains("exchange"));
}

TEST_CASE("an algorithm of a file is taken from the command line, and from beside the workload file") {
    const TemporaryFolder folder;
    const std::string both = R"(<algo name="swap" ngpus="2" nchannels="1" coll="allreduce" inplace="1">)"
                             R"(<gpu id="0" i_chunks="1" o_chunks="0" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">)"
                             R"(<step s="0" type="s" srcbuf="i" srcoff="0" cnt="1"/>)"
                             R"(<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1"/></tb></gpu>)"
                             R"(<gpu id="1" i_chunks="1" o_chunks="0" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">)"
                             R"(<step s="0" type="s" srcbuf="i" srcoff="0" cnt="1"/>)"
                             R"(<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1"/></tb></gpu></algo>)";
    const std::string algorithm = folder.file("swap.xml", both);
    const json row = json::parse(output_of({"collective", "all_reduce", "--cluster", "p5.48xlarge", "--gpus", "2",
                                            "--algo", algorithm, "--sizes", "1MiB", "--format", "json"}))["rows"][0];
    CHECK(row["algorithm"] == "swap");
    const std::string job = folder.file(
        "job.json", R"({"operations": [{"collective": "all_reduce", "size": "1 MiB", "algorithm": "swap.xml"}]})");
    const json run = json::parse(output_of({"run", job, "--cluster", "p5.48xlarge", "--gpus", "2", "--format", "json"}));
    CHECK(run["operations"][0]["algorithm"] == "swap");
    CHECK(run["operations"][0]["time_us"] == row["time_us"]);
    const Ended more = fmsim({"run", job, "--cluster", "p5.48xlarge"});
    CHECK(more.code != 0);
    CHECK_THAT(more.errors, Catch::Contains("expected an algorithm of 8 ranks; found swap of 2"));
}

TEST_CASE("the same command gives the same bytes") {
    const std::string format = GENERATE("text", "json", "csv");
    const std::string fidelity = GENERATE("stream", "chunk");
    const Words words = collective({"--sizes", "1,4MiB", "--fidelity", fidelity, "--format", format});
    CHECK(output_of(words) == output_of(words));
}

TEST_CASE("the hash of the inputs changes with what was asked and with nothing else") {
    const auto hash = [](const Words& more, const std::string& input = "") {
        Words words = collective(more);
        words.insert(words.end(), {"--format", "json"});
        return json::parse(output_of(words, input))["inputs_hash"].get<std::string>();
    };
    const std::string once = hash({"--sizes", "8..64"});
    CHECK(hash({"--sizes", "8..64"}) == once);
    CHECK(hash({"--sizes", "8,16,32,64"}) == once);  // the same sizes in other words
    CHECK(hash({"--sizes", "8..64", "--factor", "4"}) != once);
    CHECK(hash({"--sizes", "8..64", "--proto", "LL"}) != once);
    CHECK(hash({"--sizes", "8..64", "--fidelity", "chunk"}) != once);
    const auto measured = [](int time) {
        return fmt::format(R"({{"id": "t", "cluster": "p5.48xlarge:2", "collective": "all_reduce", "source": "s",
                               "rows": [{{"bytes": 8, "time_us": {}}}]}})",
                           time);
    };
    CHECK(hash({"--measured", "-"}, measured(1)) != hash({"--measured", "-"}, measured(2)));
}

TEST_CASE("a sweep over all sizes is written as it was agreed") {
    const Words sweep = collective({"--sizes", "8..16GiB", "--factor", "64"});
    check_golden("cli/all_reduce_p5_2.txt", output_of(sweep));
    Words csv = sweep;
    csv.insert(csv.end(), {"--format", "csv"});
    check_golden("cli/all_reduce_p5_2.csv", output_of(csv));
}

// Every pair of 16 ranks has another size, so that in chunks every end is an instant of its own.
std::string unequal_job() {
    json pairs = json::array();
    for (int from = 0; from < 16; ++from) {
        pairs.push_back(json::array());
        for (int to = 0; to < 16; ++to)
            pairs.back().push_back(from == to ? 0 : 100'000 + (from * 37 + to * 101) % 1000 * 777);
    }
    return json{{"operations", {{{"name", "tokens"}, {"collective", "all_to_all"}, {"pair_sizes", pairs}}}}}.dump();
}

TEST_CASE("ends that are close come together when asked, and the answer says what that cost") {
    const auto run = [&](const Words& more) {
        Words words{"run", "--cluster", "p5.48xlarge:2", "--fidelity", "chunk", "-"};
        words.insert(words.end(), more.begin(), more.end());
        return output_of(words, unequal_job());
    };
    check_golden("cli/coalesced.txt", run({"--coalesce", "0.01"}));
    const json exact = json::parse(run({"--format", "json"})),
               close = json::parse(run({"--format", "json", "--coalesce", "0.01"}));
    CHECK(exact["warnings"].empty());
    REQUIRE(close["warnings"].size() == 1);
    const std::string says = close["warnings"][0];
    CHECK_THAT(says, Catch::StartsWith("--coalesce 0.01: "));
    // Each does 0.99 of its work at least, so the time is no shorter than that of as much.
    CHECK(std::stod(says.substr(says.find("left out ") + 9)) > 0);
    const double shorter = 1 - close["time_s"].get<double>() / exact["time_s"].get<double>();
    CHECK((shorter > 0 && shorter < 0.01));
    CHECK(exact["inputs_hash"] != close["inputs_hash"]);
}

}  // namespace
}  // namespace fmsim::test
