// What holds for every algorithm of every collective on random groups, in both fidelities:
//
//   1  what leaves and enters each domain's NICs is what the schedule says, to rounding; all_to_all: p S (R-p)/R of a
//      part of p ranks;
//   2  nothing is faster than its closed form, nothing is free but 0 bytes;
//   3  in `stream`, with algorithm, protocol, channels and chunk pinned, time never falls when bytes grow, a capacity
//      shrinks or a latency grows.
#include <cmath>

#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"
#include "toy/traffic.hpp"

namespace fmsim {
namespace {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_(seed * 2 + 1) {}
    std::uint32_t below(std::uint32_t bound) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>((state_ >> 33) % bound);
    }

private:
    std::uint64_t state_;
};

const Catalogue& catalogue() {
    static const Catalogue shipped = Catalogue::shipped();
    return shipped;
}
const Nccl& nccl() {
    static const Nccl facts = catalogue().nccl();
    return facts;
}

// Up to four machines of two kinds that may differ, and some of their GPUs in a random order.
struct Case {
    Cluster cluster;
    Placement places;
    PlanRequest request;
};

Case random_case(Dice& dice) {
    static const char* const kKinds[]{"p5.48xlarge",    "p5en.48xlarge",        "p6-b200.48xlarge",
                                      "p4d.24xlarge", "hgx-h100-4x400", "hgx-h200-8x400-roce"};
    Case made;
    made.cluster.name = "random";
    const std::uint32_t domains = 1 + dice.below(4);
    for (std::uint32_t d = 0; d < domains; ++d)
        made.cluster.blocks.push_back({catalogue().domain(kKinds[dice.below(3) == 0 ? dice.below(6) : 0]), 1});
    if (dice.below(2) == 0)
        made.cluster.network = {.layers = {{.name = "leaf", .children = 2, .oversubscription = 1.0 + dice.below(3), .uplinks = 4}}};
    const std::uint32_t each = dice.below(2) == 0 ? 8 : 1 + dice.below(8);
    for (std::uint32_t d = 0; d < domains; ++d)
        for (std::uint32_t g = 0; g < each; ++g) made.places.push_back({DomainId{d}, g});
    if (made.places.size() < 2) made.places.push_back({DomainId{0}, 7});
    if (dice.below(4) == 0)
        for (std::size_t i = made.places.size(); i > 1; --i)
            std::swap(made.places[i - 1], made.places[dice.below(static_cast<std::uint32_t>(i))]);
    const Bytes chunk{std::int64_t{16'384} << dice.below(5)};
    made.request = {.size = {1 + (std::int64_t{dice.below(1 << 20)} << dice.below(5))},
                    .protocol = kProtocols[dice.below(3)],
                    .channels = 1 + dice.below(4),
                    .chunk = chunk,
                    .root = dice.below(static_cast<std::uint32_t>(made.places.size())),
                    .inside = {.parts = 1 + dice.below(2), .chunk = chunk},
                    .between = {.parts = 1 + dice.below(2), .chunk = chunk},
                    .pxn = dice.below(2) == 0,
                    .shape = &nccl().shape,
                    .simple_buffer = {4 << 20}};
    return made;
}

Schedule planned(const Algorithm& row, const Topology& net, const Group& group, PlanRequest request) {
    // NCCL has these with Simple alone.
    if (row.name.starts_with("NVLS") || row.name == "PAT") request.protocol = Protocol::simple;
    return row.plan(net, group, request);
}

Lowered lowered(const Topology& net, const Group& group, const Schedule& schedule, Fidelity fidelity) {
    const Step step{.after = {}, .not_before = {}, .takes = {}, .schedule = &schedule, .group = &group};
    return lower(net, std::span(&step, 1), fidelity);
}
SimTime time_of(const Topology& net, const Group& group, const Schedule& schedule, Fidelity fidelity) {
    return run(lowered(net, group, schedule, fidelity).system).end;
}

// Chunks that a hop carries in a loop.
double chunks_of(const Channel& channel, std::uint32_t hop) {
    if (const auto* ring = std::get_if<RingSteps>(&channel.steps)) return ring->steps;
    const auto of = [](const std::vector<Transfer>& transfers, std::uint32_t wanted) {
        double chunks = 0;
        for (const Transfer& transfer : transfers)
            if (transfer.hop == wanted) chunks += transfer.chunks;
        return chunks;
    };
    if (const auto* turning = std::get_if<std::shared_ptr<const TurningSteps>>(&channel.steps))
        return of((*turning)->transfers, hop % (*turning)->hops);
    return of(std::get<std::shared_ptr<const Pattern>>(channel.steps)->transfers, hop);
}

struct Crossing {
    std::vector<double> out, in;  // of each domain
};
Crossing crossing(const Group& group, const Schedule& schedule, std::size_t domains) {
    Crossing bytes{std::vector<double>(domains), std::vector<double>(domains)};
    const auto add = [&](std::uint32_t from, std::uint32_t to, double there) {
        const DomainId out = group.places[from].domain, in = group.places[to].domain;
        if (out == in) return;
        bytes.out[out.value] += there;
        bytes.in[in.value] += there;
    };
    for (const Channel& channel : schedule.channels) {
        double data = 0;
        for (const Loop& loop : channel.loops) data += loop.chunk;
        for (std::uint32_t h = 0; h < channel.hops.size(); ++h)
            if (channel.hops[h].way == Way::network)
                add(channel.hops[h].from, channel.hops[h].to,
                    data * chunks_of(channel, h) * schedule.wire_per_data);
    }
    if (!schedule.exchange) return bytes;
    const Exchange& exchange = *schedule.exchange;
    const auto ranks = static_cast<std::uint32_t>(group.places.size());
    for (const Message& message : exchange.messages) add(message.from, message.to, message.bytes);
    for (std::uint32_t from = 0; from < ranks && exchange.each > 0; ++from)
        for (std::uint32_t to = 0; to < ranks; ++to) add(from, to, exchange.each);
    return bytes;
}

bool is_small(const Schedule& schedule) {
    std::size_t transfers = 0;
    for (const Channel& channel : schedule.channels) {
        std::size_t each = channel.hops.size();
        if (const auto* ring = std::get_if<RingSteps>(&channel.steps)) each *= ring->steps;
        for (const Loop& loop : channel.loops) transfers += each * loop.units();
    }
    return transfers < 50'000;
}

template <class Check>
void each_row(const Topology& net, const Group& group, Check check) {
    for (const Algorithm& row : algorithms())
        if (row.refuses(net, group, nccl().shape).empty()) check(row);
}

}  // namespace

TEST_CASE("what leaves and enters each domain is what the schedule says, whatever the algorithm") {
    Dice dice(GENERATE(take(25, random(std::uint64_t{1}, std::uint64_t{1} << 40))));
    const Case made = random_case(dice);
    const Topology net = build_topology(made.cluster);
    const Group group = group_of(made.places);
    each_row(net, group, [&](const Algorithm& row) {
        const Schedule schedule = planned(row, net, group, made.request);
        const Crossing expected = crossing(group, schedule, net.domains());
        for (const Fidelity fidelity : {Fidelity::stream, Fidelity::chunk}) {
            if (fidelity == Fidelity::chunk && !is_small(schedule)) continue;
            const Lowered system = lowered(net, group, schedule, fidelity);
            INFO(row.name << " " << name(row.does) << " of " << made.request.size.count << " on "
                          << group.places.size() << " in " << group.parts.size());
            for (std::uint32_t d = 0; d < net.domains(); ++d) {
                const InstanceId instance = net.instance_of({DomainId{d}, 0});
                CHECK(toy::bytes_out(net, system.system, instance) == Approx(expected.out[d]).epsilon(1e-9));
                CHECK(toy::bytes_in(net, system.system, instance) == Approx(expected.in[d]).epsilon(1e-9));
            }
        }
        if (row.does != Collective::all_to_all) return;
        const auto ranks = static_cast<double>(group.places.size());
        for (const Group::Part& part : group.parts) {
            const auto own = static_cast<double>(part.positions.size());
            CHECK(expected.out[part.domain.value] ==
                  Approx(own * static_cast<double>(made.request.size.count) * (ranks - own) / ranks).epsilon(1e-12));
        }
    });
}

TEST_CASE("nothing is faster than its closed form, and nothing but 0 bytes is free") {
    Dice dice(GENERATE(take(15, random(std::uint64_t{1}, std::uint64_t{1} << 40))));
    Case made = random_case(dice);
    made.cluster.network = {};
    const Topology net = build_topology(made.cluster);
    const Group group = group_of(made.places);
    each_row(net, group, [&](const Algorithm& row) {
        for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, made.request.size.count})
            for (const Fidelity fidelity : {Fidelity::stream, Fidelity::chunk}) {
                if (fidelity == Fidelity::chunk && size > 1 << 20) continue;
                PredictOptions options{.fidelity = fidelity, .pins = {}, .fold = false};
                options.pins.algorithm = row.name;
                options.pins.pat = true;
                const Workload job = in_turn({{"call", row.does, Bytes{size}}});
                INFO(row.name << " " << name(row.does) << " of " << size);
                try {
                    const CallPrediction call = predict(net, group, job, nccl(), options).calls.front();
                    CHECK(call.time() >= call.closed_form);
                    CHECK((size == 0) == (call.time().fs == 0));
                    CHECK(std::isfinite(call.busbw_gbps()));
                } catch (const Infeasible&) {
                    SUCCEED("NCCL does not take it on this group");
                }
            }
    });
}

// Channels of machines that differ have delays of their own: where a limit of one moves, its delay may shrink while it
// flows for longer, so that it meets the others at another time. The hops of trees share a link by windows that move
// too. Rings and exchanges among alike machines leave nothing but roundings.
double slack_of(const Case& made, const Schedule& schedule) {
    for (const Channel& channel : schedule.channels)
        if (!std::holds_alternative<RingSteps>(channel.steps)) return 0.01;
    for (const DomainBlock& block : made.cluster.blocks)
        if (block.type.name != made.cluster.blocks[0].type.name) return 0.01;
    return 1e-9;
}

TEST_CASE("with all pinned, more bytes, less capacity or more latency never make a stream faster, whatever the row") {
    Dice dice(GENERATE(take(4, random(std::uint64_t{1}, std::uint64_t{1} << 40))));
    const Case made = random_case(dice);
    const Topology net = build_topology(made.cluster);
    const Group group = group_of(made.places);
    std::vector<Topology> worse;
    for (const int what : {0, 1, 2, 3, 4}) {
        Cluster cluster = made.cluster;
        for (DomainBlock& block : cluster.blocks) {
            InstanceType& type = block.type.instance;
            if (what == 0) type.nic->carries.value *= 0.9;
            if (what == 1) type.nvlink->efficiency *= 0.7;
            if (what == 2) type.pcie_gpu.value *= 0.5;
            for (const Protocol protocol : kProtocols) {
                if (what == 3) type.nic->hop_latency[protocol] = type.nic->hop_latency[protocol] + 3_us;
                if (what == 4) type.nvlink->hop_latency[protocol] = type.nvlink->hop_latency[protocol] + 1_us;
            }
        }
        worse.push_back(build_topology(cluster));
    }
    each_row(net, group, [&](const Algorithm& row) {
        SimTime before{};
        for (std::int64_t size = made.request.size.count; size < made.request.size.count * 16; size = size * 5 / 2 + 1) {
            PlanRequest request = made.request;
            request.size = {size};
            const Schedule schedule = planned(row, net, group, request);
            const SimTime now = time_of(net, group, schedule, Fidelity::stream);
            const auto slack = static_cast<std::int64_t>(slack_of(made, schedule) * static_cast<double>(now.fs));
            INFO(row.name << " " << name(row.does) << " of " << size << ", chunk " << request.chunk.count << " "
                          << name(schedule.protocol) << " on " << group.places.size() << " in "
                          << group.parts.size() << ", " << request.channels << " channels");
            CHECK(now.fs >= before.fs - slack);
            before = now;
            for (std::size_t w = 0; w < worse.size(); ++w) {
                INFO("worse " << w);
                CHECK(time_of(worse[w], group, schedule, Fidelity::stream).fs >= now.fs - slack);
            }
        }
    });
}

}  // namespace fmsim
