// What bound a call, on machines where it can be seen.
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

Findings findings_on(const toy::Machine& machine, Bytes size, Fidelity fidelity) {
    const Topology net = build_topology(toy::cluster(machine));
    const Workload job = in_turn({{"call", Collective::all_reduce, size}});
    return explain(net, predict(net, toy::everyone(net), job, toy::nccl(), {.fidelity = fidelity, .pins = {}}));
}

constexpr Bytes kLarge{1 << 30};

}  // namespace

TEST_CASE("the narrow link of a machine is named as what limits it") {
    const auto fidelity = GENERATE(Fidelity::stream, Fidelity::chunk);
    const BytesPerSecond fast = 100_GBps, slow = 1_GBps;
    CHECK(findings_on({.instances = 2, .gpus = 2, .nvlink = fast, .nic = slow}, kLarge, fidelity).calls[0].limited_by ==
          "wire");
    CHECK(findings_on({.instances = 2, .gpus = 2, .nvlink = slow, .nic = fast}, kLarge, fidelity).calls[0].limited_by ==
          "NVLink");
    CHECK(findings_on({.gpus = 4, .nvlink = fast, .sm = slow}, kLarge, fidelity).calls[0].limited_by == "channels");
    const Findings tiny = findings_on({.gpus = 4, .nvlink = slow, .nvlink_latency = 1_us}, Bytes{4}, fidelity);
    CHECK(tiny.calls[0].limited_by == "latency");
    CHECK(findings_on({.gpus = 4}, Bytes{0}, fidelity).calls[0].limited_by == "nothing");
}

TEST_CASE("the link that limits is named, and it is busy all the time") {
    // 2 x 2 GPUs, the ring leaves an instance by NIC 1 and enters the other by NIC 0: 6 chunks of 1/4 each way
    const Findings why =
        findings_on({.instances = 2, .gpus = 2, .nvlink = 100_GBps, .nic = 1_GBps}, kLarge, Fidelity::stream);
    CHECK_THAT(why.calls[0].busiest, Catch::Contains("nic") && Catch::Contains("fabric"));
    for (const LinkFinding& link : why.links)
        if (link.kind == "wire") {
            CHECK(link.utilisation == Approx(1));
            CHECK(link.bytes == Approx(1.5 * static_cast<double>(kLarge.count)));
            CHECK(link.links == 8);
        }
}

TEST_CASE("launch, waiting and working add up to the time of a call") {
    const Catalogue catalogue = Catalogue::shipped();
    const Topology net = build_topology(catalogue.cluster("p5.48xlarge:2"));
    const auto fidelity = GENERATE(Fidelity::stream, Fidelity::chunk);
    for (const Bytes size : {Bytes{8}, Bytes{1 << 20}, Bytes{1 << 26}}) {
        const Workload job = in_turn({{"call", Collective::all_reduce, size}});
        const Prediction p =
            predict(net, toy::everyone(net), job, catalogue.nccl(), {.fidelity = fidelity, .pins = {}});
        const CallFinding finding = explain(net, p).calls[0];
        CHECK(finding.launch + finding.waiting + finding.working == p.calls[0].time());
        CHECK(finding.waiting.fs >= 0);
    }
}

}  // namespace fmsim
