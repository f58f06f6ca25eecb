// Direct or ring on one switch (astra-sim/astra-sim#296, #155, #150): 8 endpoints, 50 GB/s each way, 10 ns, 100 MB.
//
//   direct   each rank sends an eighth to each other one, adds what it gets, and sends the sum of its eighth to all
//   ring     14 steps of an eighth
//
// Both send 2 x 7/8 x 100 MB from each endpoint: 3.5 ms or more. Then (2,8) and (8,2): 16 endpoints, links that are
// equal in both dimensions.
#include <deque>

#include <catch2/catch.hpp>

#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

constexpr std::uint32_t kRanks = 8;
constexpr Bytes kSize{100'000'000};

Topology one_switch(SimTime latency) {
    return build_topology(toy::cluster(
        {.gpus = kRanks, .nvlink = 50_GBps, .nic = 1_GBps, .sm = BytesPerSecond{1e30}, .nvlink_latency = latency}));
}

// `loops` passes, each over a part of the data. A rank's seven sends run beside each other.
Schedule direct(const Nccl& nccl, std::uint32_t loops) {
    Channel channel{.hops = {}, .steps = {}, .bytes = kSize, .loops = {}};
    auto pattern = std::make_shared<Pattern>();
    std::vector<std::vector<std::uint32_t>> got(kRanks);
    for (const bool adds : {true, false})
        for (std::uint32_t from = 0; from < kRanks; ++from)
            for (std::uint32_t to = 0; to < kRanks; ++to) {
                if (from == to) continue;
                const auto hop = static_cast<std::uint32_t>(channel.hops.size());
                channel.hops.push_back({.from = from, .to = to});
                const std::uint32_t id =
                    pattern->add({.hop = hop, .chunks = 1, .adds = adds},
                                 adds ? std::vector<std::uint32_t>{} : got[from], {adds ? to : from});
                if (adds) got[to].push_back(id);
            }
    channel.steps = std::shared_ptr<const Pattern>(pattern);
    const double chunk = static_cast<double>(kSize.count) / kRanks / loops;
    channel.loops.assign(loops, {.chunk = chunk, .unit = chunk});
    return {.collective = Collective::all_reduce,
            .algorithm = "Direct",
            .protocol = Protocol::simple,
            .size = kSize,
            .chunks_in_flight = nccl.shape.buffer_steps,
            .wire_per_data = 1,
            .launch = {},
            .channels = {channel},
            .exchange = {}};
}

Schedule ring(const Nccl& nccl, const Topology& net, std::uint32_t loops) {
    return toy::plan("Ring", Collective::all_reduce, net, toy::everyone(net),
                     {.size = kSize,
                      .protocol = Protocol::simple,
                      .channels = 1,
                      .chunk = {kSize.count / kRanks / loops},
                      .shape = &nccl.shape,
                      .simple_buffer = {std::int64_t{1} << 50}});
}

double milliseconds(const Topology& net, const Schedule& schedule, Fidelity fidelity) {
    const Group group = toy::everyone(net);
    const Step step{.after = {}, .not_before = {}, .takes = {}, .schedule = &schedule, .group = &group};
    return microseconds(run(lower(net, std::span(&step, 1), fidelity).system).end) / 1000;
}

}  // namespace

TEST_CASE("direct and ring differ by 12 latencies, not by a factor, and neither is below 3.5 ms") {
    const Nccl nccl = toy::nccl();
    const auto fidelity = GENERATE(Fidelity::stream, Fidelity::chunk);
    const auto loops = GENERATE(1u, 4u, 8u);
    const SimTime latency = GENERATE(SimTime{10'000'000}, 1_us);
    const Topology net = one_switch(latency);
    const double by_ring = milliseconds(net, ring(nccl, net, loops), fidelity);
    const double by_direct = milliseconds(net, direct(nccl, loops), fidelity);
    const double ms = microseconds(latency) / 1000;
    INFO("ring " << by_ring << " ms, direct " << by_direct << " ms");
    CHECK(by_ring >= 3.5);
    CHECK(by_direct >= 3.5);
    // A chunk costs at most its steps' latencies: 14 in a ring, 2 in a direct one.
    CHECK(by_ring <= 3.5 + loops * 14 * ms + 1e-6);
    CHECK(by_direct <= 3.5 + loops * 2 * ms + 1e-6);
    if (loops == 1 && fidelity == Fidelity::chunk) CHECK(by_ring - by_direct == Approx(12 * ms).epsilon(1e-3));
}

namespace {

// Domains of `inner` GPUs, `outer` of them; each GPU has a NIC that is as fast as its NVLink.
struct Shape {
    std::uint32_t inner{}, outer{};
};

// Reduce-scatter in one dimension, all-reduce of what is left in the other, all-gather back: milliseconds.
double two_dimensions(const Shape& shape, bool inner_first, SimTime latency, Fidelity fidelity) {
    const Topology net = build_topology(toy::cluster({.instances = shape.outer,
                                                      .gpus = shape.inner,
                                                      .nvlink = 50_GBps,
                                                      .nic = 50_GBps,
                                                      .sm = BytesPerSecond{1e30},
                                                      .nvlink_latency = latency,
                                                      .nic_latency = latency}));
    const Nccl nccl = toy::nccl();
    std::vector<Group> inner, outer;
    for (std::uint32_t domain = 0; domain < shape.outer; ++domain) {
        std::vector<GpuPlace> places;
        for (std::uint32_t gpu = 0; gpu < shape.inner; ++gpu) places.push_back({DomainId{domain}, gpu});
        inner.push_back(group_of(places));
    }
    for (std::uint32_t gpu = 0; gpu < shape.inner; ++gpu) {
        std::vector<GpuPlace> places;
        for (std::uint32_t domain = 0; domain < shape.outer; ++domain) places.push_back({DomainId{domain}, gpu});
        outer.push_back(group_of(places));
    }
    const auto& first = inner_first ? inner : outer;
    const auto& second = inner_first ? outer : inner;
    const Bytes part{kSize.count / static_cast<std::int64_t>(first[0].places.size())};
    std::deque<Schedule> schedules;
    std::vector<Step> steps;
    std::vector<std::uint32_t> before;
    const auto phase = [&](Collective collective, const std::vector<Group>& groups, Bytes size) {
        std::vector<std::uint32_t> now;
        for (const Group& group : groups) {
            schedules.push_back(toy::plan("Ring", collective, net, group,
                                          {.size = size,
                                           .protocol = Protocol::simple,
                                           .channels = 1,
                                           .shape = &nccl.shape,
                                           .simple_buffer = {std::int64_t{1} << 50}}));
            now.push_back(static_cast<std::uint32_t>(steps.size()));
            steps.push_back(
                {.after = before, .not_before = {}, .takes = {}, .schedule = &schedules.back(), .group = &group});
        }
        before = now;
    };
    phase(Collective::reduce_scatter, first, kSize);
    phase(Collective::all_reduce, second, part);
    phase(Collective::all_gather, first, kSize);
    return microseconds(run(lower(net, steps, fidelity).system).end) / 1000;
}

}  // namespace

TEST_CASE("shapes (2,8) and (8,2) with equal links differ by the order of their dimensions alone") {
    const auto fidelity = GENERATE(Fidelity::stream, Fidelity::chunk);
    const SimTime latency = GENERATE(SimTime{}, SimTime{10'000'000}, 1_us);
    // 2 (n-1)/n of the data over both dimensions, whatever their order: 3.75 ms at 50 GB/s.
    const double least = 2.0 * 15 / 16 * 100e6 / 50e9 * 1e3;
    const double steps = 2 * (7 + 1) * microseconds(latency) / 1000;
    for (const bool inner_first : {true, false})
        for (const Shape& shape : {Shape{2, 8}, Shape{8, 2}}) {
            INFO("(" << shape.inner << "," << shape.outer << "), " << (inner_first ? "inner" : "outer") << " first");
            const double ms = two_dimensions(shape, inner_first, latency, fidelity);
            CHECK(ms >= least * (1 - 1e-9));
            CHECK(ms <= least + steps + 1e-6);
        }
}

}  // namespace fmsim
