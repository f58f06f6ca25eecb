// Which of alike things is which does not matter: over random clusters of mixed machines, layers and faults, random
// placements and sizes, other numbers for alike domains, leaves and NICs, and other names, give the same time.
//
//   leaf 0: A A   leaf 1: A B    and    leaf 0: A B   leaf 1: A A     with faults and ranks moved along
#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/graph.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

const Nccl& catalogue_nccl() {
    static const Nccl nccl = Catalogue::shipped().nccl();
    return nccl;
}

class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_(seed * 2 + 1) {}
    std::uint32_t below(std::uint32_t bound) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>((state_ >> 33) % bound);
    }
    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i > 1; --i)
            std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
    }

private:
    std::uint64_t state_;
};

// A domain of a case: which kind, and the NICs of it that are slow.
struct Member {
    std::uint32_t number{};  // as the case was first made
    std::uint32_t kind{};
    std::vector<std::pair<std::uint32_t, double>> slow;
};

struct Case {
    std::vector<DomainType> kinds;
    std::vector<std::vector<Member>> leaves;  // of each leaf, its domains
    NetworkLayer layer;
    std::uint64_t seed{};
    RailPolicy policy{};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ranks;  // the number of a domain, a GPU
    Collective collective{};
    Bytes size;
    Fidelity fidelity{};
};

Case random_case(Dice& dice) {
    static const Catalogue catalogue = Catalogue::shipped();
    static const std::vector<std::string> kKinds{"p5.48xlarge", "p5en.48xlarge", "hgx-h100-4x400",
                                                 "hgx-h200-8x400-roce"};
    Case made;
    for (std::uint32_t k = 0; k < 2; ++k) made.kinds.push_back(catalogue.domain(kKinds[dice.below(4)]));
    std::vector<std::uint32_t> domains;
    made.leaves.resize(1 + dice.below(3));
    for (auto& leaf : made.leaves)
        for (std::uint32_t d = 0, count = 1 + dice.below(3); d < count; ++d) {
            Member member{.number = static_cast<std::uint32_t>(domains.size()), .kind = dice.below(2), .slow = {}};
            const std::uint32_t nics = made.kinds[member.kind].instance.nics;
            if (dice.below(4) == 0) member.slow.push_back({dice.below(nics), 0.25 * (1 + dice.below(3))});
            domains.push_back(member.kind);
            leaf.push_back(std::move(member));
        }
    made.layer = {.name = "leaf",
                  .oversubscription = 1.0 + dice.below(3),
                  .uplinks = 1 + dice.below(4),
                  .rail_optimized = dice.below(2) == 0};
    made.seed = dice.below(1000);
    made.policy = dice.below(2) == 0 ? RailPolicy::keep : RailPolicy::even;
    std::vector<std::uint32_t> order(domains.size());
    std::iota(order.begin(), order.end(), 0u);
    dice.shuffle(order);
    const std::uint32_t each = dice.below(2) == 0 ? 8 : 1 + dice.below(8);
    for (const std::uint32_t domain : order)
        for (std::uint32_t g = 0; g < each; ++g) made.ranks.push_back({domain, g});
    if (made.ranks.size() < 2) made.ranks.push_back({0, each});
    made.collective = kCollectives[dice.below(static_cast<std::uint32_t>(kCollectives.size()))];
    made.size = {std::int64_t{1} << (10 + dice.below(20))};
    made.fidelity = dice.below(8) == 0 && made.ranks.size() <= 16 ? Fidelity::chunk : Fidelity::stream;
    return made;
}

// Leaves in another order, domains of a leaf in another, and slow NICs elsewhere in their groups.
Case relabelled(Case other, Dice& dice) {
    dice.shuffle(other.leaves);
    for (auto& leaf : other.leaves) {
        dice.shuffle(leaf);
        for (Member& member : leaf)
            for (auto& [nic, rate] : member.slow) {
                const std::uint32_t rails = other.kinds[member.kind].instance.rails;
                nic = nic / rails * rails + dice.below(rails);
            }
    }
    return other;
}

SimTime time_of(const Case& of, const std::string& name) {
    Cluster cluster{.name = name, .blocks = {}, .network = {}, .faults = {}};
    cluster.network = {.layers = {of.layer}, .seed = of.seed};
    cluster.rail_policy = of.policy;
    std::vector<DomainId> where;
    std::uint32_t count = 0;
    for (const auto& leaf : of.leaves) {
        cluster.network.layers[0].sizes.push_back(static_cast<std::uint32_t>(leaf.size()));
        for (const Member& member : leaf) {
            cluster.blocks.push_back({of.kinds[member.kind], 1});
            cluster.instance_names.push_back(name + of.kinds[member.kind].name);
            for (const auto& [nic, rate] : member.slow)
                cluster.faults.push_back({.kind = DeviceKind::nic, .instance = count, .index = nic, .fraction = rate});
            where.resize(std::max<std::size_t>(where.size(), member.number + 1));
            where[member.number] = {count++};
        }
    }
    Placement placement;
    for (const auto& [domain, gpu] : of.ranks) placement.push_back({where[domain], gpu});
    const Topology net = build_topology(cluster);
    const Workload job = in_turn({{"call", of.collective, of.size}});
    return predict(net, group_of(placement), job, catalogue_nccl(), {.fidelity = of.fidelity, .pins = {}}).end;
}

// Machines of two GPUs with a NIC each, every NIC on any of three leaves, any number of cables from a leaf to a spine.
struct Wiring {
    std::vector<std::uint32_t> order{0, 1, 2, 3, 4};  // in which the machines stand in the graph
    std::vector<std::uint32_t> leaf;                  // of a machine's NICs, two each
    std::vector<std::uint32_t> cables;                // of a leaf, to each of two spines
};

SimTime time_of(const Wiring& wiring, bool switches_first) {
    toy::GraphSketch sketch;
    const auto add_switches = [&] {
        for (const char* name : {"leaf0", "leaf1", "leaf2", "spine0", "spine1"}) sketch.network_switch(name);
    };
    sketch.machine("any");
    if (switches_first) add_switches();
    std::vector<DomainId> domain(wiring.order.size());
    for (std::uint32_t at = 0; at < wiring.order.size(); ++at) {
        const std::uint32_t m = wiring.order[at];
        domain[m] = {at};
        sketch.machine(fmt::format("m{}", m));
        for (int g = 0; g < 2; ++g) sketch.gpu(fmt::format("m{}g{}", m, g)).nic(fmt::format("m{}n{}", m, g));
    }
    if (!switches_first) add_switches();
    for (const std::uint32_t m : wiring.order) {
        sketch.link(fmt::format("m{}g0", m), fmt::format("m{}g1", m), LinkKind::nvlink, 100e9);
        for (std::uint32_t g = 0; g < 2; ++g) {
            const std::string nic = fmt::format("m{}n{}", m, g);
            sketch.link(fmt::format("m{}g{}", m, g), nic, LinkKind::pcie, 63e9);
            sketch.link(nic, fmt::format("leaf{}", wiring.leaf[2 * m + g]), LinkKind::network, 50e9);
        }
    }
    for (std::uint32_t l = 0; l < 3; ++l)
        for (std::uint32_t s = 0; s < 2; ++s)
            sketch.link(fmt::format("leaf{}", l), fmt::format("spine{}", s), LinkKind::network, 20e9,
                        wiring.cables[2 * l + s]);
    const Topology net = build_topology(sketch.cluster());
    Placement placement;
    for (const DomainId d : domain)
        for (std::uint32_t g = 0; g < 2; ++g) placement.push_back({d, g});
    PredictOptions options;
    options.pins.algorithm = "Ring";
    options.pins.protocol = Protocol::simple;
    const Workload job = in_turn({{"call", Collective::all_reduce, Bytes{1 << 30}}});
    return predict(net, group_of(placement), job, catalogue_nccl(), options).end;
}

}  // namespace

TEST_CASE("the order in which a graph has its machines and switches leaves the time as it is") {
    Dice dice(GENERATE(take(20, random(std::uint64_t{1}, std::uint64_t{1} << 40))));
    Wiring wiring;
    for (int nic = 0; nic < 10; ++nic) wiring.leaf.push_back(dice.below(3));
    for (int pair = 0; pair < 6; ++pair) wiring.cables.push_back(1 + dice.below(3));
    const SimTime time = time_of(wiring, false);
    dice.shuffle(wiring.order);
    const SimTime again = time_of(wiring, true);
    CHECK(time.fs > 0);
    CHECK(std::abs(static_cast<double>(time.fs - again.fs)) <= 1e-9 * static_cast<double>(time.fs));
}

TEST_CASE("other numbers and names for alike things leave the time as it is") {
    Dice dice(GENERATE(take(40, random(std::uint64_t{1}, std::uint64_t{1} << 40))));
    const Case made = random_case(dice);
    const SimTime time = time_of(made, "first");
    const SimTime again = time_of(relabelled(made, dice), "second");
    CAPTURE(name(made.collective), made.ranks.size(), made.leaves.size(), made.size.count, made.layer.rail_optimized, made.layer.uplinks);
    CHECK(std::abs(static_cast<double>(time.fs - again.fs)) <=
          1e-9 * static_cast<double>(time.fs) + static_cast<double>(made.ranks.size()));
}

}  // namespace fmsim
