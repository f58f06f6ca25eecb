// Pins, tuner rules and what is said of them: on 2 and 4 p5.48xlarge.
#include <catch2/catch.hpp>

#include "choice/worked.hpp"
#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

struct P5 {
    Nccl nccl = Catalogue::shipped().nccl();
    Communicator c;
    explicit P5(std::uint32_t domains, std::uint32_t ranks_a_domain = 8) {
        for (const auto& system : worked::examples().at("systems"))
            if (system.at("platform") == "p5" && system.at("nodes") == domains &&
                system.at("ranks_per_node") == ranks_a_domain)
                c = worked::communicator_of(system);
    }
    Pick pick(Collective collective, Bytes size, const Pins& pins = {}) const {
        return fmsim::pick(c, collective, size, nccl, pins);
    }
};

Pins with(std::initializer_list<const char*> variables) {
    Pins pins;
    for (const char* variable : variables) set_nccl_variable(variable, pins);
    return pins;
}

constexpr Bytes kSmall{1 << 10}, kLarge{1 << 28};

std::string refused(const std::vector<Candidate>& table, AlgorithmKind algorithm, Protocol protocol) {
    for (const Candidate& row : table)
        if (row.algorithm == algorithm && row.protocol == protocol) return row.refused;
    return "absent";
}

}  // namespace

TEST_CASE("by hand: 16 p5.48xlarge, 1 GiB") {
    const P5 p5(16);
    for (const Candidate& row : estimates(p5.c, Collective::all_reduce, Bytes{1 << 30}, p5.nccl)) {
        // 25 + 8 x (20.9 + 150) = 1392.2 us; 364 GB/s x 128/254; 1 GiB / 183.43 GB/s = 5853.6 us
        if (row.algorithm == AlgorithmKind::nvls_tree && row.protocol == Protocol::simple) {
            CHECK(row.latency_us == Approx(1392.2));
            CHECK(row.bandwidth_gbps == Approx(364 * 128.0 / 254));
            CHECK(row.believed_us == Approx(7245.8));
        }
        // 6.8 + 2 x (7 x 0.6 + 4 x 80) = 655.2 us; min(75.8, 19) x 0.85 x 0.5 = 8.075 GB/s
        if (row.algorithm == AlgorithmKind::tree && row.protocol == Protocol::ll) {
            CHECK(row.latency_us == Approx(655.2));
            CHECK(row.bandwidth_gbps == Approx(8.075));
        }
        // 8.4 + 224 x 6 + 30 x 164 = 6272.4 us, x 1.4 for so large a size
        if (row.algorithm == AlgorithmKind::ring && row.protocol == Protocol::simple) {
            CHECK(row.latency_us == Approx(6272.4));
            CHECK(row.believed_us == Approx(6272.4 * 1.4 + 1073741824 / (1000 * 384 * 128.0 / 254)));
        }
    }
}

TEST_CASE("NCCL_ALGO and NCCL_PROTO narrow the choice") {
    const P5 p5(2);
    const Collective all = Collective::all_reduce;
    CHECK(p5.pick(all, kLarge).algorithm == AlgorithmKind::nvls_tree);
    CHECK(p5.pick(all, kSmall).algorithm == AlgorithmKind::tree);
    CHECK(p5.pick(all, kLarge, with({"NCCL_ALGO=Ring"})).algorithm == AlgorithmKind::ring);
    CHECK(p5.pick(all, kSmall, with({"NCCL_ALGO=ring,nvlstree"})).algorithm == AlgorithmKind::ring);
    CHECK(p5.pick(all, kLarge, with({"NCCL_ALGO=^nvlstree"})).algorithm != AlgorithmKind::nvls_tree);
    CHECK(p5.pick(all, kSmall, with({"NCCL_ALGO=^tree,ring"})).algorithm == AlgorithmKind::nvls_tree);
    CHECK(p5.pick(all, kSmall, with({"NCCL_PROTO=Simple"})).protocol == Protocol::simple);
    CHECK(p5.pick(all, kSmall, with({"NCCL_PROTO=^LL"})).protocol == Protocol::ll128);
    CHECK(p5.pick(all, kLarge, with({"NCCL_NVLS_ENABLE=0"})).algorithm == AlgorithmKind::ring);
}

TEST_CASE("NCCL_ALGO for one function leaves the others alone") {
    const P5 p5(2);
    const Pins pins = with({"NCCL_ALGO=allreduce:ring"});
    CHECK(p5.pick(Collective::all_reduce, kSmall, pins).algorithm == AlgorithmKind::ring);
    CHECK(p5.pick(Collective::all_gather, kSmall, pins).algorithm == AlgorithmKind::ring);
    const Pins both = with({"NCCL_ALGO=ring;allreduce:tree,ring"});
    CHECK(p5.pick(Collective::all_reduce, kSmall, both).algorithm == AlgorithmKind::tree);
    CHECK(p5.pick(Collective::all_reduce, kLarge, both).algorithm == AlgorithmKind::ring);
    CHECK(p5.pick(Collective::broadcast, kLarge, both).algorithm == AlgorithmKind::ring);
}

TEST_CASE("PAT is for one rank a domain, unless it is asked for") {
    const P5 one(4, 1), eight(4);
    const Collective gather = Collective::all_gather;
    CHECK(one.pick(gather, kSmall).algorithm == AlgorithmKind::pat);
    CHECK(one.pick(gather, kSmall, with({"NCCL_PAT_ENABLE=0"})).algorithm == AlgorithmKind::ring);
    const auto pat = [&](const Pins& pins) {
        return refused(estimates(eight.c, gather, kSmall, eight.nccl, pins), AlgorithmKind::pat, Protocol::simple);
    };
    CHECK(pat({}) == "more than one rank in a domain");
    CHECK(pat(with({"NCCL_PAT_ENABLE=1"})).empty());
    CHECK(pat(with({"NCCL_PAT_ENABLE=0"})) == "NCCL_PAT_ENABLE is 0");
}

TEST_CASE("what cannot be is an error, as in NCCL") {
    const P5 p5(2);
    CHECK_THROWS_WITH(p5.pick(Collective::all_gather, kSmall, with({"NCCL_ALGO=tree"})),
                      "NCCL is left no algorithm and protocol for all_gather");
    CHECK_THROWS_WITH(p5.pick(Collective::all_reduce, kSmall, with({"NCCL_ALGO=nvlstree", "NCCL_PROTO=LL"})),
                      "NCCL is left no algorithm and protocol for all_reduce");
    CHECK_THROWS_WITH(p5.pick(Collective::all_to_all, kSmall), "NCCL has no algorithms to choose from for all_to_all");
    Communicator alone = p5.c;
    alone.ranks = alone.domains = 1;
    CHECK_THROWS_WITH(pick(alone, Collective::all_reduce, kSmall, p5.nccl),
                      "a communicator of one rank has nothing to choose");
    CHECK(estimates(p5.c, Collective::barrier, kSmall, p5.nccl).empty());
}

TEST_CASE("each refusal has its reason") {
    const P5 two(2), one(1);
    const auto table = estimates(two.c, Collective::all_reduce, kSmall, two.nccl);
    CHECK(table.size() == kAlgorithmKinds.size() * kProtocols.size());
    CHECK(refused(table, AlgorithmKind::nvls, Protocol::simple) == "needs CollNet between NVLink domains");
    CHECK(refused(table, AlgorithmKind::nvls_tree, Protocol::ll) == "Simple only");
    CHECK(refused(table, AlgorithmKind::pat, Protocol::simple) == "does no all_reduce");
    const auto alone = estimates(one.c, Collective::all_reduce, kSmall, one.nccl);
    CHECK(refused(alone, AlgorithmKind::nvls_tree, Protocol::simple) == "needs several NVLink domains");
    Communicator far = two.c;
    far.ring.inter_type = PathType::sys;
    const auto from_far = estimates(far, Collective::all_reduce, kSmall, two.nccl);
    CHECK(refused(from_far, AlgorithmKind::ring, Protocol::ll128) == "NICs are SYS away");
}

TEST_CASE("time grows with size, and operations tuned together wait for each other") {
    const P5 p5(4);
    for (const Collective collective : kCollectives) {
        double before = 0;
        for (std::int64_t size = 1 << 22; has_algorithms(collective) && size <= 1 << 30; size *= 2) {
            const auto table = estimates(p5.c, collective, Bytes{size}, p5.nccl);
            const double ring = table[4].believed_us;  // Ring/LL128
            CHECK(ring > before);
            before = ring;
            CHECK(estimates(p5.c, collective, Bytes{size}, p5.nccl, {}, 9)[4].believed_us ==
                  Approx(ring + 8 * table[4].latency_us));
        }
    }
    // Nine operations are two batches of eight for a tree.
    const auto one = estimates(p5.c, Collective::all_reduce, kSmall, p5.nccl);
    const auto nine = estimates(p5.c, Collective::all_reduce, kSmall, p5.nccl, {}, 9);
    CHECK(nine[0].believed_us == Approx(one[0].believed_us + one[0].latency_us));
}

TEST_CASE("rules of a tuner file: the first that fits, channels as the plugin leaves them") {
    const P5 p5(4);
    Pins pins;
    pins.tuner_rules = parse_tuner_rules(
        "# collective,min,max,algo,proto,channels,nodes,ranks\n"
        "allreduce,0,1023,nvls,simple,-1,-1,-1\n"
        "allreduce,0,1048576,ring,simple,-1,4,32\n"
        "allreduce,0,1048576,tree,ll,2,-1,-1,-1,-1\n"
        "allreduce,1048577,4194304,tree,ll128,12,4,32\n"
        "allreduce,4194305,8388608,tree,ll128,99,4,32\n",
        "rules.csv");
    const Collective all = Collective::all_reduce;
    const Pick ring = p5.pick(all, Bytes{1048576}, pins);
    CHECK(ring.by == PickedBy::tuner_rules);
    CHECK(ring.algorithm == AlgorithmKind::ring);
    CHECK(ring.protocol == Protocol::simple);
    CHECK(ring.channels == 1);  // -1 leaves the plugin's 1 in the answer
    // NVLS is not available between domains: NCCL passes over the rule.
    CHECK(p5.pick(all, Bytes{8}, pins).algorithm == AlgorithmKind::ring);
    CHECK(p5.pick(all, Bytes{1048577}, pins).channels == 12);
    CHECK(p5.pick(all, Bytes{8388608}, pins).channels == 16);  // clipped to the communicator's
    CHECK(p5.pick(all, Bytes{8388608}, pins).asked_channels == 99);
    // No rule fits: NCCL's own choice, on one channel.
    const Pick none = p5.pick(all, Bytes{1 << 30}, pins);
    CHECK(none.by == PickedBy::nccl);
    CHECK(none.channels == 1);
    Pins alone;
    alone.aws_tuner = false;
    CHECK(none.algorithm == p5.pick(all, Bytes{1 << 30}, alone).algorithm);
}

TEST_CASE("an explanation holds the table, NCCL's choice and the tuner's") {
    const P5 p5(4);
    const auto why = explain_choice(p5.c, Collective::all_reduce, kSmall, p5.nccl);
    CHECK(why.by_nccl.algorithm == AlgorithmKind::tree);
    CHECK(why.by_nccl.protocol == Protocol::ll);
    CHECK(why.taken.protocol == Protocol::ll128);
    CHECK(why.taken.by == PickedBy::aws_tuner);
    CHECK(why.taken.believed_us >= why.by_nccl.believed_us);
    CHECK(why.chunk.count == 17280);
}

}  // namespace fmsim
