// What an operation takes alone, folded and with loops left out, against all of its chunks.
#include "alone.hpp"

#include <string_view>

#include <catch2/catch.hpp>

#include "alike.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/lowering.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

struct Case {
    const char* machine;
    const char* algorithm;
    Collective collective;
    Protocol protocol;
    std::int64_t mib;
};

class Alone {
public:
    explicit Alone(const Case& one)
        : net(build_topology(Catalogue::shipped().cluster(one.machine))), group(toy::everyone(net)) {
        static const Nccl nccl = Catalogue::shipped().nccl();
        schedule = toy::plan(one.algorithm, one.collective, net, group,
                             {.size = {one.mib << 20},
                              .protocol = one.protocol,
                              .channels = 8,
                              .chunk = {131'072},
                              .shape = &nccl.shape,
                              .simple_buffer = {8 << 20}});
    }
    SimTime folded() const {
        SimTime last{};
        for (const SoloRun& run : runs_alone(net, schedule, place(net, group, schedule), false))
            last = std::max(last, run.makespan);
        return last;
    }
    SimTime in_chunks() const {
        const Step step{.after = {}, .not_before = {}, .takes = {}, .schedule = &schedule, .group = &group};
        return run(lower(net, std::span(&step, 1), Fidelity::chunk).system).end - schedule.launch;
    }

    Topology net;
    Group group;
    Schedule schedule;
};

double apart(SimTime a, SimTime b) { return std::abs(seconds(a - b)) / seconds(b); }

}  // namespace

TEST_CASE("one hop for all that behave alike ends when all of them do") {
    using enum Collective;
    const Case one = GENERATE(values<Case>({{"p5en.48xlarge:1", "NVLS", all_reduce, Protocol::simple, 8},
                                            {"p5en.48xlarge:3", "NVLSTree", all_reduce, Protocol::simple, 8},
                                            {"p5en.48xlarge:4", "NVLSTree", all_reduce, Protocol::simple, 8},
                                            {"p5en.48xlarge:5", "Tree", all_reduce, Protocol::ll128, 4},
                                            {"p6-b300.48xlarge:3", "Tree", all_reduce, Protocol::simple, 8},
                                            {"p5en.48xlarge:2", "Ring", broadcast, Protocol::ll128, 1},
                                            {"p6-b300.48xlarge:2", "Ring", reduce, Protocol::simple, 8}}));
    INFO(one.algorithm << " on " << one.machine);
    const Alone alone(one);
    CHECK(apart(alone.folded(), alone.in_chunks()) < 1e-6);
    // And there is something to fold.
    std::size_t all = 0, folded = 0;
    for (const Channel& channel : alone.schedule.channels) all += channel.hops.size();
    for (const AlikeChannels& kind :
         fold_alike(alone.net, alone.schedule, place(alone.net, alone.group, alone.schedule)).kinds)
        folded += kind.hops.size();
    if (one.algorithm != std::string_view("Ring")) CHECK(folded < all);  // each hop of a chain has a depth of its own
}

TEST_CASE("loops that are left out take what the others show") {
    using enum Collective;
    const Case one = GENERATE(values<Case>({{"p5en.48xlarge:4", "NVLSTree", all_reduce, Protocol::simple, 512},
                                            {"p5en.48xlarge:3", "Tree", all_reduce, Protocol::simple, 256}}));
    INFO(one.algorithm << " on " << one.machine);
    const Alone alone(one);
    CHECK(apart(alone.folded(), alone.in_chunks()) < 1e-2);
}

TEST_CASE("ranks that turn end as all of them drawn one by one do, whatever their number") {
    // The slow twin is a pattern without a period: every transfer of every rank is walked.
    static const Nccl nccl = Catalogue::shipped().nccl();
    const Collective collective = GENERATE(Collective::all_gather, Collective::reduce_scatter);
    const std::uint32_t ranks = GENERATE(2u, 3u, 5u, 8u, 11u, 13u, 24u);
    const std::int64_t block = GENERATE(3'000, 700'000);  // some messages of several blocks; one a block, several loops
    const bool slow_nic = GENERATE(false, true);
    Topology net = build_topology(Catalogue::shipped().cluster("p5en.48xlarge:" + std::to_string(ranks)));
    if (slow_nic)
        for (std::uint32_t l = 0; l < net.links.size(); ++l)
            if (net.name(LinkId{l}).find("[1]/nic0 ->") != std::string::npos) net.links.scale(LinkId{l}, 0.05);
    const Group group = group_of(linear_placement(net, 0, 1));
    const Schedule schedule = toy::plan("PAT", collective, net, group,
                                        {.size = {block * ranks},
                                         .protocol = Protocol::simple,
                                         .channels = 2,
                                         .chunk = {131'072},
                                         .shape = &nccl.shape,
                                         .simple_buffer = {8 << 20}});
    Schedule drawn = schedule;
    for (Channel& channel : drawn.channels)
        channel.steps = std::make_shared<const Pattern>(
            turned(*std::get<std::shared_ptr<const TurningSteps>>(channel.steps), ranks));
    const auto placed = place(net, group, schedule);
    const auto once = runs_alone(net, schedule, placed, true),
               all = runs_alone(net, drawn, place(net, group, drawn), true);
    REQUIRE(once.size() == all.size());
    for (std::size_t c = 0; c < once.size(); ++c) {
        INFO(ranks << " ranks, channel " << c);
        CHECK(once[c].makespan == all[c].makespan);
        CHECK(once[c].last_latency == all[c].last_latency);
        CHECK(once[c].busiest == all[c].busiest);
        CHECK(once[c].own_busiest == all[c].own_busiest);
        CHECK(once[c].among_two == all[c].among_two);
        CHECK(once[c].among_eight == all[c].among_eight);
    }
    const std::size_t dimensions = std::get<std::shared_ptr<const TurningSteps>>(schedule.channels[0].steps)->hops;
    CHECK(period_of(schedule.channels[0], placed[0]) == dimensions * (slow_nic ? ranks : 1));
}

TEST_CASE("a slow NIC is folded with nobody") {
    Cluster cluster = Catalogue::shipped().cluster("p5en.48xlarge:4");
    Case one{"p5en.48xlarge:4", "NVLSTree", Collective::all_reduce, Protocol::simple, 8};
    const Alone whole(one);
    Alone slow(one);
    for (std::uint32_t l = 0; l < slow.net.links.size(); ++l)
        if (slow.net.name(LinkId{l}).find("[2]/nic3 ->") != std::string::npos) slow.net.links.scale(LinkId{l}, 0.5);
    CHECK(slow.folded() > whole.folded());
    CHECK(apart(slow.folded(), slow.in_chunks()) < 1e-6);
}

}  // namespace fmsim
