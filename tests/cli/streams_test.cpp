// Results on stdout, notes on stderr; what happens when either is no ordinary file.
#include <csignal>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"

namespace fmsim::test {
namespace {

using Catch::Matchers::Contains;

const std::string kMeasured = R"({"id": "t", "cluster": "p5.48xlarge:4", "collective": "all_gather", "source": "s",
                                  "rows": [{"bytes": 8, "time_us": 100}]})";
std::vector<std::string> beside(const std::string& measured) {
    return {"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--measured", measured};
}
const std::vector<std::string> kSmall{"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--sizes", "8"};

TEST_CASE("data go to stdout, and stderr stays empty when there is nothing to say") {
    const Ended ended = fmsim(kSmall);
    CHECK(ended.code == 0);
    CHECK_THAT(ended.output, Contains("busbw"));
    CHECK(ended.errors.empty());
}

TEST_CASE("warnings go to stderr, and --quiet leaves them out but no error") {
    const TemporaryFolder folder;
    auto words = beside(folder.file("t.json", kMeasured));
    const Ended loud = fmsim(words);
    CHECK(loud.code == 0);
    CHECK_THAT(loud.errors, Contains("fmsim: warning: ") &&
                                Contains("was measured on p5.48xlarge:4, the prediction is for p5.48xlarge:2") &&
                                Contains("measured all_gather, the prediction is for all_reduce"));
    CHECK_THAT(loud.output, !Contains("warning"));

    words.push_back("--quiet");
    const Ended quiet = fmsim(words);
    CHECK(quiet.errors.empty());
    CHECK(quiet.output == loud.output);

    const Ended error = fmsim({"run", "no/such.json", "--cluster", "p5.48xlarge", "-q"});
    CHECK_THAT(error.errors, Contains("no/such.json"));
}

TEST_CASE("stderr has colour on a terminal only, and none with NO_COLOR") {
    const std::vector<std::string> words{"run", "no/such.json", "--cluster", "p5.48xlarge"};
    const auto colours = [&](Stderr err, const std::string& no_color) {
        const Ended ended = run_program(
            {.arguments = words, .environment = {{"TERM", "xterm-256color"}, {"NO_COLOR", no_color}}, .err = err});
        CHECK_THAT(ended.errors, Contains("expected a file that can be read"));
        return ended.errors.find('\x1b') != std::string::npos;
    };
    CHECK(colours(Stderr::terminal, ""));  // empty counts as not set
    CHECK_FALSE(colours(Stderr::terminal, "1"));
    CHECK_FALSE(colours(Stderr::captured, ""));
}

TEST_CASE("a reader that has gone ends the program quietly, as any other in a pipe") {
    const Ended ended = run_program({.arguments = kSmall, .out = Stdout::closed_pipe});
    CHECK(ended.signal == SIGPIPE);
    CHECK(ended.errors.empty());
}

TEST_CASE("a full disk or a closed stdout is an error, never silence") {
    const Stdout out = GENERATE(Stdout::full_disk, Stdout::closed);
    const Ended ended = run_program({.arguments = kSmall, .out = out});
    CHECK(ended.code == 3);
    CHECK(ended.errors == "fmsim: error: standard output: expected a file that can be written\n");
    CHECK(run_program({.arguments = {"--help"}, .out = out}).code == 3);
    CHECK(run_program({.arguments = {"--version"}, .out = out}).code == 3);
}

TEST_CASE("a workload, a system and a measurement can come from standard input") {
    const std::string job = R"({"operations": [{"name": "a", "collective": "all_reduce", "size": 8}]})";
    const Ended run =
        run_program({.arguments = {"run", "-", "--cluster", "p5.48xlarge:2", "--format", "json"}, .input = job});
    REQUIRE(run.code == 0);
    CHECK(nlohmann::json::parse(run.output)["operations"][0]["name"] == "a");

    CHECK(run_program({.arguments = {"solve", "-"}, .input = R"({"cases": []})"}).code == 0);
    const Ended measured = run_program({.arguments = beside("-"), .input = kMeasured});
    CHECK(measured.code == 0);
    CHECK_THAT(measured.output, Contains("# beside t: s"));

    const Ended empty = run_program({.arguments = {"run", "-", "--cluster", "p5.48xlarge:2"}});
    CHECK(empty.code == 3);
    CHECK_THAT(empty.errors, Contains("expected JSON"));
}

TEST_CASE("no file can write to the terminal through a message or a table") {
    const TemporaryFolder folder;
    const std::string hostile = folder.file(
        "h.json", R"({"operations": [{"\u001b[31m": 1, "collective": "\u009b2J\u0007", "size": "\u001b]0;x"}]})");
    const Ended run = fmsim({"run", hostile, "--cluster", "p5.48xlarge"});
    CHECK(run.code == 3);
    const std::string table = folder.file(
        "t.json", R"({"id": "t", "cluster": "c", "collective": "all_reduce", "source": "\u001b[31m\u009b2J\r",
                      "rows": [{"bytes": 8, "time_us": 100}]})");
    const Ended beside_it = fmsim(beside(table));
    CHECK(beside_it.code == 0);
    for (const std::string& text : {run.errors, beside_it.output, beside_it.errors}) {
        CHECK_FALSE(text.empty());
        CHECK(text.find_first_of("\x1b\x07\r") == std::string::npos);
        CHECK(text.find("\xc2\x9b") == std::string::npos);
    }
}

}  // namespace
}  // namespace fmsim::test
