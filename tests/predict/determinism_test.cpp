// One hash over many predictions: it must not move between builds, compilers or runs. A new value is a change of
// results, which docs/CHANGES.md has to tell.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {

TEST_CASE("the same inputs give the same femtoseconds on every build") {
    const Catalogue catalogue = Catalogue::shipped();
    const Nccl nccl = catalogue.nccl();
    std::string all;
    for (const char* words : {"p5.48xlarge:1", "p5.48xlarge:2", "p5.48xlarge:3"}) {
        const Topology net = build_topology(catalogue.cluster(words));
        for (const Fidelity fidelity : {Fidelity::stream, Fidelity::chunk})
            for (const Collective collective : kCollectives)
                for (std::int64_t size = 1; size < (std::int64_t{1} << 26); size *= 37) {
                    const Workload job = in_turn({{"call", collective, Bytes{size}}});
                    const Prediction p =
                        predict(net, toy::everyone(net), job, nccl, {.fidelity = fidelity, .pins = {}});
                    for (const SimTime ended : p.timeline.ended.rows) all += to_text(Bytes{ended.fs}) + " ";
                }
    }
    CHECK(hash_of(all) == "90cbbc3ecfd341d2");
}

}  // namespace fmsim
