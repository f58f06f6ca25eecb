// Groups inside machines and across them (astra-sim/astra-sim#207, aliyun/SimAI#208, #139), and groups that diverge
// (astra-sim/astra-sim#339).
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"
#include "toy/traffic.hpp"

namespace fmsim {
namespace {

using Catch::Matchers::Contains;

const Nccl& nccl() {
    static const Nccl facts = Catalogue::shipped().nccl();
    return facts;
}

Operation call(std::string name, std::uint32_t group, Bytes size, Collective collective = Collective::all_reduce) {
    return {.name = std::move(name), .action = CollectiveCall{.collective = collective, .size = size, .group = group}};
}

Workload work_of(std::vector<GroupFamily> families, std::vector<Program> programs) {
    Job job{.name = "job", .groups = {{.name = "all"}}, .programs = std::move(programs)};
    for (GroupFamily& family : families) job.groups.push_back(std::move(family));
    Workload work;
    work.jobs.push_back(std::move(job));
    return work;
}

Prediction in_groups_of(const Topology& net, std::uint32_t ranks, std::uint32_t stride = 1) {
    return predict(net, toy::everyone(net),
                   work_of({{.name = "part", .size = ranks, .stride = stride}}, {{.operations = {call("it", 1, Bytes{64 << 20})}}}),
                   nccl(), {});
}

Topology hgx(std::uint32_t machines, double nic_factor = 1) {
    Cluster cluster = Catalogue::shipped().cluster("hgx-h100-8x400:2");
    cluster.blocks[0].count = machines;
    cluster.blocks[0].type.instance.nic->carries.value *= nic_factor;
    return build_topology(cluster);
}

double bytes_out(const Topology& net, const Prediction& p) { return toy::bytes_out(net, p.lowered.system, {0}); }

}  // namespace

TEST_CASE("groups of 8 stay inside their machines: 32 or 64 GPUs, and any network, give the same time") {
    const Topology small = hgx(4), large = hgx(8), slow = hgx(4, 0.1);
    const Prediction first = in_groups_of(small, 8);
    CHECK(first.end.fs > 0);
    CHECK(first.calls[0].ranks == 8);
    CHECK(first.calls[0].times == 4);
    CHECK(in_groups_of(large, 8).end == first.end);
    CHECK(in_groups_of(large, 8).calls[0].times == 8);
    CHECK(in_groups_of(slow, 8).end == first.end);
    CHECK(bytes_out(small, first) == 0);
    for (const LinkFinding& link : explain(small, first).links)
        if (link.kind == "InfiniBand") CHECK(link.bytes == 0);
}

TEST_CASE("groups of 16 leave their machines: slower, by an algorithm that can, and the network counts") {
    const Topology small = hgx(4), slow = hgx(4, 0.1);
    const Prediction across = in_groups_of(small, 16);
    CHECK(across.end > in_groups_of(small, 8).end);
    CHECK(across.calls[0].algorithm != "NVLS");
    CHECK(bytes_out(small, across) > 0);
    CHECK(in_groups_of(slow, 16).end > across.end);
    // One all-reduce of all, or four of a GPU a machine, change with the network too.
    CHECK(in_groups_of(slow, 32).end > in_groups_of(small, 32).end);
    CHECK(in_groups_of(slow, 4, 8).end > in_groups_of(small, 4, 8).end);
}

TEST_CASE("which of the ranks is named first does not change what a group of a machine takes") {
    // ASTRA-sim: 92.0 ms for {4,0,2,6} against 60.7 ms for {0,2,4,6}.
    const Topology net = hgx(1);
    const auto time = [&](std::vector<std::uint32_t> members) {
        const std::vector<Operation> once{call("it", 1, Bytes{1 << 30})};
        Program program{.ranks = {0, 2, 4, 6}, .operations = once};
        return predict(net, toy::everyone(net), work_of({{.name = "part", .members = {std::move(members)}}}, {program}),
                       nccl(), {})
            .end;
    };
    CHECK(time({0, 2, 4, 6}) == time({4, 0, 2, 6}));
}

TEST_CASE("ranks that come late to a collective are waited for, and the wait is shown") {
    // Ranks 4-7 reduce 1 KiB among themselves before all gather.
    const Topology net = hgx(1);
    const Operation gather = call("gather", 0, Bytes{8192}, Collective::all_gather);
    const Workload work = work_of({{.name = "tail", .members = {{4, 5, 6, 7}}}},
                                  {{.role = "head", .ranks = {0, 1, 2, 3}, .operations = {gather}},
                                   {.role = "tail", .ranks = {4, 5, 6, 7}, .operations = {call("early", 1, Bytes{1024}), gather}}});
    const Prediction p = predict(net, toy::everyone(net), work, nccl(), {});
    const auto find = [&](std::string_view name) {
        return *std::find_if(p.calls.begin(), p.calls.end(), [&](const auto& c) { return c.call.name == name; });
    };
    const CallPrediction early = find("early"), late = find("gather");
    CHECK(early.ranks == 4);
    CHECK(late.ranks == 8);
    CHECK(late.started == early.ended);
    CHECK(late.waited == early.time());
    CHECK(p.end == late.ended);
}

TEST_CASE("a member that forgets the call, or makes it with another size, is named") {
    const Topology net = hgx(1);
    const GroupFamily tail{.name = "tail", .members = {{4, 5, 6, 7}}};
    const Operation gather = call("gather", 0, Bytes{8192}, Collective::all_gather);
    const Operation early = call("early", 1, Bytes{1024});
    const Workload forgotten = work_of({tail}, {{.role = "head", .ranks = {0, 1, 2, 3, 7}, .operations = {gather}},
                                                {.role = "tail", .ranks = {4, 5, 6}, .operations = {early, gather}}});
    CHECK_THROWS_WITH(predict(net, toy::everyone(net), forgotten, nccl(), {}),
                      Contains("early") && Contains("tail") && Contains("4-6") && Contains("7"));
    Operation larger = gather;
    std::get<CollectiveCall>(larger.action).size = Bytes{16384};
    const Workload unequal = work_of({}, {{.role = "head", .ranks = {0, 1, 2}, .operations = {gather}},
                                          {.role = "tail", .ranks = {3, 4, 5, 6, 7}, .operations = {larger}}});
    CHECK_THROWS_WITH(predict(net, toy::everyone(net), unequal, nccl(), {}), Contains("of 8 KiB") && Contains("of 16 KiB"));
}

}  // namespace fmsim
