// Two operations at once on the same NICs: in `stream`, where each is a few flows that slow down as its pipeline would
// among others, as in `chunk`, where each transfer is there (docs/decisions/0017).
#include <algorithm>

#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

using enum Collective;

struct Asked {
    Collective collective;
    int mib;
    const char* algorithm = "";  // with its protocol; none: what NCCL would take
    const char* protocol = "";
};
std::string words(const Asked& call) {
    return std::string(name(call.collective)) + " of " + std::to_string(call.mib) + " MiB " + call.algorithm + " " +
           call.protocol;
}

Operation operation(const Asked& call, std::string stream) {
    CollectiveCall made{.collective = call.collective, .size = Bytes{std::int64_t{call.mib} << 20}, .group = 0};
    if (*call.algorithm != 0) {
        made.algorithm = call.algorithm;
        made.protocol = call.protocol;
    }
    return {.name = stream, .stream = stream, .action = made};
}
// A message of each rank to the one of its number in the next instance.
Operation message(int mib, std::string stream) {
    const Bytes size{std::int64_t{mib} << 20};
    return {.name = stream,
            .stream = stream,
            .action = Transfers{.sends = {{.to = {.relative = true, .rank = 8}, .size = size}},
                                .receives = {{.from = {.relative = true, .rank = -8}, .size = size}}}};
}

double end_of(const Topology& net, std::vector<Operation> operations, Fidelity fidelity) {
    static const Nccl nccl = Catalogue::shipped().nccl();
    Workload work;
    work.jobs.push_back(
        {.name = "job", .groups = {{.name = "all"}}, .programs = {{.operations = std::move(operations)}}});
    return seconds(predict(net, toy::everyone(net), work, nccl, {.fidelity = fidelity}).end);
}
double off(const Topology& net, const std::vector<Operation>& both) {
    return end_of(net, both, Fidelity::stream) / end_of(net, both, Fidelity::chunk) - 1;
}
double off(const Topology& net, const Asked& first, const Asked& second) {
    return off(net, {operation(first, "one"), operation(second, "two")});
}
Topology machine(const char* words) { return build_topology(Catalogue::shipped().cluster(words)); }

std::vector<Asked> choices(int mib) {
    return {{all_reduce, mib}, {all_gather, mib}, {reduce_scatter, mib}, {broadcast, mib}, {all_to_all, mib}};
}
std::vector<Asked> pinned(int mib) {
    return {{all_reduce, mib, "Ring", "LL"},        {all_reduce, mib, "Ring", "LL128"},
            {all_reduce, mib, "Ring", "Simple"},    {all_reduce, mib, "Tree", "LL128"},
            {all_reduce, mib, "Tree", "Simple"},    {all_reduce, mib, "NVLSTree", "Simple"},
            {all_gather, mib, "Ring", "LL128"},     {all_gather, mib, "Ring", "Simple"},
            {reduce_scatter, mib, "Ring", "LL128"}, {broadcast, mib, "Ring", "LL128"}};
}

void check_pairs(const char* cluster, const std::vector<Asked>& calls, double most_off = 0.1) {
    const Topology net = machine(cluster);
    for (std::size_t a = 0; a < calls.size(); ++a)
        for (std::size_t b = a; b < calls.size(); ++b) {
            INFO(cluster << ": " << words(calls[a]) << " and " << words(calls[b]));
            CHECK(std::abs(off(net, calls[a], calls[b])) < most_off);
        }
}

}  // namespace

TEST_CASE("two operations at once end near their chunks, with what NCCL would choose") {
    const char* cluster = GENERATE("p5en.48xlarge:4", "p6-b300.48xlarge:4", "p5en.48xlarge:2");
    check_pairs(cluster, choices(GENERATE(1, 16, 64)));
}

TEST_CASE("an all-reduce of 16 MiB and an all-to-all at once end near their chunks") {
    CHECK(std::abs(off(machine("p5en.48xlarge:8"), {all_reduce, 16}, {all_to_all, 16})) < 0.1);
    CHECK(std::abs(off(machine("p6-b300.48xlarge:8"), {all_reduce, 16}, {all_to_all, 16})) < 0.105);  // decision 0017
}

TEST_CASE("a message beside a collective ends near its chunks") {
    const Topology net = machine("p5en.48xlarge:4");
    const int mib = GENERATE(1, 16, 64);
    for (const Collective collective : {all_reduce, all_gather, all_to_all}) {
        INFO(mib << " MiB beside " << name(collective));
        CHECK(std::abs(off(net, {operation({collective, mib}, "one"), message(mib, "two")})) < 0.1);
    }
}

TEST_CASE("operations of unequal sizes at once end near their chunks") {
    const Topology net = machine("p5en.48xlarge:4");
    const auto [first, second] = GENERATE(table<Asked, Asked>({{{all_reduce, 1}, {all_gather, 256}},
                                                               {{all_reduce, 16}, {all_gather, 256}},
                                                               {{broadcast, 16}, {all_reduce, 256}},
                                                               {{all_reduce, 4}, {all_to_all, 64}},
                                                               {{all_reduce, 64}, {all_to_all, 16}}}));
    INFO(words(first) << " and " << words(second));
    CHECK(std::abs(off(net, first, second)) < 0.1);
}

TEST_CASE("two of one kind at once end as their chunks, and later than one of them") {
    const Topology net = machine("p5en.48xlarge:4");
    for (const Asked& call : pinned(16)) {
        INFO(words(call));
        const double both = end_of(net, {operation(call, "one"), operation(call, "two")}, Fidelity::stream);
        CHECK(both >= end_of(net, {operation(call, "one")}, Fidelity::stream) * (1 - 1e-9));
        CHECK(std::abs(off(net, call, call)) < 0.1);
    }
}

TEST_CASE("pairs that come again and again take as long a pair as a few do") {
    const Topology net = machine("p5en.48xlarge:4");
    const auto a_pair = [&](std::uint32_t pairs, Collective first) {
        std::vector<Operation> row;
        for (std::uint32_t i = 0; i < pairs; ++i) {
            for (const Asked& call : {Asked{first, 16}, Asked{all_to_all, 5}}) {
                row.push_back(operation(call, call.collective == first ? "one" : "two"));
                row.back().name += std::to_string(i);
                if (i > 0) row.back().after = {2 * i - 2, 2 * i - 1};
            }
        }
        return end_of(net, std::move(row), Fidelity::stream) / pairs;
    };
    for (const Collective first : {all_reduce, broadcast})
        CHECK(a_pair(1200, first) == Approx(a_pair(30, first)).epsilon(0.06));
}

TEST_CASE("an operation beside one that takes no links is as if it were alone") {
    const Topology net = machine("p5en.48xlarge:4");
    for (const Asked& call : pinned(16)) {
        INFO(words(call));
        const double alone = end_of(net, {operation(call, "one")}, Fidelity::stream);
        const Asked nothing{barrier, 0};
        CHECK(end_of(net, {operation(call, "one"), operation(nothing, "two")}, Fidelity::stream) ==
              Approx(alone).epsilon(0.01));
    }
}

// Many minutes. 1 in 100 pairs are further off than a tenth; decision 0017 names them.
TEST_CASE("any two operations at once end near their chunks, whatever is pinned", "[.overlaps]") {
    const char* cluster = GENERATE("p5en.48xlarge:4", "p6-b300.48xlarge:4", "p5en.48xlarge:8", "p6-b300.48xlarge:8",
                                   "p5en.48xlarge:2", "p6-b300.48xlarge:2", "p5en.48xlarge:3", "p6-b300.48xlarge:3");
    const int mib = GENERATE(1, 4, 16, 64);
    check_pairs(cluster, choices(mib), 0.14);
    check_pairs(cluster, pinned(mib), 0.18);
}

}  // namespace fmsim
