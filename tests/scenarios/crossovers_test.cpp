// Protocol and algorithm change with size (aws/aws-ofi-nccl PR 900, 913, 481, 704, 1309, 1394): on 16 instances the
// borders lie within a factor of 4 of those published, and each is crossed once.
#include <catch2/catch.hpp>

#include "fmsim/choice.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

struct Step {
    std::string choice;  // "Ring LL"
    double from{};       // bytes: the middle, on a logarithmic scale, between the sizes around the change
};

// What is chosen from 32 B to 16 GiB, each time that it changes.
std::vector<Step> steps(const std::string& cluster, Collective collective, std::uint32_t ranks,
                        std::uint32_t per_domain) {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster(cluster));
    const Nccl nccl = catalogue.nccl();
    const Group group = group_of(linear_placement(net, ranks, per_domain));
    std::vector<Step> steps;
    for (std::int64_t size = 32; size <= std::int64_t{16} << 30; size *= 2) {
        const Choice choice = choose(collective, Bytes{size}, net, group, nccl, {});
        const std::string now = std::string(choice.algorithm->name) + " " + std::string(name(choice.protocol));
        if (steps.empty() || steps.back().choice != now) steps.push_back({now, static_cast<double>(size) / 1.41});
    }
    return steps;
}

void check_border(const Step& step, const std::string& choice, double published) {
    INFO(step.choice << " from " << step.from << " bytes, published " << published);
    CHECK(step.choice == choice);
    CHECK(step.from > published / 4);
    CHECK(step.from < published * 4);
}

}  // namespace

TEST_CASE("all-gather of 128 ranks: rings of LL, LL128 and Simple, in this order") {
    const auto [machine, ll128, simple] = GENERATE(table<std::string, double, double>(
        {{"p5en.48xlarge:16", 3.7e6, 2.1e9}, {"p6-b200.48xlarge:16", 12.8e6, 2.6e9}}));
    const auto got = steps(machine, Collective::all_gather, 128, 8);
    INFO(machine);
    REQUIRE(got.size() == 3);
    CHECK(got[0].choice == "Ring LL");
    check_border(got[1], "Ring LL128", ll128);
    check_border(got[2], "Ring Simple", simple);
}

TEST_CASE("all-gather of one rank an instance: PAT, then rings of LL128 and Simple") {
    const auto [machine, ll128, simple] = GENERATE(
        table<std::string, double, double>({{"p5en.48xlarge:16", 8.4e6, 50e6}, {"p6-b200.48xlarge:16", 4.2e6, 35e6}}));
    const auto got = steps(machine, Collective::all_gather, 16, 1);
    INFO(machine);
    REQUIRE(got.size() == 3);
    CHECK(got[0].choice == "PAT Simple");
    check_border(got[1], "Ring LL128", ll128);
    check_border(got[2], "Ring Simple", simple);
}

TEST_CASE("all-reduce: trees of LL first, then LL128, at last Simple; NVLS trees as ranks grow") {
    const std::string machine = GENERATE(as<std::string>{}, "p5en.48xlarge:16", "p6-b200.48xlarge:16");
    const auto got = steps(machine, Collective::all_reduce, 128, 8);
    INFO(machine);
    REQUIRE(got.size() >= 3);
    CHECK(got[0].choice == "Tree LL");
    CHECK(got[1].choice == "Tree LL128");
    CHECK(got.back().choice.ends_with("Simple"));
    for (std::size_t i = 1; i < got.size(); ++i)  // no way back to a protocol left behind
        for (std::size_t j = 0; j + 1 < i; ++j)
            if (got[j].choice.substr(got[j].choice.find(' ')) == got[i].choice.substr(got[i].choice.find(' ')))
                CHECK(got[i - 1].choice.substr(got[i - 1].choice.find(' ')) ==
                      got[i].choice.substr(got[i].choice.find(' ')));
}

}  // namespace fmsim
