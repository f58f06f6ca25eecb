// Workload files: what they read to. What is refused, and how, is in golden/refused.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"
#include "formats/refusal.hpp"
#include "support/golden.hpp"

namespace fmsim {
namespace {

using test::refusal;

CollectiveCall call_of(const Operation& operation) { return std::get<CollectiveCall>(operation.action); }

// The operations of the first program of the first job.
std::vector<Operation> operations_of(const std::string& text) {
    return parse_workload(text, "j").jobs.at(0).programs.at(0).operations;
}

TEST_CASE("operations come in the order of the file, with their names") {
    const Workload work = parse_workload(R"({
        "operations": [
            {"name": "b", "collective": "all_reduce", "size": "64 MiB"},
            {"collective": "all_reduce", "size": 1000},
            {"name": "a", "collective": "all_reduce", "size": "0.5 kB"}
        ]})",
                                         "job.json");
    CHECK(work.name == "job.json");
    REQUIRE(work.jobs.size() == 1);
    const Job& job = work.jobs[0];
    CHECK(job.name == "job.json");
    REQUIRE(job.groups.size() == 1);
    CHECK(job.groups[0].name == "all");
    REQUIRE(job.programs.size() == 1);
    CHECK(job.programs[0].ranks.empty());
    const std::vector<Operation>& operations = job.programs[0].operations;
    REQUIRE(operations.size() == 3);
    CHECK(operations[0].name == "b");
    CHECK(call_of(operations[0]).collective == Collective::all_reduce);
    CHECK(call_of(operations[0]).size == Bytes{64 << 20});
    CHECK(call_of(operations[0]).group == 0);
    CHECK(operations[1].name == "operation 1");
    CHECK(call_of(operations[1]).size == Bytes{1000});
    CHECK(operations[2].name == "a");
    CHECK(call_of(operations[2]).size == Bytes{500});
    CHECK(operations[2].place == "/operations/2");
}

TEST_CASE("0 bytes, 1 byte and the largest size are sizes; one more is not") {
    const auto size_of = [](const std::string& size) {
        return call_of(operations_of(R"({"operations": [{"collective": "all_reduce", "size": )" + size + "}]}")[0])
            .size;
    };
    CHECK(size_of("0") == Bytes{0});
    CHECK(size_of("\"0 B\"") == Bytes{0});
    CHECK(size_of("1") == Bytes{1});
    CHECK(size_of("1125899906842624") == kLargestSize);
    CHECK(size_of("\"1024 TiB\"") == kLargestSize);
    CHECK(refusal([&] { size_of("1125899906842625"); }) ==
          "j:1: /operations/0/size: expected a size of at most 1024 TiB; found 1125899906842625");
}

TEST_CASE("a name may hold anything that can be shown") {
    const std::string name = "Gradienten der Schicht 7, µ → ∇ \xf0\x9f\x98\x80 ";
    CHECK(operations_of(R"({"operations": [{"name": ")" + name + R"(", "collective": "all_reduce", "size": 8}]})")[0]
              .name == name);
}

TEST_CASE("a name that collides with the one made for an unnamed operation is refused with its line") {
    const std::string text = R"({"operations": [
        {"name": "operation 1", "collective": "all_reduce", "size": 8},
        {"collective": "all_reduce", "size": 8}]})";
    CHECK(refusal([&] { parse_workload(text, "j"); }) ==
          "j:3: /operations/1/name: expected a name of its own; found operation 1");
}

TEST_CASE("the workloads that are shipped can be read") {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(FMSIM_SOURCE_DIR "/workloads")) {
        if (!entry.is_regular_file()) continue;  // models
        CAPTURE(entry.path());
        if (entry.path().filename() == "suite.json") {  // of the gate
            CHECK_FALSE(parse_suite(test::read_whole(entry.path()), entry.path()).scenarios.empty());
            continue;
        }
        if (is_training(test::read_whole(entry.path()))) {
            CHECK(parse_training(test::read_whole(entry.path()), entry.path()).plan.model.layers > 0);
            continue;
        }
        const Workload work = parse_workload(test::read_whole(entry.path()), entry.path().filename());
        for (const Job& job : work.jobs) CHECK_FALSE(tasks_of(job, 64).empty());
        ++files;
    }
    CHECK(files > 0);
}

}  // namespace
}  // namespace fmsim
