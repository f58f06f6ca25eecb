// Two collectives at once on the same NICs: in `stream`, where each moves its bytes at the pace that it has alone, as in
// `chunk`, where each transfer is there (docs/decisions/0014).
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

using enum Collective;

Operation call(std::string name, std::string stream, Collective collective, Bytes size) {
    return {.name = std::move(name),
            .stream = std::move(stream),
            .action = CollectiveCall{.collective = collective, .size = size, .group = 0}};
}

double end_of(const Topology& net, Collective first, Collective second, Bytes size, Fidelity fidelity) {
    static const Nccl nccl = Catalogue::shipped().nccl();
    Workload work;
    work.jobs.push_back({.name = "job",
                         .groups = {{.name = "all"}},
                         .programs = {{.operations = {call("first", "one", first, size),
                                                      call("second", "two", second, size)}}}});
    return seconds(predict(net, toy::everyone(net), work, nccl, {.fidelity = fidelity}).end);
}

}  // namespace

TEST_CASE("two collectives at once end near their chunks, and later than one of them") {
    const auto mib = GENERATE(1, 16, 64);
    const auto [first, second] = GENERATE(
        table<Collective, Collective>({{all_reduce, all_reduce}, {all_reduce, all_gather}, {all_gather, broadcast}}));
    const Topology net = build_topology(Catalogue::shipped().cluster("p5en.48xlarge:4"));
    const Bytes size{std::int64_t{mib} << 20};
    INFO(mib << " MiB, " << name(first) << " and " << name(second));
    const double stream = end_of(net, first, second, size, Fidelity::stream);
    const double chunk = end_of(net, first, second, size, Fidelity::chunk);
    // Two that wait for the same links all the time make each other's waits longer, which `stream` does not see.
    CHECK(std::abs(stream / chunk - 1) < (first == all_reduce ? 0.1 : 0.13));
    CHECK(stream >= end_of(net, first, barrier, size, Fidelity::stream));
}

}  // namespace fmsim
