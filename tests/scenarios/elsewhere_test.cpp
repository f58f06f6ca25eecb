// What other simulators were measured to get wrong, or crash on, as properties of this one.
//
//   no sharing; store and forward; first differing dimension only      "seven senders"
//   a rank has one communication in flight                             "a tensor and a data all-reduce"
//   members in another order, groups that diverge, ranks that lack
//   a call or have another size                                        groups_test.cpp
//   a remainder is a chunk more; 0 and 1 B; sizes free below a table,
//   jumps at 1 MiB; above 16 GiB nothing                               "sizes between", "from 0 B to 32 GiB"
//   what a size means; in-switch reduction and all-gather twice the
//   flow                                                               "a size means"
//   one algorithm on two levels; 6 and 12 ranks; NVLS over two domains "any number of ranks"
//   latency counted once for any number of steps                       "latency of every dependent step"
//   knobs change physics: pieces in flight, splits                     direct_test.cpp
//   a straggler is hidden                                              "a rank that comes late"
//   zero-byte collectives that never end                               "a collective of nothing"
//   computing of 2,147,483,648 ns                                      "long computing"
//   tree and ring forced are the same flow                             "tree or ring"
//   busbw above the slowest links                                      "busbw of a reduce-scatter"
//   jobs that share links                                              "two jobs"
//   unequal NVLinks, several NVSwitches                                topology/graph_test.cpp
//   unmatched sends, cycles, unknown ids, empty and broken files       workload/refused_test.cpp, tests/golden/refused
//   not the same twice                                                 cli/predictions_test.cpp
//   units: GB/s read as GiB/s, sizes without unit                      base/quantities_test.cpp, tests/golden/refused
#include <algorithm>

#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"
#include "toy/traffic.hpp"

namespace fmsim {
namespace {

const Catalogue& shipped() {
    static const Catalogue catalogue = Catalogue::shipped();
    return catalogue;
}
const Nccl& real_nccl() {
    static const Nccl facts = shipped().nccl();
    return facts;
}

// Machines of one GPU on a switch.
Topology one_switch(std::uint32_t ranks, SimTime latency = {}) {
    return build_topology(toy::cluster({.instances = ranks, .gpus = 1, .nic = 50_GBps, .nic_latency = latency}));
}

Operation collective(std::string name, Collective kind, Bytes size, std::string stream = "", std::uint32_t group = 0) {
    return {.name = std::move(name),
            .stream = std::move(stream),
            .action = CollectiveCall{.collective = kind, .size = size, .group = group}};
}
Operation computing(std::string name, SimTime duration) {
    return {.name = std::move(name), .action = Compute{.duration = duration}};
}
Operation sends(std::vector<Send> all) { return {.name = "send", .action = Transfers{.sends = std::move(all)}}; }
Operation receives(std::vector<Receive> all) {
    return {.name = "receive", .action = Transfers{.receives = std::move(all)}};
}

Workload job_of(std::vector<Program> programs, std::vector<GroupFamily> families = {}) {
    Job job{.name = "job", .groups = {{.name = "all"}}, .programs = std::move(programs)};
    job.groups.insert(job.groups.end(), families.begin(), families.end());
    return {.jobs = {std::move(job)}};
}

double milliseconds(const Topology& net, const Workload& work, const Nccl& nccl, PredictOptions options = {}) {
    return microseconds(predict(net, toy::everyone(net), work, nccl, options).end) / 1000;
}
double alone(const Topology& net, Collective kind, Bytes size, const Nccl& nccl, PredictOptions options = {}) {
    return milliseconds(net, in_turn({{"it", kind, size}}), nccl, options);
}

constexpr Bytes kGb{1'000'000'000};

}  // namespace

TEST_CASE("seven senders into one port take seven times its time for one, and a switch stores no message") {
    const Topology net = build_topology(shipped().cluster("hgx-h100-8x400:8"));
    const Placement one_each = linear_placement(net, 0, 1);
    const double port =
        static_cast<double>(kGb.count) / net.type_of(DomainId{0}).instance.nic->carries.value;  // seconds
    const auto took = [&](std::vector<Program> programs) {
        return seconds(predict(net, one_each, job_of(std::move(programs)), real_nccl(), {}).end);
    };
    const Send to_first{.to = {.rank = 0}, .size = kGb};
    std::vector<Receive> all;
    std::vector<std::uint32_t> others;
    for (std::uint32_t rank = 1; rank < 8; ++rank) {
        all.push_back({.from = {.rank = rank}, .size = kGb});
        others.push_back(rank);
    }
    const double seven = took({{.role = "sink", .ranks = {0}, .operations = {receives(all)}},
                               {.role = "source", .ranks = others, .operations = {sends({to_first})}}});
    CHECK(seven >= 7 * port);
    CHECK(seven <= 7.1 * port);

    const Send next{.to = {.relative = true, .rank = 1}, .size = kGb};
    const Receive before{.from = {.relative = true, .rank = -1}, .size = kGb};
    const double one = took({{.role = "a", .ranks = {0}, .operations = {sends({next})}},
                             {.role = "b", .ranks = {1}, .operations = {receives({before})}}});
    CHECK(one >= port);
    CHECK(one <= 1.1 * port);
    // Pairs do not wait for each other.
    const double four = took({{.role = "a", .ranks = {0, 2, 4, 6}, .operations = {sends({next})}},
                              {.role = "b", .ranks = {1, 3, 5, 7}, .operations = {receives({before})}}});
    CHECK(four == Approx(one).epsilon(1e-9));
}

TEST_CASE("a tensor and a data all-reduce on different links take the longer of both, not their sum") {
    const Topology net = build_topology(shipped().cluster("hgx-h100-8x400:2"));
    const std::vector<GroupFamily> families{{.name = "tp", .size = 8}, {.name = "dp", .size = 2, .stride = 8}};
    const Operation tp = collective("tp", Collective::all_reduce, Bytes{1 << 30}, "tp", 1);
    const Operation dp = collective("dp", Collective::all_reduce, Bytes{256 << 20}, "dp", 2);
    const double tensor = milliseconds(net, job_of({{.operations = {tp}}}, families), real_nccl());
    const double data = milliseconds(net, job_of({{.operations = {dp}}}, families), real_nccl());
    const double both = milliseconds(net, job_of({{.operations = {tp, dp}}}, families), real_nccl());
    CHECK(both >= std::max(tensor, data) * (1 - 1e-9));
    CHECK(both <= 1.1 * std::max(tensor, data));
}

TEST_CASE("sizes between others take times between theirs: no step at a remainder or at 1 MiB") {
    const Topology net = build_topology(shipped().cluster("p5en.48xlarge:1"));
    const auto at = [&](std::int64_t size) { return alone(net, Collective::all_reduce, Bytes{size}, real_nccl()); };
    const double seven = at(7);
    for (const std::int64_t size : {8, 31, 33}) CHECK(at(size) == Approx(seven).epsilon(0.01));
    const std::int64_t mib = 1 << 20;
    CHECK(at(mib) == Approx(at(mib - 4)).epsilon(0.01));
    CHECK(at(mib + 4) == Approx(at(mib)).epsilon(0.01));
}

TEST_CASE("every size from 0 B to 32 GiB on odd numbers of ranks takes some time, and only 0 B next to none") {
    const Topology net = build_topology(shipped().cluster("p5en.48xlarge:3"));
    for (const Collective kind : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                  Collective::all_to_all, Collective::broadcast}) {
        INFO(name(kind));
        const double least = alone(net, kind, Bytes{1}, real_nccl());
        CHECK(least > 0.004);  // a launch and some steps
        CHECK(alone(net, kind, Bytes{0}, real_nccl()) < least);
        for (const std::int64_t size : {3LL, 512LL << 10, 32LL << 30})
            CHECK(alone(net, kind, Bytes{size}, real_nccl()) >= least * 0.999);
    }
}

TEST_CASE("a size means what nccl-tests' columns do, whatever the collective") {
    // 8 ranks of 50 GB/s: 7/8 of 1 GB leaves each in 17.5 ms, twice that in an all-reduce; a broadcast passes all on.
    const Topology net = one_switch(8);
    const Nccl nccl = toy::nccl();
    PredictOptions ring;
    ring.pins.algorithm = "Ring";
    CHECK(alone(net, Collective::all_gather, kGb, nccl, ring) == Approx(17.5).epsilon(0.01));
    CHECK(alone(net, Collective::reduce_scatter, kGb, nccl, ring) == Approx(17.5).epsilon(0.01));
    CHECK(alone(net, Collective::all_reduce, kGb, nccl, ring) == Approx(35).epsilon(0.01));
    const Topology real = build_topology(shipped().cluster("hgx-h100-8x400:8"));
    const double port =
        static_cast<double>(kGb.count) / real.type_of(DomainId{0}).instance.nic->carries.value;  // seconds
    const Prediction exchange =
        predict(real, linear_placement(real, 0, 1), in_turn({{"it", Collective::all_to_all, kGb}}), real_nccl(), {});
    CHECK(seconds(exchange.end) == Approx(7.0 / 8 * port).epsilon(0.05));
    const double broadcast = alone(net, Collective::broadcast, kGb, nccl, ring);
    CHECK(broadcast >= 20 - 1e-6);
    const auto bytes = [&](Collective kind) {
        const Prediction p =
            predict(net, toy::everyone(net), in_turn({{"it", kind, kGb}}), nccl, {.pins = ring.pins, .fold = false});
        return toy::bytes_out(net, p.lowered.system, {0});
    };
    CHECK(bytes(Collective::all_gather) == Approx(7e9 / 8));
    CHECK(bytes(Collective::all_reduce) == Approx(2 * 7e9 / 8));
}

TEST_CASE("any number of ranks runs by every algorithm, on both levels of the network") {
    for (const char* machines : {"hgx-h100-8x400:6", "hgx-h100-8x400:12", "hgx-h100-8x400:7"})
        for (const std::uint32_t per_domain : {1u, 6u, 8u})
            for (const char* algorithm : {"Ring", "Tree"}) {
                const Topology net = build_topology(shipped().cluster(machines));
                PredictOptions options;
                options.pins.algorithm = algorithm;
                const Prediction p = predict(net, linear_placement(net, 0, per_domain),
                                             in_turn({{"it", Collective::all_reduce, kGb}}), real_nccl(), options);
                INFO(machines << " x " << per_domain << " " << algorithm);
                CHECK(p.calls[0].algorithm == algorithm);
                CHECK(p.end >= p.calls[0].closed_form);
                CHECK(p.calls[0].closed_form > SimTime{});
            }
    // 16 ranks of two machines with NVLink Sharp: NCCL falls back to what can leave a machine.
    const Topology net = build_topology(shipped().cluster("hgx-h100-8x400:2"));
    for (const std::int64_t mib : {16, 64}) {
        const Prediction p = predict(net, toy::everyone(net),
                                     in_turn({{"it", Collective::all_reduce, Bytes{mib << 20}}}), real_nccl(), {});
        CHECK(p.end > SimTime{});
        CHECK(toy::bytes_out(net, p.lowered.system, {0}) > 0);
    }
}

TEST_CASE("a ring pays the latency of every dependent step") {
    for (const std::uint32_t ranks : {8u, 64u, 512u}) {
        const Topology net = one_switch(ranks, 1_us);
        PredictOptions ring;
        ring.pins.algorithm = "Ring";
        CHECK(alone(net, Collective::all_reduce, Bytes{1}, toy::nccl(), ring) >= 2 * (ranks - 1) * 1e-3 - 1e-9);
    }
}

TEST_CASE("a rank that comes late delays the collective by as much, and the wait is shown") {
    const Topology net = build_topology(shipped().cluster("p5en.48xlarge:1"));
    const Operation sum = collective("sum", Collective::all_reduce, Bytes{256 << 20});
    const SimTime late = 10000_us;
    const Workload work = job_of({{.role = "late", .ranks = {3}, .operations = {computing("step", late), sum}},
                                  {.role = "rest", .ranks = {0, 1, 2, 4, 5, 6, 7}, .operations = {sum}}});
    const Prediction p = predict(net, toy::everyone(net), work, real_nccl(), {});
    const auto call = std::find_if(p.calls.begin(), p.calls.end(), [](const auto& c) { return c.call.name == "sum"; });
    REQUIRE(call != p.calls.end());
    CHECK(call->waited == late);
    CHECK(microseconds(p.end - late) / 1000 ==
          Approx(alone(net, Collective::all_reduce, Bytes{256 << 20}, real_nccl())));
}

TEST_CASE("a collective of nothing lets the step complete") {
    const Topology net = build_topology(shipped().cluster("p5en.48xlarge:2"));
    const Workload work =
        job_of({{.operations = {computing("before", 5_us), collective("nothing", Collective::reduce_scatter, Bytes{0}),
                                computing("after", 5_us)}}});
    const double ms = milliseconds(net, work, real_nccl());
    CHECK(ms >= 0.010);
    CHECK(ms < 0.1);
}

TEST_CASE("long computing takes what it says") {
    const Topology net = build_topology(shipped().cluster("p5en.48xlarge:1"));
    for (const std::int64_t ns : {2'147'483'648LL, 10'000'000'000LL}) {
        const SimTime span{ns * 1'000'000};
        CHECK(
            predict(net, toy::everyone(net), job_of({{.operations = {computing("it", span)}}}), real_nccl(), {}).end ==
            span);
    }
}

TEST_CASE("tree or ring, as forced: other flows; the tree wins where latency counts, the ring in between") {
    const Topology net = build_topology(shipped().cluster("hgx-h100-8x400:16"));
    const auto time = [&](const char* algorithm, std::int64_t size) {
        PredictOptions options;
        options.pins.algorithm = algorithm;
        return alone(net, Collective::all_reduce, Bytes{size}, real_nccl(), options);
    };
    CHECK(time("Tree", 64 << 10) < time("Ring", 64 << 10));
    CHECK(time("Ring", 256 << 20) < time("Tree", 256 << 20));
}

TEST_CASE("busbw of a reduce-scatter over 1,024 GPUs stays below the slowest links that it crosses") {
    const Topology net = build_topology(shipped().cluster("p5en.48xlarge:128"));
    const Prediction p = predict(net, toy::everyone(net),
                                 in_turn({{"it", Collective::reduce_scatter, Bytes{8LL << 30}}}), real_nccl(), {});
    const double nics = net.rate_out_of(DomainId{0}).value * 1e-9;
    CHECK(p.calls[0].busbw_gbps() > 0.5 * nics);
    CHECK(p.calls[0].busbw_gbps() <= nics);
}

TEST_CASE("two jobs that share a spine slow each other, one that has it alone does not") {
    Cluster cluster = shipped().cluster("p5en.48xlarge:4");
    cluster.network.layers.push_back({.name = "leaf", .children = 2, .oversubscription = 4});
    const Topology net = build_topology(cluster);
    const auto hosts = [&](std::uint32_t a, std::uint32_t b) {
        return placement_on(net, {InstanceId{a}, InstanceId{b}});
    };
    const Workload one = in_turn({{"it", Collective::all_reduce, Bytes{1 << 30}}});
    Workload two = one;
    two.jobs.push_back(one.jobs[0]);
    two.jobs[0].name = "first";
    two.jobs[1].name = "second";
    // Each job on both leaves; then each on a leaf of its own.
    const SimTime across = predict(net, {hosts(0, 2)}, one, real_nccl(), {}).end;
    const SimTime shared = predict(net, {hosts(0, 2), hosts(1, 3)}, two, real_nccl(), {}).end;
    const SimTime inside = predict(net, {hosts(0, 1)}, one, real_nccl(), {}).end;
    const SimTime apart = predict(net, {hosts(0, 1), hosts(2, 3)}, two, real_nccl(), {}).end;
    CHECK(seconds(shared) > 1.2 * seconds(across));
    CHECK(seconds(apart) == Approx(seconds(inside)).epsilon(1e-9));  // rounds are whole femtoseconds
}

}  // namespace fmsim
