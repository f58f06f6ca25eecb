// One UltraServer, two, twenty (coreweave/nccl-tests PR 43 and 48, ai-dynamo/aisimulate PR 192): where NVLink ends.
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

const Topology& twenty_racks() {
    static const Topology net = build_topology(Catalogue::shipped().cluster("gb200-nvl72:20"));
    return net;
}

CallPrediction all_reduce(std::uint32_t gpus, std::int64_t mib) {
    static const Nccl nccl = Catalogue::shipped().nccl();
    const Workload job = in_turn({{"call", Collective::all_reduce, Bytes{mib << 20}}});
    return predict(twenty_racks(), group_of(linear_placement(twenty_racks(), gpus, 0)), job, nccl, {})
        .calls.front();
}

double pair_gbps(GpuPlace from, GpuPlace to, std::string& limited_by) {
    static const Nccl nccl = Catalogue::shipped().nccl();
    Job job{.groups = {{.name = "all"}}, .programs = {}};
    const Bytes size{std::int64_t{4} << 30};
    job.programs.push_back({.ranks = {0}, .operations = {{.name = "s", .action = Transfers{.sends = {{{false, 1}, size}}}}}});
    job.programs.push_back(
        {.ranks = {1}, .operations = {{.name = "r", .action = Transfers{.receives = {{{false, 0}, size}}}}}});
    Workload work;
    work.jobs.push_back(std::move(job));
    const Prediction p = predict(twenty_racks(), Placement{from, to}, work, nccl, {});
    limited_by = explain(twenty_racks(), p).calls[0].limited_by;
    return p.calls[0].algbw_gbps();
}

}  // namespace

TEST_CASE("any pair of a rack has NVLink, any pair of two racks a NIC") {
    std::string limited_by;
    const double near = pair_gbps({DomainId{0}, 0}, {DomainId{0}, 1}, limited_by);
    CHECK(near > 600);  // of 900 GB/s that are sold, what a pair carries
    CHECK(near <= 900);
    CHECK(pair_gbps({DomainId{0}, 0}, {DomainId{0}, 71}, limited_by) == Approx(near).epsilon(1e-9));
    const double far = pair_gbps({DomainId{0}, 0}, {DomainId{1}, 0}, limited_by);
    CHECK(far <= 50);
    CHECK(far > 45);
    CHECK(limited_by == "InfiniBand");
}

TEST_CASE("72 GPUs are one tier, the 73rd falls over the edge") {
    // One rack, 4 GiB measured at 839 GB/s; the switches reduce, so that busbw may pass what a GPU's NVLink carries.
    const CallPrediction rack = all_reduce(72, 4096);
    CHECK(rack.busbw_gbps() > 600);
    // The rack with one GPU has one NIC of 50 GB/s: all that the others reduce goes in and out of it. With 2(N-1)/N = 1
    // for two domains the rest of S passes it once: 4 GiB / 50 GB/s = 86 ms, against 10.
    const CallPrediction over = all_reduce(73, 4096);
    CHECK(microseconds(over.time()) > 4096.0 * 1048576 / 50e9 * 1e6);
    CHECK(over.time().fs > 8 * rack.time().fs);
}

TEST_CASE("twenty racks are slower than one, but far faster than one NIC") {
    const CallPrediction one = all_reduce(72, 1024), twenty = all_reduce(1440, 1024);
    CHECK(twenty.busbw_gbps() < one.busbw_gbps());
    CHECK(twenty.busbw_gbps() > 2 * 50);
}

}  // namespace fmsim
