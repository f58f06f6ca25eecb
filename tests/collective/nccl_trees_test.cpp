// Trees, NVLS trees and PAT's messages against what NCCL's own functions produced.
#include <algorithm>
#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fmsim/collective.hpp"
#include "fmsim/formats.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

nlohmann::json examples() {
    return nlohmann::json::parse(std::ifstream(FMSIM_SOURCE_DIR "/tests/data/nccl-trees.json"));
}

struct Machine {
    Topology net;
    Group group;
};
Machine machine(const nlohmann::json& example) {
    Cluster cluster = Catalogue::shipped().cluster(example.at("machine").get<std::string>());
    cluster.blocks[0].count = example.at("domains");
    Machine made{build_topology(cluster), {}};
    made.group = group_of(linear_placement(made.net, 0, example.at("per_domain")));
    return made;
}

// Of a rank: its parent and its children, the children in no order.
struct Links {
    std::int64_t up = -1;
    std::vector<std::int64_t> down;
    bool operator==(const Links&) const = default;
};
template <class Wanted>
std::vector<Links> links_of(const Channel& channel, std::size_t ranks, Wanted wanted) {
    std::vector<Links> links(ranks);
    const Pattern& pattern = *std::get<std::shared_ptr<const Pattern>>(channel.steps);
    for (const Transfer& transfer : pattern.transfers) {
        const Hop& hop = channel.hops[transfer.hop];
        if (!transfer.adds || !wanted(hop)) continue;
        links[hop.from].up = hop.to;
        links[hop.to].down.push_back(hop.from);
    }
    for (Links& one : links) std::sort(one.down.begin(), one.down.end());
    return links;
}

Schedule plan(std::string_view algorithm, const Machine& on, const Nccl& nccl) {
    return toy::plan(algorithm, Collective::all_reduce, on.net, on.group,
                     {.size = {1 << 30},
                      .protocol = Protocol::simple,
                      .channels = communicator_of(on.net, on.group, nccl).channels,
                      .shape = &nccl.shape,
                      .simple_buffer = {8 << 20}});
}

std::vector<std::int64_t> children(const nlohmann::json& list) {
    std::vector<std::int64_t> all;
    for (const auto& child : list)
        if (child.get<std::int64_t>() >= 0) all.push_back(child);
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE("ranks have NCCL's parents and children in every tree") {
    const Nccl nccl = Catalogue::shipped().nccl();
    const nlohmann::json all = examples();
    for (const auto& example : all.at("trees")) {
        const Machine on = machine(example);
        const Schedule schedule = plan("Tree", on, nccl);
        const auto& channels = example.at("channels");
        for (std::size_t c = 0; c < channels.size(); ++c) {
            const std::size_t channel = channels[c];
            REQUIRE(channel < schedule.channels.size());
            const auto links =
                links_of(schedule.channels[channel], on.group.places.size(), [](const Hop&) { return true; });
            for (const auto& [rank, of_channels] : example.at("up_and_down").items()) {
                const auto& expected = of_channels.at(c);
                INFO(on.net.cluster.name << " x " << on.net.domains() << ", channel " << channel << ", rank " << rank);
                CHECK(links[std::stoul(rank)].up == expected.at(0).get<std::int64_t>());
                CHECK(links[std::stoul(rank)].down == children({expected.at(1), expected.at(2), expected.at(3)}));
            }
        }
    }
}

TEST_CASE("heads of domains have NCCL's parents and children in both NVLS trees") {
    const Nccl nccl = Catalogue::shipped().nccl();
    const nlohmann::json all = examples();
    for (const auto& example : all.at("nvls_trees")) {
        const Machine on = machine(example);
        const Schedule schedule = plan("NVLSTree", on, nccl);
        for (std::size_t tree = 0; tree < 2; ++tree) {
            const auto links = links_of(schedule.channels[tree], on.group.places.size(),
                                        [](const Hop& hop) { return hop.leaves_domain(); });
            for (const auto& [rank, of_trees] : example.at("by_rank_and_tree").items()) {
                INFO(on.net.cluster.name << " x " << on.net.domains() << ", tree " << tree << ", rank " << rank);
                CHECK(links[std::stoul(rank)].up == of_trees.at(tree).at("tree_up").get<std::int64_t>());
                CHECK(links[std::stoul(rank)].down == children(of_trees.at(tree).at("tree_down")));
            }
        }
    }
}

TEST_CASE("PAT sends as many messages in each dimension as NCCL's does") {
    const Nccl nccl = toy::nccl();
    const nlohmann::json all = examples();
    for (const auto& row : all.at("pat")) {
        const std::uint32_t ranks = row.at("ranks");
        const Topology net = build_topology(toy::cluster({.instances = ranks, .gpus = 1}));
        const Collective collective =
            row.at("collective") == "AllGather" ? Collective::all_gather : Collective::reduce_scatter;
        const Schedule schedule = toy::plan("PAT", collective, net, toy::everyone(net),
                                            {.size = {row.at("bytes_per_rank").get<std::int64_t>() * ranks},
                                             .protocol = Protocol::simple,
                                             .channels = 1,
                                             .chunk = {row.at("chunk").get<std::int64_t>()},
                                             .shape = &nccl.shape,
                                             .simple_buffer = {8 << 20}});
        const Channel& channel = schedule.channels.at(0);
        std::vector<std::size_t> posts(row.at("posts_by_dimension").size());
        for (const Transfer& transfer : std::get<std::shared_ptr<const TurningSteps>>(channel.steps)->transfers)
            posts.at(transfer.hop) += channel.loops.size();
        INFO(row.dump());
        CHECK(posts == row.at("posts_by_dimension").get<std::vector<std::size_t>>());
    }
}

}  // namespace fmsim
