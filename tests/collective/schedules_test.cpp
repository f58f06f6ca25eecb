// Every row of the catalogue, on groups of every shape: what the ranks end with.
#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

#include "fmsim/collective.hpp"
#include "replay.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

bool is_exchange(const Algorithm& row) { return row.name == "SendRecv"; }

void check_row(const Algorithm& row, const Topology& net, const Group& group, std::mt19937& random) {
    const Nccl nccl = toy::nccl();
    if (!row.refuses(net, group, nccl.shape).empty() || is_exchange(row)) return;
    const auto ranks = static_cast<std::uint32_t>(group.places.size());
    const auto root = static_cast<std::uint32_t>(random() % ranks);
    const Schedule schedule = row.plan(net, group,
                                       {.size = {std::int64_t{ranks} * 4096},
                                        .protocol = Protocol::simple,
                                        .channels = 4,
                                        .root = root,
                                        .shape = &nccl.shape,
                                        .simple_buffer = {1 << 20}});
    REQUIRE(schedule.channels.size() == 4);
    for (const Channel& channel : schedule.channels) {
        INFO(row.name << " " << name(row.does) << " on " << net.domains() << " x " << net.gpus() / net.domains());
        CHECK(holds(row.does, replay(row.does, group, channel, root, random), root));
    }
}

}  // namespace

TEST_CASE("after each schedule every rank holds what the operation promises, each contribution once") {
    std::mt19937 random(7);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> shapes{{3, 8}, {5, 4}, {9, 8}, {2, 72}};
    for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
        shapes.emplace_back(1, ranks);
        shapes.emplace_back(ranks, 1);
    }
    for (const auto& [domains, gpus] : shapes) {
        const Topology net = build_topology(toy::cluster({.instances = domains, .gpus = gpus, .paths = 2}));
        for (const Algorithm& row : algorithms()) check_row(row, net, toy::everyone(net), random);
    }
}

TEST_CASE("so it is on any ordered part of the ranks") {
    std::mt19937 random(11);
    const Topology net = build_topology(toy::cluster({.instances = 5, .gpus = 6}));
    for (int times = 0; times < 40; ++times) {
        Placement places = linear_placement(net, 0, 0);
        std::shuffle(places.begin(), places.end(), random);
        places.resize(2 + random() % 20);
        const Group group = group_of(places);
        for (const Algorithm& row : algorithms()) check_row(row, net, group, random);
    }
}

TEST_CASE("the loops of every row carry the bytes of the operation, whatever the size") {
    const Nccl nccl = toy::nccl();
    const Topology net = build_topology(toy::cluster({.instances = GENERATE(1u, 3u), .gpus = GENERATE(1u, 4u)}));
    const Group group = toy::everyone(net);
    const auto ranks = static_cast<double>(group.places.size());
    if (ranks < 2) return;
    for (const std::int64_t size : {1, 7, 4096, 999'983, 1 << 22})
        for (const Algorithm& row : algorithms()) {
            if (!row.refuses(net, group, nccl.shape).empty() || is_exchange(row)) continue;
            const Schedule schedule = row.plan(net, group,
                                               {.size = {size},
                                                .protocol = Protocol::simple,
                                                .channels = 3,
                                                .shape = &nccl.shape,
                                                .simple_buffer = {1 << 20}});
            double bytes = 0;  // of a rank, by blocks
            for (const Channel& channel : schedule.channels) {
                double blocks = ranks;  // of a loop
                if (const auto* pattern = std::get_if<std::shared_ptr<const Pattern>>(&channel.steps)) {
                    blocks = 0;
                    for (std::size_t t = 0; t < (*pattern)->transfers.size(); ++t)
                        for (const std::uint32_t block : (*pattern)->carries.of(t))
                            blocks = std::max(blocks, block + 1.0);
                }
                for (const Loop& loop : channel.loops) bytes += blocks * loop.chunk;
            }
            INFO(row.name << " " << name(row.does) << " of " << size);
            CHECK(bytes == Approx(static_cast<double>(size)).epsilon(1e-12));
        }
}

}  // namespace fmsim
