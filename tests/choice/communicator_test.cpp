// From a cluster and a group to the communicator that NCCL makes of it, against what NCCL's own search found; and the
// rules for machines whose search nobody has published, against the published ones.
#include <catch2/catch.hpp>
#include <set>

#include "choice/worked.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

struct Built {
    Topology net;
    Group group;
};

// The first `per_domain` GPUs of each domain.
Built built(Cluster cluster, std::uint32_t domains, std::uint32_t per_domain) {
    cluster.blocks[0].count = domains;
    Built all{.net = build_topology(cluster), .group = {}};
    all.group = group_of(linear_placement(all.net, 0, per_domain));
    return all;
}

std::string machine_of(const json& system) {
    const std::string platform = system.at("platform");
    return platform == "nvl72" ? "u-p6e-gb200x72" : platform + ".48xlarge";
}

Cluster without_published_graphs(Cluster cluster) {
    for (DomainBlock& block : cluster.blocks) block.type.alone_graphs = block.type.several_graphs = {};
    return cluster;
}

std::string shown(const GraphSearch& graph) {
    return std::to_string(graph.channels) + " x " + std::to_string(graph.intra.value) + "/" +
           std::to_string(graph.inter.value) + " " + std::string(name(graph.intra_type)) + "/" +
           std::string(name(graph.inter_type)) + " " + std::string(name(graph.pattern)) +
           (graph.same_channels ? " same " : " ") + std::to_string(graph.net_latency.fs);
}

void check_alike(const Communicator& found, const Communicator& expected) {
    CHECK(found.domains == expected.domains);
    CHECK(found.ranks == expected.ranks);
    CHECK(found.compute_capability == expected.compute_capability);
    CHECK(found.cpu == expected.cpu);
    CHECK(shown(found.ring) == shown(expected.ring));
    CHECK(shown(found.tree) == shown(expected.tree));
    REQUIRE(found.nvls.has_value() == expected.nvls.has_value());
    if (found.nvls) CHECK(shown(*found.nvls) == shown(*expected.nvls));
    CHECK(found.channels == expected.channels);
    CHECK(found.nvls_channels == expected.nvls_channels);
    CHECK(found.nvls_heads == expected.nvls_heads);
    CHECK(found.p2p_channels == expected.p2p_channels);
    CHECK(found.p2p_channels_per_peer == expected.p2p_channels_per_peer);
    for (const Protocol protocol : kProtocols) CHECK(found.fifo[protocol] == expected.fifo[protocol]);
    CHECK(found.nvls_chunk == expected.nvls_chunk);
    CHECK(found.nvls_tree_chunk == expected.nvls_tree_chunk);
    CHECK(found.p2p_chunk == expected.p2p_chunk);
    CHECK(found.aws_tuner == expected.aws_tuner);
}

}  // namespace

TEST_CASE("the catalogue's machines make the communicators that NCCL made") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    for (const json& system : worked::examples().at("systems")) {
        INFO(system.at("id"));
        const Built all = built(catalogue.cluster(machine_of(system)), system.at("nodes"), system.at("ranks_per_node"));
        check_alike(communicator_of(all.net, all.group, nccl), worked::communicator_of(system));
    }
}

TEST_CASE("the rules find what NCCL's search found") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    for (const json& system : worked::examples().at("systems")) {
        INFO(system.at("id"));
        const Cluster cluster = without_published_graphs(catalogue.cluster(machine_of(system)));
        const Built all = built(cluster, system.at("nodes"), system.at("ranks_per_node"));
        check_alike(communicator_of(all.net, all.group, nccl), worked::communicator_of(system));
    }
}

TEST_CASE("parts of a domain: four and two GPUs of p5") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    // NCCL finds 8 search channels and 16 for collectives on 3 x 4 GPUs: 4 devices of 48 GB/s, doubled at half speed.
    const Built four = built(catalogue.cluster("p5.48xlarge"), 3, 4);
    const Communicator c = communicator_of(four.net, four.group, nccl);
    CHECK(shown(c.ring) == shown({.channels = 8,
                                  .intra = {24e9},
                                  .inter = {24e9},
                                  .intra_type = PathType::nvl,
                                  .inter_type = PathType::pxn,
                                  .pattern = GraphPattern::ring,
                                  .same_channels = false,
                                  .net_latency = 75_us}));
    CHECK(c.tree.channels == 8);
    CHECK(c.tree.pattern == GraphPattern::tree);
    CHECK(c.channels == 16);
    CHECK(c.nvls_heads == 4);
    const Built two = built(catalogue.cluster("p5.48xlarge"), 4, 2);
    const Communicator pair = communicator_of(two.net, two.group, nccl);
    CHECK(pair.ring.channels == 4);
    CHECK(pair.ring.intra == BytesPerSecond{24e9});
    CHECK(pair.channels == 8);
    CHECK(pair.ranks_a_domain() == 2);
}

TEST_CASE("what a user sets shapes the communicator") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    const Built two = built(catalogue.cluster("p5.48xlarge"), 2, 8);
    const auto with = [&](auto set) {
        Pins pins;
        set(pins);
        return communicator_of(two.net, two.group, nccl, pins);
    };
    CHECK(with([](Pins& p) { p.most_channels = 6; }).channels == 6);
    CHECK(with([](Pins& p) { p.most_channels = 6; }).p2p_channels == 8);
    CHECK(with([](Pins& p) { p.least_channels = 32; }).channels == 32);
    CHECK(with([](Pins& p) { p.least_channels = 1000; }).channels == 64);
    CHECK_FALSE(with([](Pins& p) { p.nvls = false; }).nvls);
    CHECK(with([](Pins& p) { p.nvls = false; }).nvls_channels == 0);
    CHECK(with([](Pins& p) { p.simple_buffer = Bytes{1 << 20}; }).fifo[Protocol::simple] == Bytes{1 << 20});
    // Never above a step of the buffer: 1 MiB / 8.
    CHECK(with([](Pins& p) { p.simple_buffer = Bytes{1 << 20}; }).p2p_chunk == Bytes{1 << 17});
    CHECK(with([](Pins& p) { p.p2p_net_chunk = Bytes{1 << 18}; }).p2p_chunk == Bytes{1 << 18});
    // 16 ranks are two batches of peers: 2 x 8 = 16 channels.
    CHECK(with([](Pins& p) { p.channels_per_net_peer = 32; }).p2p_channels_per_peer == 8);
    CHECK(with([](Pins& p) { p.channels_per_net_peer = 1; }).p2p_channels_per_peer == 1);
}

TEST_CASE("a peer over the network: by what a NIC carries, before NCCL 2.29 by the ranks") {
    // 48 GB/s over 14 a channel: 4, while 4 a peer times ranks / 8 fit 16 channels. Before: 2, while 2 times the ranks
    // fit 4 x 16. A public report of B200 (2.28.9) has 34.2, 17.2 and 17.2 GB/s a send on 2, 8 and 32 hosts.
    const auto [hosts, now, before] =
        GENERATE(table<std::uint32_t, std::uint32_t, std::uint32_t>({{2, 4, 2}, {4, 4, 2}, {8, 2, 1}, {32, 1, 1}}));
    const Catalogue catalogue = Catalogue::shipped();
    const Built all = built(catalogue.cluster("hgx-b200-8x400"), hosts, 8);
    INFO(hosts);
    CHECK(communicator_of(all.net, all.group, catalogue.nccl()).p2p_channels_per_peer == now);
    Pins old;
    old.transfers_before_2_29 = true;
    CHECK(communicator_of(all.net, all.group, catalogue.nccl(), old).p2p_channels_per_peer == before);
}

TEST_CASE("domains of two kinds: the poorest counts") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    Cluster mixed = catalogue.cluster("p5.48xlarge:2");
    mixed.blocks.push_back({catalogue.domain("p5en.48xlarge"), 2});
    mixed.blocks.push_back({catalogue.domain("p4d.24xlarge"), 1});
    const Topology net = build_topology(mixed);
    const Communicator c = communicator_of(net, group_of(linear_placement(net, 0, 0)), nccl);
    CHECK(c.domains == 5);
    CHECK(c.mixed_cpus);
    CHECK(c.compute_capability == 80);
    CHECK(c.ring.channels == 4);
    CHECK(c.ring.inter == BytesPerSecond{12e9});
    CHECK(c.ring.net_latency == 75_us);
    CHECK_FALSE(c.nvls);
    CHECK(c.tree.pattern == GraphPattern::tree);
}

TEST_CASE("every machine of the catalogue makes a communicator and gets a pick") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    std::vector<std::string> names = catalogue.names();
    names.insert(names.end(),
                 {"hgx-h100-8x400", "hgx-h100-4x400", "hgx-a100-8x200", "hgx-b300-8x800", "hgx-h800-8x400"});
    for (const std::string& machine : names)
        for (const std::uint32_t domains : {1u, 2u, 5u}) {
            const Cluster cluster = catalogue.cluster(machine);
            const DomainType& type = cluster.blocks[0].type;
            if (domains * type.gpus() < 2 || (domains > 1 && type.groups() == 0)) continue;
            const Built all = built(cluster, domains, 0);
            const Communicator c = communicator_of(all.net, all.group, nccl);
            INFO(machine << " x " << domains << ": " << shown(c.ring));
            CHECK(c.ring.channels >= 1);
            CHECK(c.tree.channels == c.ring.channels);
            CHECK(c.channels >= 2 * c.ring.channels);
            for (const Collective collective : kCollectives) {
                if (!has_algorithms(collective)) continue;
                const Pick taken = pick(c, collective, Bytes{1 << 20}, nccl);
                CHECK(taken.channels >= 1);
                CHECK(taken.believed_us > 0);
            }
        }
}

}  // namespace fmsim
