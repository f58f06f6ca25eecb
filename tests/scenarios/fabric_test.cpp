// Two racks fine in pairs, bad in threes (NVIDIA/nccl#1453): machines a, b on leaf 0 and c on leaf 1, 8 NICs of 50
// GB/s, 1:1 to the spine, sprayed packets or hashed flows.
#include <catch2/catch.hpp>
#include <set>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

double busbw(Spreading spreading, std::uint64_t seed, const std::vector<std::uint32_t>& machines, double over = 1) {
    const Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = catalogue.cluster("hgx-h100-8x400:4");
    cluster.network = {.layers = {{.name = "leaf", .children = 2, .oversubscription = over, .uplinks = 16}},
                       .seed = seed};
    cluster.blocks[0].type.instance.nic->spreading = spreading;
    const Topology net = build_topology(cluster);
    Placement placement;
    for (const std::uint32_t machine : machines)
        for (std::uint32_t g = 0; g < 8; ++g) placement.push_back({DomainId{machine}, g});
    const Workload job = in_turn({{"call", Collective::all_reduce, Bytes{std::int64_t{1} << 34}}});
    PredictOptions options;
    options.pins.algorithm = "Ring";
    options.pins.protocol = Protocol::simple;
    return predict(net, group_of(placement), job, catalogue.nccl(), options)
        .calls[0]
        .busbw_gbps();
}

const std::vector<std::uint32_t> kAb{0, 1}, kAc{0, 2}, kAbc{0, 1, 2};

}  // namespace

TEST_CASE("with sprayed packets pairs and threes agree") {
    const double ab = busbw(Spreading::spray, 0, kAb);
    CHECK(busbw(Spreading::spray, 0, kAc) == Approx(ab).epsilon(0.02));
    CHECK(busbw(Spreading::spray, 0, kAbc) == Approx(ab).epsilon(0.05));
}

TEST_CASE("hashed flows collide on uplinks: slower across leaves, spread over seeds, the same for one seed") {
    const double ab = busbw(Spreading::hash, 1, kAb);
    std::set<double> results;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const double ac = busbw(Spreading::hash, seed, kAc);
        CHECK(ac == busbw(Spreading::hash, seed, kAc));
        CHECK(ac <= ab * 1.001);
        results.insert(ac);
    }
    CHECK(results.size() > 1);
    CHECK(*results.begin() < 0.75 * ab);
}

TEST_CASE("an oversubscribed leaf costs only those who cross it") {
    CHECK(busbw(Spreading::spray, 0, kAb, 4) == Approx(busbw(Spreading::spray, 0, kAb, 1)).epsilon(1e-6));
    CHECK(busbw(Spreading::spray, 0, kAc, 4) < 0.6 * busbw(Spreading::spray, 0, kAc, 1));
}

}  // namespace fmsim
