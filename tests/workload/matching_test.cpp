// Who meets whom, and who waits for whom: small jobs whose tasks are written out by hand.
#include <algorithm>

#include <catch2/catch.hpp>

#include "workload/jobs.hpp"

namespace fmsim::test {
namespace {

TEST_CASE("calls in turn are one task each, on all ranks, each after the one before") {
    const Workload work = in_turn({{"a", Collective::all_reduce, Bytes{8}}, {"b", Collective::all_gather, Bytes{8}}});
    check(work);
    CHECK(lines_of(work.jobs[0], 3) == "a 0,1,2\nb 0,1,2 after 0\n");
    CHECK(lines_of(work.jobs[0], 1) == "a 0\nb 0 after 0\n");
}

TEST_CASE("each rank computes for itself; a collective waits for all of its members") {
    CHECK(lines_of(everyone({compute("f"), call("g", 0), compute("h")}), 2) ==
          "f 0\nf 1\ng 0,1 after 0,1\nh 0 after 2\nh 1 after 2\n");
}

TEST_CASE("groups side by side do not wait for each other") {
    CHECK(lines_of(everyone({call("a", 1), call("b", 1)}, {{.name = "tp", .size = 2}}), 4) ==
          "a 0,1\na 2,3\nb 0,1 after 0\nb 2,3 after 1\n");
}

// Two families across each other: ranks 0 1 / 2 3 and 0 2 / 1 3.
TEST_CASE("a group of one family waits for those of the other that its members were in") {
    CHECK(lines_of(everyone({call("t", 1), call("d", 2)},
                            {{.name = "tp", .size = 2}, {.name = "dp", .size = 2, .stride = 2}}),
                   4) == "t 0,1\nt 2,3\nd 0,2 after 0,1\nd 1,3 after 0,1\n");
}

TEST_CASE("streams run side by side; after joins them") {
    const Job job = everyone({compute("f0"), on("net", after({0}, call("g0", 0))), compute("f1"),
                              on("net", after({2}, call("g1", 0))), after({1, 3}, compute("step"))});
    // f1 waits for f0 alone, g1 for g0 and f1, the step for its stream and both collectives.
    CHECK(lines_of(job, 1) == "f0 0\ng0 0 after 0\nf1 0 after 0\ng1 0 after 1,2\nstep 0 after 1,2,3\n");
}

TEST_CASE("after may name an operation that is written later") {
    CHECK(lines_of(everyone({on("b", after({1}, compute("second"))), on("a", compute("first"))}), 1) ==
          "first 0\nsecond 0 after 0\n");
}

// S24: ranks 4-7 reduce among themselves before all eight gather; ranks 0-3 come straight to the second.
TEST_CASE("ranks that come to a collective over another one are waited for") {
    const std::vector<GroupFamily> tail{{.name = "tail", .members = {{4, 5, 6, 7}}}};
    const Operation gather = call("gather", 0, Bytes{1000}, Collective::all_gather);
    const Job job = job_of(tail, {{.role = "head", .ranks = {0, 1, 2, 3}, .operations = {gather}},
                                  {.role = "tail", .ranks = {4, 5, 6, 7}, .operations = {call("early", 1), gather}}});
    CHECK(lines_of(job, 8) == "early 4,5,6,7\ngather 0,1,2,3,4,5,6,7 after 0\n");
    const std::vector<Task> tasks = tasks_of(job, 8);
    CHECK(tasks[0].program == 1);
    CHECK(tasks[1].program == 0);  // of the first of its group
    CHECK(tasks[1].operation == 0);
}

TEST_CASE("collectives of one group meet in the order of the program, whatever their streams and names") {
    const Job job = job_of({}, {{.ranks = {0}, .operations = {call("a", 0), on("s", call("b", 0, Bytes{8}))}},
                                {.ranks = {1}, .operations = {on("s", call("x", 0)), call("y", 0, Bytes{8})}}});
    CHECK(lines_of(job, 2) == "a 0,1\nb 0,1\n");
}

TEST_CASE("a group's order is kept") {
    CHECK(lines_of(everyone({call("a", 1)}, {{.name = "odd", .members = {{2, 0, 1}}}}), 3) == "a 2,0,1\n");
}

TEST_CASE("ranks without a program do nothing, and those of a group of one wait for nobody") {
    CHECK(lines_of(job_of({{.name = "self", .size = 1}}, {{.ranks = {2}, .operations = {call("a", 1)}}}), 4) ==
          "a 2\n");
}

TEST_CASE("a pipeline's messages pair up in order, and each end waits for its own rank alone") {
    const Job job = job_of(
        {},
        {{.ranks = {0}, .operations = {compute("f"), send("s1", rank(1), Bytes{10}), send("s2", next(1), Bytes{20})}},
         {.ranks = {1}, .operations = {receive("r1", next(-1), Bytes{10}), receive("r2", rank(0), Bytes{20})}}});
    CHECK(lines_of(job, 2) == "f 0\ns1 0,1 after 0\ns2 0,1 after 1\n");
    const std::vector<Task> tasks = tasks_of(job, 2);
    CHECK(tasks[1].size == Bytes{10});
    CHECK(tasks[2].size == Bytes{20});
}

// Around a ring all at once: each rank sends to the next and receives from the one before.
TEST_CASE("what is started together is over when all of it is") {
    const Job job = everyone(
        {{.name = "x", .action = Transfers{.sends = {{next(1), Bytes{8}}}, .receives = {{next(-1), Bytes{8}}}}},
         compute("c")});
    // Messages 0>1, 1>2, 2>0. Rank 0 has sent the first and received the last.
    CHECK(lines_of(job, 3) == "x 0,1\nx 1,2\nx 2,0\nc 1 after 0,1\nc 0 after 0,2\nc 2 after 1,2\n");
}

TEST_CASE("relative peers go round, by more than once as well") {
    for (const std::int64_t by : std::vector<std::int64_t>{1, 5, -3, 4'000'000'001}) {
        CAPTURE(by);
        const Job job = everyone(
            {{.name = "x", .action = Transfers{.sends = {{next(by), Bytes{8}}}, .receives = {{next(-by), Bytes{8}}}}}});
        CHECK(lines_of(job, 4) == "x 0,1\nx 1,2\nx 2,3\nx 3,0\n");
    }
}

TEST_CASE("several messages between two ranks keep their order, those to others do not matter") {
    const Job job = job_of(
        {},
        {{.ranks = {0},
          .operations = {{.name = "out",
                          .action =
                              Transfers{.sends = {{rank(2), Bytes{1}}, {rank(1), Bytes{2}}, {rank(2), Bytes{3}}}}}}},
         {.ranks = {1}, .operations = {receive("in", rank(0), Bytes{2})}},
         {.ranks = {2}, .operations = {receive("one", rank(0), Bytes{1}), receive("two", rank(0), Bytes{3})}}});
    // The third message waits for rank 2 to have the first.
    CHECK(lines_of(job, 3) == "out 0,2\nout 0,1\nout 0,2 after 0\n");
    std::vector<std::int64_t> sizes;
    for (const Task& task : tasks_of(job, 3)) sizes.push_back(task.size.count);
    CHECK(sizes == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("a task starts no sooner than the latest of its ranks says") {
    Operation early = call("a", 0), late = call("a", 0);
    late.start = 5_us;
    const Job job = job_of({}, {{.ranks = {0}, .operations = {early}}, {.ranks = {1}, .operations = {late}}});
    CHECK(tasks_of(job, 2)[0].start == 5_us);
}

TEST_CASE("every task comes after those it waits for, which are in order and each once") {
    const Job job = everyone(
        {compute("f"),
         on("net", after({0}, call("g", 1))),
         call("h", 2),
         on("net", call("i", 0)),
         {.name = "x", .action = Transfers{.sends = {{next(4), Bytes{8}}}, .receives = {{next(-4), Bytes{8}}}}},
         after({3}, compute("end"))},
        {{.name = "tp", .size = 4}, {.name = "dp", .size = 6, .stride = 4}});
    const std::vector<Task> tasks = tasks_of(job, 24);
    // 24 each of f, x and end, 6 of g, 4 of h, one of i.
    CHECK(tasks.size() == 24 * 3 + 6 + 4 + 1);
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
        CHECK(std::is_sorted(tasks[i].after.begin(), tasks[i].after.end()));
        CHECK(std::adjacent_find(tasks[i].after.begin(), tasks[i].after.end()) == tasks[i].after.end());
        for (const std::uint32_t before : tasks[i].after) CHECK(before < i);
    }
}

TEST_CASE("the bytes that count on the bus") {
    CHECK(bus_factor(Collective::all_reduce, 8) == 1.75);
    for (const Collective part : {Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all})
        CHECK(bus_factor(part, 8) == 0.875);
    for (const Collective whole : {Collective::broadcast, Collective::reduce, Collective::send_recv})
        CHECK(bus_factor(whole, 8) == 1);
    CHECK(bus_factor(Collective::barrier, 8) == 0);
}

}  // namespace
}  // namespace fmsim::test
