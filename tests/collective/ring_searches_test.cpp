// The rings of each machine against what NCCL's own search found (tests/data/nccl-ring-searches.json), whole and with
// one GPU an instance.
#include <fstream>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fmsim/collective.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

const std::map<std::string, std::string> kMachines{{"p4d", "p4d.24xlarge"},         {"p5", "p5.48xlarge"},
                                                   {"p5en", "p5en.48xlarge"},       {"p6-b200", "p6-b200.48xlarge"},
                                                   {"p6-b300", "p6-b300.48xlarge"}, {"nvl72", "gb200-nvl72"}};

void check_search(const RingSearch& search, const nlohmann::json& row) {
    CHECK(search.paths.size() == row.at("nChannels").get<std::size_t>());
    CHECK(search.intra.value == Approx(row.at("bwIntra").get<double>() * 1e9));
    CHECK(search.inter.value == Approx(row.at("bwInter").get<double>() * 1e9));
    CHECK(search.crosses_nics == (row.at("crossNic") == 2));
}

}  // namespace

TEST_CASE("every ring search that NCCL published is ours, and so are its channels") {
    const Catalogue catalogue = Catalogue::shipped();
    const auto rows = nlohmann::json::parse(std::ifstream(FMSIM_SOURCE_DIR "/tests/data/nccl-ring-searches.json"));
    CHECK(rows.at("systems").size() >= 40);
    const Nccl nccl = catalogue.nccl();
    for (const auto& row : rows.at("systems")) {
        CAPTURE(row.dump());
        Cluster cluster = catalogue.cluster(kMachines.at(row.at("platform").get<std::string>()));
        cluster.blocks[0].count = row.at("nodes");
        const Topology net = build_topology(cluster);
        const Group group = group_of(linear_placement(net, 0, row.at("ranks_per_node")));
        check_search(rings_of(net, group).of_part[0], row);
        CHECK(communicator_of(net, group, nccl).channels == row.at("coll_channels"));
    }
}

TEST_CASE("and the search of our own finds the same rates where it has to do without") {
    // Groups pair up by other rules than NCCL's where GPUs share a switch, so the paths themselves are not compared.
    const Catalogue catalogue = Catalogue::shipped();
    const auto rows = nlohmann::json::parse(std::ifstream(FMSIM_SOURCE_DIR "/tests/data/nccl-ring-searches.json"));
    for (const auto& row : rows.at("systems")) {
        if (row.at("ranks_per_node") == 1) continue;
        CAPTURE(row.dump());
        const DomainType type = catalogue.domain(kMachines.at(row.at("platform").get<std::string>()));
        check_search(default_search(type.instance, type.instances, row.at("nodes") == 1), row);
    }
}

TEST_CASE("machines without a published search have what their links carry as NCCL counts") {
    const auto [words, alone, several] = GENERATE(table<std::string, std::string, std::string>({
        {"u-p6e-gb200x36", "16 x 45", "16 x 45.1"},
        {"hgx-a100-8x200", "12 x 20", "8 x 24"},  // NICs of 25
        {"hgx-a100-8x400", "12 x 20", "8 x 24"},  // PCIe of 24; by NVLink 8 x 30
        {"hgx-h100-8x400", "12 x 30", "8 x 48"},  // as p5
        {"hgx-h800-8x400", "8 x 20", "8 x 22"},   // 164.8 of NVLink: each GPU sends 7 x 22 = 154
        {"hgx-b200-8x400", "16 x 45", "8 x 48"},
        {"hgx-b300-8x800", "16 x 45", "16 x 48"},  // 8 x 96, doubled
        {"p5.4xlarge", "2 x 30", "1 x 12"},        // one GPU, no NVLink, one NIC of 12.5
        {"hgx-h100-4x400", "12 x 30", "8 x 24"},   // 4 x 48, doubled
    }));
    CAPTURE(words);
    const DomainType type = Catalogue::shipped().domain(words);
    const auto said = [](const RingSearch& search) {
        std::ostringstream text;
        text << search.paths.size() << " x " << search.inter.value * 1e-9;
        return text.str();
    };
    CHECK(said(type.alone) == alone);
    CHECK(said(type.several) == several);
}

TEST_CASE("a lone GPU has its NIC's speed on two paths") {
    const auto [words, expected] =
        GENERATE(table<std::string, double>({{"hgx-h100-8x400", 24e9}, {"hgx-b300-8x800", 48e9}}));
    InstanceType type = Catalogue::shipped().instance(words);
    type.gpus = 1;
    type.nvlink.reset();
    type.nics = 1;
    type.switches = {{0, {0}, {0}}};
    const RingSearch search = default_search(type, 1, false);
    CHECK(search.paths.size() == 2);
    CHECK(search.inter.value == Approx(expected));
}

}  // namespace fmsim
