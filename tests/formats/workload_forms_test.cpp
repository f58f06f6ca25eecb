// All that a workload file can say, read to its values.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"
#include "support/golden.hpp"

namespace fmsim {
namespace {

using test::refusal;
using Ranks = std::vector<std::uint32_t>;

Workload read(const std::string& text) { return parse_workload(text, "j"); }
Job job_of(const std::string& text) { return read(text).jobs.at(0); }
Operation operation_of(const std::string& operation, const std::string& more = "") {
    return job_of(R"({"operations": [)" + operation + "]" + more + "}").programs.at(0).operations.at(0);
}

TEST_CASE("each action is read to its values") {
    const auto compute = std::get<Compute>(operation_of(R"({"compute": {"duration": "20 us"}})").action);
    CHECK(compute.duration == 20_us);
    const auto work = std::get<Compute>(
        operation_of(R"({"compute": {"flops": "3.2 TFLOP", "bytes": "1 GiB", "dtype": "bf16"}})").action);
    CHECK_FALSE(work.duration);
    CHECK(work.flops == 3.2e12);
    CHECK(work.bytes == Bytes{1 << 30});
    CHECK(work.dtype == "bf16");
    CHECK(std::get<Delay>(operation_of(R"({"delay": "5 us"})").action).span == 5_us);

    const auto send = std::get<Transfers>(operation_of(R"({"send": {"to": 3, "size": "1 MiB"}})").action);
    REQUIRE(send.sends.size() == 1);
    CHECK(send.receives.empty());
    CHECK_FALSE(send.sends[0].to.relative);
    CHECK(send.sends[0].to.rank == 3);
    CHECK(send.sends[0].size == Bytes{1 << 20});
    const auto receive = std::get<Transfers>(operation_of(R"({"receive": {"from": "-8", "size": 100}})").action);
    REQUIRE(receive.receives.size() == 1);
    CHECK(receive.receives[0].from.relative);
    CHECK(receive.receives[0].from.rank == -8);
    const auto both = std::get<Transfers>(operation_of(R"({"together": [{"send": {"to": "+1", "size": 8}},
        {"receive": {"from": "-1", "size": 8}}, {"send": {"to": "+2", "size": 9}}]})")
                                              .action);
    REQUIRE(both.sends.size() == 2);
    CHECK(both.sends[1].to.rank == 2);
    CHECK(both.receives.size() == 1);
}

TEST_CASE("a collective may say its group, root, algorithm and protocol") {
    const Operation operation = operation_of(R"({"collective": "broadcast", "size": 8, "group": "tp", "root": 2,
        "algorithm": "Tree", "protocol": "LL128"})",
                                             R"(, "groups": {"dp": {"size": 2}, "tp": {"size": 4, "stride": 2}})");
    const auto call = std::get<CollectiveCall>(operation.action);
    CHECK(call.collective == Collective::broadcast);
    CHECK(call.group == 2);  // behind "all" and "dp"
    CHECK(call.root == 2);
    CHECK(call.algorithm == "Tree");
    CHECK(call.protocol == "LL128");
}

TEST_CASE("tokens to experts are read to their values, and printed back") {
    const auto call = std::get<CollectiveCall>(
        operation_of(R"({"moe_combine": {"tokens": 4096, "hidden": 7168, "top_k": 8, "experts": 256, "dispatcher": "pplx",
        "dtype": "fp8", "routing": "skewed", "skew": 0.5, "seed": 3, "limit": 4, "sms": 24}, "group": "ep"})",
                     R"(, "groups": {"ep": {"size": 16}})")
            .action);
    CHECK(call.collective == Collective::all_to_all);
    CHECK(call.size == Bytes{4096LL * 8 * 7168});
    CHECK(call.group == 1);
    REQUIRE(call.experts);
    CHECK(*call.experts == ExpertCall{.combine = true,
                                      .tokens = 4096,
                                      .hidden = 7168,
                                      .top_k = 8,
                                      .experts = 256,
                                      .limit = 4,
                                      .dtype = "fp8",
                                      .dispatcher = "pplx",
                                      .routing = TokenRouting::skewed,
                                      .skew = 0.5,
                                      .seed = 3,
                                      .sms = 24});
    const auto plain = std::get<CollectiveCall>(
        operation_of(
            R"({"moe_dispatch": {"tokens": 1, "hidden": 8, "top_k": 1, "experts": 16, "dispatcher": "pplx"}})")
            .action);
    CHECK_FALSE(plain.experts->combine);
    CHECK(plain.experts->dtype == "bf16");
    CHECK(plain.experts->routing == TokenRouting::random);
    for (const char* wrong : {R"("routing": "random", "skew": 1)", R"("seed": 1)", R"("tokens": -1)", R"("dtype": "fp7")",
                              R"("hidden": 0)", R"("dispacher": "x")"}) {
        CAPTURE(wrong);
        CHECK_FALSE(refusal([&] {
                        operation_of(R"({"moe_dispatch": {"top_k": 1, "experts": 16, "dispatcher": "pplx", )" +
                                     std::string(wrong) + R"(, "x-a": 1}})");
                    }).empty());
    }
    CHECK_THAT(refusal([] { operation_of(R"({"moe_dispatch": {"tokens": 1, "hidden": 8, "top_k": 1, "experts": 16,
        "dispatcher": "pplx"}, "size": 8})"); }),
               Catch::Contains("expected no size beside moe_dispatch"));
}

TEST_CASE("every collective has its word, and a barrier no size") {
    for (const Collective collective : kCollectives) {
        const std::string size = collective == Collective::barrier ? "" : R"(, "size": 8)";
        const Operation operation =
            operation_of(R"({"collective": ")" + std::string(name(collective)) + "\"" + size + "}");
        CHECK(std::get<CollectiveCall>(operation.action).collective == collective);
    }
}

TEST_CASE("of unequal pairs the size is what the busiest rank sends") {
    const auto call = std::get<CollectiveCall>(
        operation_of(R"({"collective": "all_to_all", "pair_sizes": [[0, "1 kB"], [2000, 100]]})").action);
    CHECK(call.pair_bytes == std::vector<std::vector<std::int64_t>>{{0, 1000}, {2000, 100}});
    CHECK(call.size == Bytes{2100});
}

TEST_CASE("stream, start and after, which may name what comes later") {
    const Job job = job_of(R"({"operations": [
        {"name": "a", "compute": {"duration": "1 us"}, "after": ["c"]},
        {"name": "c", "delay": "1 us", "stream": "net", "start": "3 ms"}]})");
    const auto& operations = job.programs[0].operations;
    CHECK(operations[0].after == Ranks{1});
    CHECK(operations[0].stream.empty());
    CHECK(operations[1].stream == "net");
    CHECK(operations[1].start == SimTime{3'000'000'000'000});
}

TEST_CASE("repeated operations are numbered; their name alone means the last") {
    const Job job = job_of(R"({"operations": [
        {"name": "a", "delay": "1 us", "repeat": 3, "stream": "x"},
        {"name": "b", "delay": "1 us", "after": ["a"]},
        {"name": "c", "delay": "1 us", "after": ["a #1"], "repeat": 2}]})");
    std::string names;
    for (const Operation& operation : job.programs[0].operations) names += operation.name + ";";
    CHECK(names == "a #1;a #2;a #3;b;c #1;c #2;");
    CHECK(job.programs[0].operations[3].after == Ranks{2});
    CHECK(job.programs[0].operations[4].after == Ranks{0});
    CHECK(job.programs[0].operations[5].after == Ranks{0});
    CHECK(job.programs[0].operations[2].place == "/operations/0");
    CHECK(job_of(R"({"operations": [{"name": "a", "delay": "1 us", "repeat": 1}]})").programs[0].operations[0].name ==
          "a");
}

TEST_CASE("groups: ranks in three ways, or size and stride") {
    const Job job = job_of(R"({"operations": [{"delay": "1 us"}], "groups": {
        "a": {"ranks": [3, 1, 2]}, "b": {"ranks": "0-3, 8,5-6"}, "c": {"ranks": [[0, 2], "4-5", [7]]},
        "d": {"size": 8, "stride": 4}, "e": {"size": 2}, "x-note": 7}})");
    REQUIRE(job.groups.size() == 6);
    CHECK(job.groups[0].name == "all");
    CHECK(job.groups[1].members == std::vector<Ranks>{{3, 1, 2}});
    CHECK(job.groups[2].members == std::vector<Ranks>{{0, 1, 2, 3, 8, 5, 6}});
    CHECK(job.groups[3].members == std::vector<Ranks>{{0, 2}, {4, 5}, {7}});
    CHECK(job.groups[4].size == 8);
    CHECK(job.groups[4].stride == 4);
    CHECK(job.groups[5].stride == 1);
    CHECK(job.groups[5].place == "/groups/e");
}

TEST_CASE("a group's name may hold what a pointer has to escape") {
    const std::string text = R"({"operations": [{"delay": "1 us"}],
        "groups": {"a/b~c": {"ranks": [1, 1]}}})";
    CHECK(refusal([&] { read(text); }) ==
          "j:2: /groups/a~1b~0c: expected each rank in one group only, and once; found 1");
}

TEST_CASE("programs have roles and ranks") {
    const Job job = job_of(R"({"programs": [
        {"role": "first", "ranks": [0, 2], "operations": [{"delay": "1 us"}]},
        {"ranks": "1,3-4", "operations": [{"delay": "2 us"}, {"delay": "3 us"}]}]})");
    REQUIRE(job.programs.size() == 2);
    CHECK(job.programs[0].role == "first");
    CHECK(job.programs[0].ranks == Ranks{0, 2});
    CHECK(job.programs[1].ranks == Ranks{1, 3, 4});
    CHECK(job.programs[1].operations[1].place == "/programs/1/operations/1");
}

TEST_CASE("jobs have names, starts and placements of their own") {
    const Workload work = read(R"({"name": "two", "environment": {"NCCL_ALGO": "Ring", "x-why": 1}, "jobs": [
        {"name": "a", "operations": [{"collective": "all_reduce", "size": 8}],
         "placement": {"policy": "random:7", "gpus": 16, "per_domain": 4}},
        {"start": "2 s", "programs": [{"ranks": "0-3", "operations": [{"delay": "1 us"}]}], "x-more": []}]})");
    CHECK(work.name == "two");
    CHECK(work.environment == std::vector<std::pair<std::string, std::string>>{{"NCCL_ALGO", "Ring"}});
    REQUIRE(work.jobs.size() == 2);
    CHECK(work.jobs[0].name == "a");
    REQUIRE(work.jobs[0].wish);
    CHECK(work.jobs[0].wish->placement == "random:7");
    CHECK(work.jobs[0].wish->gpus == 16);
    CHECK(work.jobs[0].wish->per_domain == 4);
    CHECK(work.jobs[1].name == "job 1");
    CHECK_FALSE(work.jobs[1].wish);
    CHECK(work.jobs[1].start == SimTime{2'000'000'000'000'000});
    CHECK(work.jobs[1].programs[0].operations[0].place == "/jobs/1/programs/0/operations/0");
}

TEST_CASE("a scenario's words are those of the command line") {
    const Workload work = read(R"({"scenario": {"cluster": "p5.48xlarge:2", "gpus": 8, "fidelity": "chunk"},
        "operations": [{"delay": "1 us"}]})");
    CHECK(work.scenario == std::vector<std::pair<std::string, std::string>>{
                               {"cluster", "p5.48xlarge:2"}, {"fidelity", "chunk"}, {"gpus", "8"}});
}

TEST_CASE("problems that only the ranks bring up get file and line too") {
    const std::string text = R"({"operations": [
        {"delay": "1 us"},
        {"name": "s", "send": {"to": "+1", "size": 8}}]})";
    const Workload work = read(text);
    CHECK(refusal([&] {
              try {
                  tasks_of(work.jobs[0], 4);
              } catch (const InputError& error) {
                  throw in_file(error, text, "j");
              }
          }) ==
          "j:3: /operations/1: expected a receive for each send; ranks 0-3 send \"s\" to ranks 0-3, which do not "
          "receive it");
}

TEST_CASE("every example of the page about workload files can be read and run on 16 ranks") {
    const std::string page = test::read_whole(FMSIM_SOURCE_DIR "/docs/howto/workload.md");
    const std::string fence = "```json\n";
    int examples = 0;
    for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
        const std::string example = page.substr(at + fence.size(), page.find("```", at + 3) - at - fence.size());
        CAPTURE(example);
        for (const Job& job : read(example).jobs) CHECK_FALSE(tasks_of(job, 16).empty());
        ++examples;
    }
    CHECK(examples == 8);
}

TEST_CASE("100 MB of brackets are refused at once") {
    const std::string deep(100'000'000, '[');
    CHECK(refusal([&] { read(deep); }) == "j:1: expected at most 64 levels of nesting");
    CHECK_THAT(refusal([&] { read(R"({"operations": )" + deep); }), Catch::Contains("at most 64 levels"));
}

TEST_CASE("what would be too much once it is written out is refused before it is") {
    CHECK_THAT(refusal([] { read(R"({"operations": [{"delay": "1 us"}, {"delay": "1 us", "repeat": 1000000}]})"); }),
               Catch::Contains("/operations/1: expected a file of at most 1000000 operations"));
    std::string groups;
    for (int i = 0; i < 11; ++i)
        groups += (i == 0 ? "\"g" : ", \"g") + std::to_string(i) + R"(": {"ranks": "0-999999"})";
    CHECK_THAT(refusal([&] { read(R"({"operations": [{"delay": "1 us"}], "groups": {)" + groups + "}}"); }),
               Catch::Contains("expected a file that lists at most 10000000 ranks"));
}

}  // namespace
}  // namespace fmsim
