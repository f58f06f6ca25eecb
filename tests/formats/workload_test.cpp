// Workload files: what they read to. What is refused, and how, is in golden/refused.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"
#include "support/golden.hpp"

namespace fmsim {
namespace {

using test::refusal;

TEST_CASE("operations come in the order of the file, with their names") {
    const Job job = parse_job(R"({
        "operations": [
            {"name": "b", "collective": "all_reduce", "size": "64 MiB"},
            {"collective": "all_reduce", "size": 1000},
            {"name": "a", "collective": "all_reduce", "size": "0.5 kB"}
        ]})",
                              "job.json");
    CHECK(job.name == "job.json");
    REQUIRE(job.calls.size() == 3);
    CHECK(job.calls[0].name == "b");
    CHECK(job.calls[0].collective == Collective::all_reduce);
    CHECK(job.calls[0].size == Bytes{64 << 20});
    CHECK(job.calls[1].name == "operation 1");
    CHECK(job.calls[1].size == Bytes{1000});
    CHECK(job.calls[2].name == "a");
    CHECK(job.calls[2].size == Bytes{500});
}

TEST_CASE("0 bytes, 1 byte and the largest size are sizes; one more is not") {
    const auto size_of = [](const std::string& size) {
        return parse_job(R"({"operations": [{"collective": "all_reduce", "size": )" + size + "}]}", "j").calls[0].size;
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
    CHECK(parse_job(R"({"operations": [{"name": ")" + name + R"(", "collective": "all_reduce", "size": 8}]})", "j")
              .calls[0]
              .name == name);
}

TEST_CASE("a name that collides with the one made for an unnamed operation is refused with its line") {
    const std::string text = R"({"operations": [
        {"name": "operation 1", "collective": "all_reduce", "size": 8},
        {"collective": "all_reduce", "size": 8}]})";
    CHECK(refusal([&] { parse_job(text, "j"); }) ==
          "j:3: /operations/1/name: expected a name of its own; found operation 1");
}

TEST_CASE("the workloads that are shipped can be read") {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(FMSIM_SOURCE_DIR "/workloads")) {
        CHECK_FALSE(parse_job(test::read_whole(entry.path()), entry.path().filename()).calls.empty());
        ++files;
    }
    CHECK(files > 0);
}

}  // namespace
}  // namespace fmsim
