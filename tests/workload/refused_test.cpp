// Jobs that could not end: what is said of them, to the letter.
#include <catch2/catch.hpp>

#include "workload/jobs.hpp"

namespace fmsim::test {
namespace {

const std::vector<GroupFamily> kTail{{.name = "tail", .members = {{4, 5, 6, 7}}}};
const Operation kGather = call("gather", 0, Bytes{1000}, Collective::all_gather);

TEST_CASE("S24: rank 7 forgets the group's call") {
    const Job job = job_of(kTail, {{.ranks = {0, 1, 2, 3, 7}, .operations = {kGather}},
                                   {.ranks = {4, 5, 6}, .operations = {call("early", 1), kGather}}});
    CHECK(refusal_of(job, 8) ==
          "/programs/1/operations/0: expected all of group \"tail\" (ranks 4-7) in \"early\" (all_reduce of 1 KiB); "
          "ranks 4-6 arrived, rank 7 never does");
}

TEST_CASE("S24: the group's first member forgets the call") {
    const Job job = job_of(kTail, {{.ranks = {0, 1, 2, 3, 4}, .operations = {kGather}},
                                   {.ranks = {5, 6, 7}, .operations = {call("early", 1), kGather}}});
    CHECK(refusal_of(job, 8) ==
          "/programs/1/operations/0: expected all of group \"tail\" (ranks 4-7) in \"early\" (all_reduce of 1 KiB); "
          "ranks 5-7 arrived, rank 4 never does");
}

TEST_CASE("S24: the first unmatched operation is named, not a later one") {
    const Job job = job_of({}, {{.ranks = {0}, .operations = {call("a", 0), call("b", 0), call("c", 0), call("d", 0)}},
                                {.ranks = {1, 2}, .operations = {call("a", 0), call("b", 0)}}});
    CHECK(refusal_of(job, 3) ==
          "/programs/0/operations/2: expected all of group \"all\" (ranks 0-2) in \"c\" (all_reduce of 1 KiB); rank 0 "
          "arrived, ranks 1-2 never do");
}

TEST_CASE("S24: one collective, different sizes, kinds or roots on two ranks") {
    const auto said = [](const Operation& other) {
        return refusal_of(
            job_of({}, {{.ranks = {0, 1}, .operations = {call("a", 0)}}, {.ranks = {2, 3}, .operations = {other}}}), 4);
    };
    const std::string all = "/programs/0/operations/0: expected all of group \"all\" (ranks 0-3) in ";
    CHECK(said(call("b", 0, Bytes{2048})) == all +
                                                 "\"a\" (all_reduce of 1 KiB); ranks 0-1 arrived, ranks 2-3 call "
                                                 "\"b\" (all_reduce of 2 KiB) instead");
    CHECK(said(call("b", 0, Bytes{1024}, Collective::broadcast)) ==
          all + "\"a\" (all_reduce of 1 KiB); ranks 0-1 arrived, ranks 2-3 call \"b\" (broadcast of 1 KiB) instead");
    CHECK(said(call("b", 0)).empty());
    Operation left = call("l", 0, Bytes{8}, Collective::broadcast), right = left;
    std::get<CollectiveCall>(right.action).root = 1;
    CHECK(refusal_of(job_of({}, {{.ranks = {0}, .operations = {left}}, {.ranks = {1}, .operations = {right}}}), 2) ==
          "/programs/0/operations/0: expected all of group \"all\" (ranks 0-1) in \"l\" (broadcast of 8 B); rank 0 "
          "arrived, rank 1 calls \"l\" (broadcast of 8 B with root 1) instead");
}

TEST_CASE("two groups in different orders on two ranks are a circle, with all of it said") {
    const std::vector<GroupFamily> two{{.name = "x", .members = {{0, 1}}}, {.name = "y", .members = {{0, 1}}}};
    const Job job = job_of(two, {{.ranks = {0}, .operations = {call("a", 1), call("b", 2)}},
                                 {.ranks = {1}, .operations = {call("b", 2), call("a", 1)}}});
    CHECK(refusal_of(job, 2) ==
          "/programs/0/operations/0: expected no circle of waiting; in \"a\" (all_reduce of 1 KiB) of group \"x\" "
          "(ranks 0-1) rank 0 arrived, rank 1 comes to it after \"b\" only\n"
          "/programs/0/operations/1: expected no circle of waiting; in \"b\" (all_reduce of 1 KiB) of group \"y\" "
          "(ranks 0-1) rank 1 arrived, rank 0 comes to it after \"a\" only");
}

TEST_CASE("sends around a ring, one after another, are a circle") {
    const Job job = everyone({send("s", next(1)), receive("r", next(-1))});
    CHECK_THAT(
        refusal_of(job, 3),
        Catch::StartsWith("/programs/0/operations/0: expected no circle of waiting; in \"s\" (a message from rank "
                          "0 to rank 1) rank 0 arrived, rank 1 comes to it after \"s\" only"));
}

TEST_CASE("messages that only one end knows") {
    CHECK(refusal_of(job_of({}, {{.ranks = {0, 1}, .operations = {send("s", next(2))}}}), 4) ==
          "/programs/0/operations/0: expected a receive for each send; ranks 0-1 send \"s\" to ranks 2-3, which do not "
          "receive it");
    CHECK(
        refusal_of(job_of({}, {{.ranks = {3}, .operations = {receive("r", rank(0))}}}), 4) ==
        "/programs/0/operations/0: expected a send for each receive; rank 3 waits in \"r\" for rank 0, which does not "
        "send it");
    CHECK(refusal_of(job_of({}, {{.ranks = {0}, .operations = {send("s", rank(1), Bytes{1 << 20})}},
                                 {.ranks = {1}, .operations = {receive("r", rank(0), Bytes{1 << 19})}}}),
                     2) ==
          "/programs/0/operations/0: expected one size at both ends; \"s\" of rank 0 sends 1 MiB and \"r\" of rank 1 "
          "receives 512 KiB");
}

TEST_CASE("peers that there are not, and the own rank") {
    CHECK(refusal_of(everyone({send("s", rank(9))}), 4) ==
          "/programs/0/operations/0: expected a rank of the job, which are 0 to 3; found 9");
    CHECK(refusal_of(everyone({send("s", rank(2))}), 4) ==
          "/programs/0/operations/0: expected another rank than the own one, in a job of 4 ranks; found 2");
    CHECK(refusal_of(everyone({send("s", next(8))}), 4) ==
          "/programs/0/operations/0: expected another rank than the own one, in a job of 4 ranks; found 0");
}

TEST_CASE("ranks that are not in the group they call") {
    CHECK(
        refusal_of(everyone({compute("f"), call("a", 1)}, kTail), 8) ==
        "/programs/0/operations/1: expected only members of group \"tail\" to call it in \"a\" (all_reduce of 1 KiB); "
        "not ranks 0-3");
}

TEST_CASE("families and programs that do not suit the ranks") {
    CHECK(refusal_of(everyone({call("a", 1)}, {{.name = "tp", .size = 8}}), 12) ==
          "/groups/1: expected a size and a stride whose product divides the job's 12 ranks; found 8 x 1");
    CHECK(refusal_of(everyone({call("a", 1)}, kTail), 7) ==
          "/groups/1: expected members of the job's ranks, which are 0 to 6; found 7");
    CHECK(refusal_of(job_of({}, {{.ranks = {0, 4}, .operations = {call("a", 0)}}}), 4) ==
          "/programs/0: expected ranks of the job, which are 0 to 3; found 4");
    CHECK(refusal_of(everyone({call("a", 0)}), 0) == "expected a job with at least one rank");
}

TEST_CASE("roots and pairs that do not suit the group") {
    Operation root = call("a", 1, Bytes{8}, Collective::reduce);
    std::get<CollectiveCall>(root.action).root = 4;
    CHECK(refusal_of(everyone({root}, {{.name = "tp", .size = 4}}), 8) ==
          "/programs/0/operations/0/root: expected a position in group \"tp\" (ranks 0-3), below 4; found 4");
    Operation pairs = call("a", 0, Bytes{8}, Collective::all_to_all);
    std::get<CollectiveCall>(pairs.action).pair_bytes = {{0, 8}, {8, 0}};
    CHECK(refusal_of(everyone({pairs}), 3) ==
          "/programs/0/operations/0/pair_sizes: expected 3 lists of 3 sizes for group \"all\" (ranks 0-2); found 2");
    CHECK(refusal_of(everyone({pairs}), 2).empty());
}

TEST_CASE("a name cannot write to a terminal from a message") {
    const std::string said = refusal_of(
        job_of({{.name = "g\x1b[2J", .members = {{0, 1}}}}, {{.ranks = {0}, .operations = {call("\x1b]0;t\x07", 1)}}}),
        2);
    CHECK(said.find('\x1b') == std::string::npos);
    CHECK_THAT(said, Catch::Contains("g\\x1b[2J"));
}

TEST_CASE("a place that is written is the one that is named") {
    Operation operation = send("s", rank(9));
    operation.place = "/jobs/3/operations/0";
    CHECK_THAT(refusal_of(everyone({operation}), 4), Catch::StartsWith("/jobs/3/operations/0: expected a rank"));
}

}  // namespace
}  // namespace fmsim::test
