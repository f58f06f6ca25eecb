// The pipeline of one channel: what waits for what, and that one period of a ring stands for all of it.
#include "pipeline.hpp"

#include <catch2/catch.hpp>

#include "fmsim/collective.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/lowering.hpp"
#include "solo_makespan.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

// Ends of all cells when every cell of `bytes` takes as many nanoseconds.
SimTime makespan(const Pipeline& pipe) {
    SimTime end{};
    const auto last = walk<SimTime>(pipe, [](const Cell& cell, std::span<const After<SimTime>> waits) {
        SimTime start{};
        for (const auto& [before, lag] : waits) start = std::max(start, before + lag);
        return start + SimTime{static_cast<std::int64_t>(cell.wire_bytes * 1e6)};
    });
    for (const auto& [cell, lag] : last) end = std::max(end, cell + lag);
    return end;
}

constexpr SimTime operator""_ns(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000'000}; }

Pipeline two_ranks(SimTime latency, bool leaves) {
    return {.hops = {{leaves, latency, latency, 0}, {leaves, latency, latency, 1}},
            .steps = RingSteps{2},
            .chunks_in_flight = 2,
            .wire_per_data = 1,
            .loops = {{.chunk = 1, .unit = 1, .whole_message = false}}};
}

}  // namespace

TEST_CASE("two ranks, two steps: each waits for the other's data") {
    // hop 0   [0]----->[1]----->      1 ns of work, 5 ns of flight: 1 + 5 + 1 + 5
    // hop 1   [0]----->[1]----->
    CHECK(makespan(two_ranks(5_ns, false)) == 12_ns);
}

TEST_CASE("a hop out of the domain copies first and flies then") {
    // copy 1, flight 1, latency 5, twice
    CHECK(makespan(two_ranks(5_ns, true)) == 14_ns);
}

TEST_CASE("units let the next rank begin before the chunk is whole") {
    // 4 ranks in a ring, chunks of 4 ns, no latency: 6 steps. As one unit a chunk each step waits for the whole chunk
    // before it, but a rank is never idle: 24 ns either way. With a slow first hop (latency 3 ns) the wait for the
    // first unit is 1 + 3, for the whole chunk 4 + 3.
    Pipeline pipe{.hops = {{false, 3_ns, {}, 0}, {false, {}, {}, 1}, {false, {}, {}, 2}, {false, {}, {}, 3}},
                  .steps = RingSteps{6},
                  .chunks_in_flight = 8,
                  .wire_per_data = 1,
                  .loops = {{.chunk = 4, .unit = 4, .whole_message = false}}};
    const SimTime whole = makespan(pipe);
    pipe.loops[0].unit = 1;
    CHECK(makespan(pipe) < whole);
    CHECK(makespan(pipe) >= 24_ns);
}

TEST_CASE("a sender stops when the buffers of a slow receiver are full") {
    // Hop 0 sends a loop of one step to a receiver that passes nothing on before its own slow work: with 8 chunks in
    // flight hop 0 runs ahead, with 2 it cannot, and neither changes what hop 1 needs.
    Pipeline pipe{.hops = {{false, {}, {}, 0}, {true, 20_ns, 20_ns, 1}},
                  .steps = RingSteps{2},
                  .chunks_in_flight = 8,
                  .wire_per_data = 1,
                  .loops = std::vector<Loop>(20, Loop{.chunk = 1, .unit = 1, .whole_message = false})};
    const SimTime roomy = makespan(pipe);
    pipe.chunks_in_flight = 2;
    CHECK(makespan(pipe) > roomy);
}

TEST_CASE("one period of a regular ring gives the makespan of all of it") {
    const auto instances = GENERATE(2u, 3u, 5u);
    const auto slices = GENERATE(1u, 2u);
    const Topology net = build_topology(toy::cluster({.instances = instances,
                                                      .gpus = 4,
                                                      .nvlink = 9_GBps,
                                                      .nic = 2_GBps,
                                                      .sm = BytesPerSecond{5e9},
                                                      .nvlink_latency = 1_us,
                                                      .nic_latency = 7_us}));
    const Nccl nccl = toy::nccl(slices);
    const Group group = toy::everyone(net);
    const Schedule schedule = toy::plan("Ring", Collective::all_reduce, net, group,
                                        {.size = {123'457},
                                         .protocol = Protocol::simple,
                                         .channels = 1,
                                         .shape = &nccl.shape,
                                         .simple_buffer = {1 << 16}});
    const Channel& channel = schedule.channels[0];
    REQUIRE(channel.loops.size() >= 1);
    ChannelOnLinks placed = place(net, group, schedule)[0];
    CHECK(period_of(channel, placed) == 4);
    const SoloRun folded = solo_run(schedule, channel, placed);
    // A hop that costs the same but looks different breaks the period.
    placed.hops.back().copy_limit *= 1 + 1e-13;
    CHECK(period_of(channel, placed) == 4 * instances);
    const SoloRun whole_ring = solo_run(schedule, channel, placed);
    CHECK(std::abs(folded.makespan.fs - whole_ring.makespan.fs) <= 1000);
}

TEST_CASE("a lone channel's chunks end exactly when the recurrence says, repeated loops and steps skipped or not") {
    const auto slices = GENERATE(1u, 2u);
    // Few ranks and some hundred loops of the smaller buffer; then many steps, which repeat.
    const auto [instances, size, buffer] =
        GENERATE(table<std::uint32_t, Bytes, Bytes>({{3, Bytes{1}, Bytes{1 << 24}},
                                                     {3, Bytes{1000}, Bytes{1 << 19}},
                                                     {3, Bytes{999'983}, Bytes{1 << 24}},
                                                     {3, Bytes{64 << 20}, Bytes{1 << 24}},
                                                     {3, Bytes{64 << 20}, Bytes{1 << 19}},
                                                     {8, Bytes{1}, Bytes{1 << 24}},
                                                     {8, Bytes{8 << 20}, Bytes{1 << 17}},
                                                     {24, Bytes{1}, Bytes{1 << 17}},
                                                     {24, Bytes{999'983}, Bytes{1 << 24}},
                                                     {24, Bytes{999'983}, Bytes{1 << 17}},
                                                     {24, Bytes{8 << 20}, Bytes{1 << 24}},
                                                     {24, Bytes{8 << 20}, Bytes{1 << 17}}}));
    const Topology net = build_topology(toy::cluster({.instances = instances,
                                                      .gpus = 4,
                                                      .nvlink = 9_GBps,
                                                      .nic = 2_GBps,
                                                      .nvlink_latency = 1_us,
                                                      .nic_latency = 7_us}));
    const Nccl nccl = toy::nccl(slices);
    const Group group = toy::everyone(net);
    const Schedule schedule = toy::plan(
        "Ring", Collective::all_reduce, net, group,
        {.size = size, .protocol = Protocol::simple, .channels = 1, .shape = &nccl.shape, .simple_buffer = buffer});
    const SoloRun solo = solo_run(schedule, schedule.channels[0], place(net, group, schedule)[0]);
    const Step step{.after = {}, .not_before = {}, .takes = {}, .schedule = &schedule, .group = &group};
    const Lowered lowered = lower(net, std::span(&step, 1), Fidelity::chunk);
    CHECK(run(lowered.system).end == solo.makespan);
}

}  // namespace fmsim
