// JSON values against our schemas: what is wrong, where, and what was probably meant.
#include <catch2/catch.hpp>

#include "outline.hpp"
#include "schema_check.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

// "POINTER: EXPECTED; FOUND", a problem a line.
std::vector<std::string> problems_of(const std::string& workload) {
    std::vector<std::string> lines;
    for (const Problem& problem : schema_problems(json::parse(workload), "workload", "t.json")) {
        CHECK(problem.file == "t.json");
        lines.push_back(problem.pointer + ": " + problem.expected + "; " + problem.found);
    }
    return lines;
}
using Lines = std::vector<std::string>;

std::string with(const std::string& operation) { return R"({"operations": [)" + operation + "]}"; }
const std::string kGoodOperation = R"("collective": "all_reduce", "size": 8)";

const std::string kCollective =
    "/operations/0/collective: expected a collective: \"all_reduce\", \"all_gather\", \"reduce_scatter\", "
    "\"broadcast\", "
    "\"reduce\", \"all_to_all\", \"send_recv\", \"barrier\"";

TEST_CASE("a sound value has no problems") {
    CHECK(problems_of(with("{" + kGoodOperation + "}")).empty());
    CHECK(problems_of(R"({"$schema": "x", "name": "n", "operations": [{"name": "a", "collective": "all_reduce",
                          "size": "8 B"}]})")
              .empty());
}

TEST_CASE("a place under a name of the file's own is described too") {
    CHECK(problems_of(R"({"operations": [{"delay": "1 us"}], "groups": {"tp": {"size": 0}}})") ==
          Lines{"/groups/tp/size: expected a whole number of 1 to 1000000: ranks of each group; 0"});
}

TEST_CASE("keys that begin with x- are free, with any value, at any level") {
    CHECK(problems_of(R"({"x-": 1, "x-note": {"size": null}, "operations": [{"x-why": [1, {}], )" + kGoodOperation +
                      "}]}")
              .empty());
    CHECK(problems_of(with(R"({"X-why": 1, )" + kGoodOperation + "}")) ==
          Lines{R"(/operations/0/X-why: no such key; )"});
}

TEST_CASE("an unknown key gets the nearest known one, where one is near") {
    CHECK(problems_of(with(R"({"sise": 1, )" + kGoodOperation + "}")) ==
          Lines{R"(/operations/0/sise: no such key; did you mean "size"?; )"});
    CHECK(problems_of(with(R"({"bandwidth": 1, )" + kGoodOperation + "}")) ==
          Lines{R"(/operations/0/bandwidth: no such key; )"});
    CHECK(problems_of(with(R"({"a/b~c": 1, )" + kGoodOperation + "}")) ==
          Lines{R"(/operations/0/a~1b~0c: no such key; )"});
}

TEST_CASE("all unknown keys are said, beside the other problems") {
    CHECK(problems_of(R"({"nam": 1, "operations": [{"sise": 1, "collectiv": 2, "size": 8}], "zzz": 2})") ==
          Lines{R"(/operations/0/collectiv: no such key; did you mean "collective"?; )",
                R"(/operations/0/sise: no such key; did you mean "size"?; )",
                R"(/nam: no such key; did you mean "name"?; )", R"(/zzz: no such key; )"});
}

TEST_CASE("a missing key says what belongs there") {
    CHECK(
        problems_of(with(R"({"send": {"size": 8}})")) ==
        Lines{R"(/operations/0/send: expected a key "to": a rank, or one as far from the own as "+1" or "-8"; none)"});
    CHECK(problems_of(R"({"programs": [{}]})") ==
          Lines{R"(/programs/0: expected a key "operations": a list of one or more operations; none)"});
}

TEST_CASE("a wrong type says what was expected and what was found") {
    const auto [operation, line] = GENERATE(table<std::string, std::string>({
        {"3", "/operations/0: expected an operation; 3"},
        {"[1, 2]", "/operations/0: expected an operation; a list of 2"},
        {R"({"collective": 3, "size": 8})", kCollective + "; 3"},
        {R"({"collective": "bcast", "size": 8})", kCollective + "; \"bcast\""},
        {R"({"collective": "all_reduce", "size": {}})",
         R"(/operations/0/size: expected a size with a unit, such as "64 MiB", or a whole number of bytes, up to 1024 TiB; an object)"},
        {R"({"collective": "all_reduce", "size": 1.5})",
         R"(/operations/0/size: expected a size with a unit, such as "64 MiB", or a whole number of bytes, up to 1024 TiB; 1.5)"},
        {R"({"collective": "all_reduce", "size": -1})",
         R"(/operations/0/size: expected a size with a unit, such as "64 MiB", or a whole number of bytes, up to 1024 TiB; -1)"},
        {R"({"name": "", "collective": "all_reduce", "size": 8})",
         R"(/operations/0/name: expected a name of 1 to 200 characters; "")"},
    }));
    CHECK(problems_of(with(operation)) == Lines{line});
}

TEST_CASE("values under a reference are described by what it names") {
    const json gpu = {{"name", "g"},
                      {"compute_capability", {{"value", 0}, {"source", ""}, {"date", "today"}, {"confidence", "sure"}}},
                      {"memory", 4},
                      {"channels", "hopper"}};
    std::vector<std::string> lines;
    for (const Problem& problem : schema_problems(gpu, "gpu", "g.json"))
        lines.push_back(problem.pointer + ": " + problem.expected);
    CHECK_THAT(lines, Catch::Matchers::UnorderedEquals(Lines{
                          "/compute_capability/value: expected a whole number of 1 or more",
                          "/compute_capability/source: expected where the value comes from",
                          "/compute_capability/date: expected a date such as \"2026-08-21\", \"2026-08\" or \"2026\"",
                          "/compute_capability/confidence: expected \"high\", \"medium\" or \"low\"",
                          "/memory: expected an object with value, source, date and confidence; value: a size with a "
                          "unit, such as \"64 MiB\"",
                          ": expected a key \"memory_rate\": an object with value, source, date and confidence; value: "
                          "a rate with a unit, such as \"400 Gb/s\"",
                          ": expected a key \"peak\": dense peak rates by type",
                          ": expected a key \"sms\": an object with value, source, date and confidence; value: a "
                          "whole number of 1 or more",
                          "/channels: expected an object with value, source, date and confidence; value: a word"}));
}

TEST_CASE("a hundred problems are enough, of twenty thousand") {
    std::string many = "3";
    for (int i = 0; i < 20'000; ++i) many += ",3";
    CHECK(schema_problems(json::parse(with(many)), "workload", "t.json").size() == kMostProblems);

    std::string keys = "{" + kGoodOperation;
    for (int i = 0; i < 20'000; ++i) {
        keys += R"(, "k)";
        keys += std::to_string(i);
        keys += R"(": 1)";
    }
    CHECK(schema_problems(json::parse(with(keys + "}")), "workload", "t.json").size() == kMostProblems);
}

}  // namespace
}  // namespace fmsim
