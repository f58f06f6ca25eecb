// What --help says. It is part of the interface.
#include <catch2/catch.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

TEST_CASE("--help of the program and of each command is as it was agreed") {
    check_golden("cli/help.txt", fmsim({"--help"}).output);
    for (const std::string command :
         {"collective", "run", "compare", "check", "explain", "explain-choice", "solve"}) {
        const Ended ended = fmsim({command, "--help"});
        CHECK(ended.code == 0);
        CHECK(ended.errors.empty());
        check_golden("cli/help_" + command + ".txt", ended.output);
    }
}

}  // namespace
}  // namespace fmsim::test
