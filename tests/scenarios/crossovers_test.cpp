// Protocol and algorithm change with size (aws/aws-ofi-nccl PR 900, 913, 481, 704, 1309, 1394): on 16 instances the
// borders lie within a factor of 4 of those published, and each is crossed once.
#include <exception>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "fmsim/choice.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"

namespace fmsim {
namespace {

struct Border {
    std::string choice;  // "Ring LL"
    double from{};       // bytes: the middle, on a logarithmic scale, between the sizes around the change
};

// What is chosen from 32 B to 16 GiB, each time that it changes.
std::vector<Border> borders(const std::string& cluster, Collective collective, std::uint32_t ranks,
                            std::uint32_t per_domain) {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster(cluster));
    const Nccl nccl = catalogue.nccl();
    const Group group = group_of(linear_placement(net, ranks, per_domain));
    std::vector<Border> all;
    for (std::int64_t size = 32; size <= std::int64_t{16} << 30; size *= 2) {
        const Choice choice = choose(collective, Bytes{size}, net, group, nccl, {});
        const std::string now = std::string(choice.algorithm->name) + " " + std::string(name(choice.protocol));
        if (all.empty() || all.back().choice != now) all.push_back({now, static_cast<double>(size) / 1.41});
    }
    return all;
}

void check_border(const Border& step, const std::string& choice, double published) {
    INFO(step.choice << " from " << step.from << " bytes, published " << published);
    CHECK(step.choice == choice);
    CHECK(step.from > published / 4);
    CHECK(step.from < published * 4);
}

// What could be chosen, and how long each takes.
class Racers {
public:
    Racers(const std::string& cluster, Collective collective)
        : net_(build_topology(Catalogue::shipped().cluster(cluster))),
          group_(group_of(linear_placement(net_, 128, 8))),
          nccl_(Catalogue::shipped().nccl()),
          collective_(collective) {
        for (const char* algorithm : {"Ring", "Tree", "NVLSTree"})
            for (const Protocol protocol : kProtocols) {
                all_.emplace_back();
                all_.back().pins.algorithm = algorithm;
                all_.back().pins.protocol = protocol;
                try {
                    us(all_.size() - 1, 1 << 20);
                } catch (const std::exception&) {  // there is none of this operation, or it cannot run here
                    all_.pop_back();
                }
            }
    }

    double us(std::size_t racer, std::int64_t size) {
        if (const auto known = us_.find({racer, size}); known != us_.end()) return known->second;
        const Workload job = in_turn({{"call", collective_, Bytes{size}}});
        const double took = microseconds(predict(net_, group_, job, nccl_, all_[racer]).calls.front().time());
        us_[{racer, size}] = took;
        return took;
    }
    std::size_t fastest(std::int64_t size) {
        std::size_t first = 0;
        for (std::size_t i = 1; i < all_.size(); ++i)
            if (us(i, size) < us(first, size)) first = i;
        return first;
    }
    // The sizes on both sides of where one overtakes another, within `low` / 512.
    std::pair<std::int64_t, std::int64_t> border(std::size_t left, std::size_t taken, std::int64_t low,
                                                 std::int64_t high) {
        while (high - low > low / 512) {
            const std::int64_t middle = low + (high - low) / 2;
            (us(left, middle) <= us(taken, middle) ? low : high) = middle;
        }
        return {low, high};
    }
    std::string name(std::size_t racer) const {
        return *all_[racer].pins.algorithm + " " + std::string(fmsim::name(*all_[racer].pins.protocol));
    }

private:
    Topology net_;
    Group group_;
    Nccl nccl_;
    Collective collective_;
    std::vector<PredictOptions> all_;
    std::map<std::pair<std::size_t, std::int64_t>, double> us_;
};

}  // namespace

TEST_CASE("all-gather of 128 ranks: rings of LL, LL128 and Simple, in this order") {
    const auto [machine, ll128, simple] = GENERATE(table<std::string, double, double>(
        {{"p5en.48xlarge:16", 3.7e6, 2.1e9}, {"p6-b200.48xlarge:16", 12.8e6, 2.6e9}}));
    const auto got = borders(machine, Collective::all_gather, 128, 8);
    INFO(machine);
    REQUIRE(got.size() == 3);
    CHECK(got[0].choice == "Ring LL");
    check_border(got[1], "Ring LL128", ll128);
    check_border(got[2], "Ring Simple", simple);
}

TEST_CASE("all-gather of one rank an instance: PAT, then rings of LL128 and Simple") {
    const auto [machine, ll128, simple] = GENERATE(
        table<std::string, double, double>({{"p5en.48xlarge:16", 8.4e6, 50e6}, {"p6-b200.48xlarge:16", 4.2e6, 35e6}}));
    const auto got = borders(machine, Collective::all_gather, 16, 1);
    INFO(machine);
    REQUIRE(got.size() == 3);
    CHECK(got[0].choice == "PAT Simple");
    check_border(got[1], "Ring LL128", ll128);
    check_border(got[2], "Ring Simple", simple);
}

TEST_CASE("all-reduce: trees of LL first, then LL128, at last Simple; NVLS trees as ranks grow") {
    const std::string machine = GENERATE(as<std::string>{}, "p5en.48xlarge:16", "p6-b200.48xlarge:16");
    const auto got = borders(machine, Collective::all_reduce, 128, 8);
    INFO(machine);
    REQUIRE(got.size() >= 3);
    CHECK(got[0].choice == "Tree LL");
    CHECK(got[1].choice == "Tree LL128");
    CHECK(got.back().choice.ends_with("Simple"));
    std::set<std::string> seen;  // no way back to what was left behind
    for (const Border& border : got) CHECK(seen.insert(border.choice).second);
}

// Published of p5: from 512 ranks on at 16 GB, from 2,048 on at 512 MB. Of its successors a border is known at 16 GB
// only.
TEST_CASE("all-reduce: NVLS trees from 512 ranks on at 16 GB, from 2,048 at 512 MB") {
    const auto [machine, size, published] =
        GENERATE(table<std::string, std::int64_t, std::uint32_t>({{"p5.48xlarge", std::int64_t{16} << 30, 512},
                                                                  {"p5.48xlarge", std::int64_t{512} << 20, 2048},
                                                                  {"p5en.48xlarge", std::int64_t{16} << 30, 512},
                                                                  {"p6-b200.48xlarge", std::int64_t{16} << 30, 512}}));
    INFO(machine << ", " << size << " bytes");
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    std::uint32_t from = 0;  // the first number of ranks that has them, and keeps them
    for (std::uint32_t ranks = 32; ranks <= 8192; ranks *= 2) {
        const Topology net = build_topology(catalogue.cluster(machine + ":" + std::to_string(ranks / 8)));
        const Choice choice =
            choose(Collective::all_reduce, Bytes{size}, net, group_of(linear_placement(net, ranks, 8)), nccl, {});
        const bool nvls_tree = choice.algorithm->name == "NVLSTree";
        if (ranks >= published * 2) CHECK(nvls_tree);
        if (ranks < published / 2 && size >= 1'000'000'000) CHECK_FALSE(nvls_tree);
        from = !nvls_tree ? 0 : from == 0 ? ranks : from;
    }
    if (machine == "p5.48xlarge") CHECK(from == published);
    CHECK(from >= published / 4);
    CHECK(from <= published * 4);
}

// The fastest of all algorithms and protocols, not NCCL's choice. A border that lies where the one left begins a new
// loop, or takes larger chunks, has that jump, which is NCCL's own: of 128 ranks at 64 MiB (a ring of LL has 16 channels
// of 32 KiB a rank in a loop), at 1125 MiB a ring of LL128.
TEST_CASE("where the fastest changes, its time does not jump by more than 10 %") {
    const auto [cluster, collective] =
        GENERATE(table<std::string, Collective>({{"p5en.48xlarge:16", Collective::all_gather},
                                                 {"p5en.48xlarge:16", Collective::all_reduce},
                                                 {"p6-b200.48xlarge:16", Collective::all_gather},
                                                 {"p6-b200.48xlarge:16", Collective::all_reduce}}));
    Racers racers(cluster, collective);
    std::size_t borders = 0, own_steps = 0;
    for (std::int64_t low = 1 << 20; low < std::int64_t{2} << 30; low *= 2) {
        const std::size_t left = racers.fastest(low), taken = racers.fastest(2 * low);
        if (left == taken) continue;
        ++borders;
        const auto [below, above] = racers.border(left, taken, low, 2 * low);
        const double jump = racers.us(taken, above) / racers.us(left, below);
        INFO(cluster << ", " << racers.name(left) << " to " << racers.name(taken) << " at " << below);
        CHECK(jump > 0.9);
        // Chunks may run out a little before the loop.
        const bool own_step = racers.us(left, above + above / 100) > 1.1 * racers.us(left, below);
        own_steps += own_step ? 1 : 0;
        CHECK(jump < (own_step ? 1.25 : 1.1));
    }
    CHECK(borders >= 1);
    CHECK(own_steps <= 2);
}

}  // namespace fmsim
