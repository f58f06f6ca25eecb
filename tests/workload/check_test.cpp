// What is refused before the ranks are known.
#include <limits>

#include <catch2/catch.hpp>

#include "workload/jobs.hpp"

namespace fmsim::test {
namespace {

std::string said(const Job& job) {
    try {
        check(Workload{.jobs = {job}});
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("a sound job passes") { CHECK(said(everyone({compute("f"), call("a", 0)})).empty()); }

TEST_CASE("an empty workload, job or program is refused") {
    CHECK_THROWS_AS(check(Workload{}), InputError);
    CHECK(said(Job{}) == "/programs: expected at least one program");
    CHECK(said(everyone({})) == "/programs/0/operations: expected at least one operation");
}

TEST_CASE("all problems come at once") {
    CHECK(said(everyone({call("a", 0, Bytes{-1}), call("a", 3), compute("c", SimTime{-1})})) ==
          "/programs/0/operations/0/size: expected a size of 0 or more; found -1 B\n"
          "/programs/0/operations/1/name: expected a name of its own; found a\n"
          "/programs/0/operations/1/group: expected a group of the job; found 3\n"
          "/programs/0/operations/2: expected a duration of 0 or more");
}

TEST_CASE("families: names twice, ranks twice, empty groups, both forms") {
    const auto family = [](GroupFamily one) { return said(everyone({call("a", 0)}, {std::move(one)})); };
    CHECK(family({.name = "all"}) == "/groups/1: expected a name of its own; found all");
    CHECK(family({.name = "f", .members = {{1, 2}, {3, 1}}}) ==
          "/groups/1: expected each rank in one group only, and once; found 1");
    CHECK(family({.name = "f", .members = {{}}}) == "/groups/1: expected at least one rank in each group");
    CHECK(family({.name = "f", .members = {{1}}, .size = 1}) == "/groups/1: expected either ranks or a size");
    CHECK(family({.name = "f", .size = 1, .stride = 0}) == "/groups/1: expected a stride of 1 or more; found 0");
}

TEST_CASE("programs: a rank in two, and one of several without ranks") {
    const std::vector<Operation> one{compute("f")};
    CHECK(said(job_of({}, {{.ranks = {0, 1}, .operations = one}, {.ranks = {1}, .operations = one}})) ==
          "/programs/1: expected each rank in one program only, and once; found 1");
    CHECK(said(job_of({}, {{.ranks = {0}, .operations = one}, {.operations = one}})) ==
          "/programs/1: expected the ranks of each of several programs; found none");
}

TEST_CASE("circles of after are shown") {
    CHECK(said(everyone({after({0}, compute("a"))})) ==
          "/programs/0/operations/0: expected no circle of operations; \"a\" waits for \"a\"");
    CHECK(said(everyone({on("x", after({1}, compute("a"))), on("y", after({2}, compute("b"))),
                         on("z", after({0}, compute("c")))})) ==
          "/programs/0/operations/0: expected no circle of operations; \"a\" waits for \"b\" waits for \"c\" waits for "
          "\"a\"");
    CHECK(said(everyone({after({1}, compute("a")), compute("b")})) ==
          "/programs/0/operations/0: expected no circle of operations; \"a\" waits for \"b\" waits for \"a\"");
    CHECK(said(everyone({after({7}, compute("a"))})) ==
          "/programs/0/operations/0/after: expected operations of the same program; found 7");
}

TEST_CASE("what an action may not say") {
    const auto action = [](Action what) { return said(everyone({{.name = "a", .action = std::move(what)}})); };
    CHECK(action(Compute{}) ==
          "/programs/0/operations/0: expected compute with either a duration, or flops and bytes; found neither");
    CHECK(action(Compute{.duration = 1_us, .flops = 1}) ==
          "/programs/0/operations/0: expected compute with either a duration, or flops and bytes; found both");
    CHECK_THAT(action(Compute{.flops = std::numeric_limits<double>::quiet_NaN()}),
               Catch::Contains("flops of 0 or more"));
    CHECK_THAT(action(Compute{.flops = -1}), Catch::Contains("flops of 0 or more"));
    CHECK_THAT(action(Delay{SimTime{-1}}), Catch::Contains("a delay of 0 or more"));
    CHECK_THAT(action(Transfers{}), Catch::Contains("at least one send or receive"));
    CHECK_THAT(action(Transfers{.sends = {{next(0), Bytes{8}}}}), Catch::Contains("another rank than the own one"));
    CHECK_THAT(action(Transfers{.receives = {{rank(-1), Bytes{8}}}}), Catch::Contains("a rank, or one as"));
    CHECK_THAT(action(Transfers{.sends = {{next(1), Bytes{-8}}}}), Catch::Contains("0 bytes or more"));
    CHECK_THAT(action(CollectiveCall{.collective = Collective::all_gather, .root = 1}), Catch::Contains("root"));
    CHECK_THAT(action(CollectiveCall{.collective = Collective::all_gather, .pair_bytes = {{1}}}),
               Catch::Contains("for all_to_all only"));
    CHECK_THAT(action(CollectiveCall{.collective = Collective::all_to_all, .pair_bytes = {{1, 2}, {1}}}),
               Catch::Contains("as many sizes in each list as there are lists; found 1 in one of 2"));
    CHECK_THAT(action(CollectiveCall{.collective = Collective::all_to_all, .pair_bytes = {{0, -2}, {1, 0}}}),
               Catch::Contains("sizes of 0 or more; found -2"));
}

TEST_CASE("two jobs have two names, and problems say which job") {
    const Job one = everyone({call("a", 0)});
    Job bad = everyone({call("a", 0, Bytes{-1})});
    try {
        check(Workload{.jobs = {one, bad}});
        FAIL("expected a refusal");
    } catch (const InputError& error) {
        CHECK(std::string(error.what()) ==
              "/jobs/1/name: expected a name of its own\n"
              "/jobs/1/programs/0/operations/0/size: expected a size of 0 or more; found -1 B");
    }
}

}  // namespace
}  // namespace fmsim::test
