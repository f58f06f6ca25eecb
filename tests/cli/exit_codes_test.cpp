// What the end of the program means to the shell.
#include <catch2/catch.hpp>

#include "cli/child.hpp"

namespace fmsim::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Words = std::vector<std::string>;

const std::string kJob = R"({"operations": [{"name": "a", "collective": "all_reduce", "size": "1 MiB"}]})";

std::string system_of(const std::string& capacity, const std::string& bytes) {
    return R"({"cases": [{"id": "c1", "links": [{"id": "l", "capacity": )" + capacity +
           R"(}], "flows": [{"id": "f1", "route": ["l"], "bytes": )" + bytes + "}]}]}";
}

TEST_CASE("0: a prediction, a solution, help and the version") {
    CHECK(fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge", "--sizes", "8"}).code == 0);
    CHECK(run_program({.arguments = {"run", "-", "--cluster", "p5.48xlarge:2"}, .input = kJob}).code == 0);
    CHECK(run_program({.arguments = {"solve", "-"}, .input = system_of("1", "1")}).code == 0);
    CHECK(fmsim({"--help"}).code == 0);
    const Ended version = fmsim({"--version"});
    CHECK(version.code == 0);
    CHECK_THAT(version.output, StartsWith("fmsim ") && Contains("."));
    CHECK(version.errors.empty());
}

TEST_CASE("2: a command line that makes no sense; the reason goes to stderr") {
    const auto [words, reason] = GENERATE(table<Words, std::string>({
        {Words{}, "subcommand is required"},
        {{"predict"}, "no such command: predict"},
        {{"colective", "all_reduce"}, "no such command: colective; did you mean \"collective\"?"},
        {{"collective", "--cluster", "p5.48xlarge"}, "collective is required"},
        {{"collective", "all_reduce"}, "--cluster is required"},
        {{"collective", "all_reduce", "--cluster"}, "--cluster"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlrage"}, "did you mean \"p5.48xlarge\"?"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge:0"}, "with a count of 1 or more"},
        {{"collective", "allreduce", "--cluster", "p5.48xlarge"}, "expected a collective"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--sizes", "8 Gb"}, "--sizes: expected a size"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--sizes", "8..16", "--factor", "1"},
         "--factor: expected a factor above 1"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--sizes", "8..16", "--factor", "nan"}, "--factor"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--sizes", "8..16", "--factor", "x"}, "--factor"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--proto", "LL64"}, "--proto: expected a protocol"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--algo", "Star"}, "Star"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--max-channels", "0"}, "--max-channels"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--max-channels", "65"}, "--max-channels"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--fidelity", "exact"}, "--fidelity"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--format", "xml"}, "--format"},
        {{"collective", "all_reduce", "--cluster", "p5.48xlarge", "--nosuch"}, "--nosuch"},
        {{"collective", "all_reduce", "all_gather", "--cluster", "p5.48xlarge"}, "all_gather"},
        {{"run", "--cluster", "p5.48xlarge"}, "workload is required"},
        {{"solve"}, "system is required"},
    }));
    CAPTURE(words);
    const Ended ended = fmsim(words);
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    CHECK_THAT(ended.errors, StartsWith("fmsim: error: ") && Contains(reason));
}

TEST_CASE("3: a file that makes no sense, with all its problems on stderr") {
    const TemporaryFolder folder;
    const std::string bad = folder.file("bad.json", R"({"operations": [{"colective": "all_reduce"},
        {"send": {"size": "8 GB"}}]})");
    const Ended ended = fmsim({"run", bad, "--cluster", "p5.48xlarge"});
    CHECK(ended.code == 3);
    CHECK(ended.output.empty());
    CHECK_THAT(ended.errors, Contains("bad.json:1: /operations/0/colective: no such key; did you mean") &&
                                 Contains("bad.json:2: /operations/1/send: expected a key \"to\""));

    CHECK(fmsim({"run", "no/such.json", "--cluster", "p5.48xlarge"}).code == 3);
    CHECK(fmsim({"solve", folder.path()}).code == 3);
    CHECK(fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge", "--measured", bad}).code == 3);
    const std::string twice = R"({"operations": [{"name": "a", "collective": "all_reduce", "size": 8},
                                                 {"name": "a", "collective": "all_reduce", "size": 8}]})";
    const Ended clash = run_program({.arguments = {"run", "-", "--cluster", "p5.48xlarge"}, .input = twice});
    CHECK(clash.code == 3);
    CHECK_THAT(clash.errors, Contains(":2: /operations/1/name: expected a name of its own"));
}

TEST_CASE("4: sound, but it never ends") {
    const Ended ended = run_program({.arguments = {"solve", "-"}, .input = system_of("0", "1")});
    CHECK(ended.code == 4);
    CHECK(ended.output.empty());
    CHECK(ended.errors == "fmsim: error: case c1: flow f1 never ends: a link on its way has capacity 0\n");
}

TEST_CASE("5: beyond what one run can represent") {
    const Ended late = run_program({.arguments = {"solve", "-"}, .input = system_of("1", "10000")});  // 2.78 hours
    CHECK(late.code == 5);
    CHECK_THAT(late.errors, Contains("2.56 hours"));
    const Ended large =
        fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:2000", "--sizes", "16GiB", "--fidelity", "chunk"});
    CHECK(large.code == 5);
    CHECK(large.output.empty());
    CHECK_THAT(large.errors, Contains("chunk fidelity would need"));
}

}  // namespace
}  // namespace fmsim::test
