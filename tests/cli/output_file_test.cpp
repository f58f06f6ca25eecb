// -o: a file is there whole or not at all.
#include <sys/stat.h>

#include <thread>

#include <catch2/catch.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

using Names = std::vector<std::string>;

Ended write_to(const std::string& file, const std::string& sizes = "8") {
    return fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--sizes", sizes, "-o", file});
}
std::string table() { return fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--sizes", "8"}).output; }

TEST_CASE("-o writes what stdout would have had, and nothing to stdout") {
    const TemporaryFolder folder;
    const std::string file = folder.path() / "result";
    const Ended ended = write_to(file);
    CHECK(ended.code == 0);
    CHECK(ended.output.empty());
    CHECK(ended.errors.empty());
    CHECK(read_whole(file) == table());
    CHECK(folder.names() == Names{"result"});
}

TEST_CASE("-o replaces an old file, and through a link the file it leads to") {
    const TemporaryFolder folder;
    const std::string file = folder.file("result", "old");
    std::filesystem::create_symlink(file, folder.path() / "link");
    CHECK(write_to(folder.path() / "link").code == 0);
    CHECK(read_whole(file) == table());
    CHECK(std::filesystem::is_symlink(folder.path() / "link"));
    CHECK(folder.names() == Names{"link", "result"});
}

TEST_CASE("an old file survives a run that fails") {
    const TemporaryFolder folder;
    const std::string file = folder.file("result", "old");
    CHECK(write_to(file, "8 Gb").code == 2);
    CHECK(read_whole(file) == "old");
    CHECK(folder.names() == Names{"result"});
}

TEST_CASE("an old file survives a result that cannot be written, and nothing is left beside it") {
    const TemporaryFolder folder;
    const std::string file = folder.file("result", "old");
    const Ended ended = run_program(
        {.arguments = {"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--sizes", "8", "-o", file},
         .environment = {{"NO_COLOR", "1"}},
         .err = Stderr::terminal,  // which has room for the message
         .no_room = true});
    CHECK(ended.code == 3);
    CHECK_THAT(ended.errors, Catch::Matchers::Contains("expected a file that can be written"));
    CHECK(read_whole(file) == "old");
    CHECK(folder.names() == Names{"result"});
}

TEST_CASE("what cannot be written is an error with its name") {
    const TemporaryFolder folder;
    const std::string inside = folder.path() / "no" / "such";
    for (const std::string& file : {inside, folder.path().string(), std::string("/dev/full")}) {
        const Ended ended = write_to(file);
        CHECK(ended.code == 3);
        CHECK_THAT(ended.errors, Catch::Matchers::Contains(file + ": expected a file that can be written"));
    }
    CHECK(folder.names().empty());
}

TEST_CASE("-o - is stdout, and a pipe is written as it is") {
    CHECK(write_to("-").output == table());
    CHECK(write_to("/dev/stdout").code == 0);

    const TemporaryFolder folder;
    const std::string pipe = folder.path() / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    std::string read;
    std::thread reader([&] { read = read_whole(pipe); });
    CHECK(write_to(pipe).code == 0);
    reader.join();
    CHECK(read == table());
    CHECK(folder.names() == Names{"pipe"});
}

}  // namespace
}  // namespace fmsim::test
