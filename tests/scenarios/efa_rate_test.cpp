// What EFA carries, lowered by a tenth: it moves what EFA's bytes bind, and nothing else.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/predict.hpp"
#include "toy/toy.hpp"

namespace fmsim {
namespace {

const Catalogue& shipped() {
    static const Catalogue catalogue = Catalogue::shipped();
    return catalogue;
}

const Catalogue& slower_efa_v2() {
    static const Catalogue catalogue = [] {
        auto files = shipped().files();
        auto json = nlohmann::json::parse(files.at("nics/efa-v2.json"));
        auto& value = json["carries"]["value"];
        value = std::to_string(std::stod(value.get<std::string>()) * 0.9) + " GB/s";
        files.at("nics/efa-v2.json") = json.dump();
        return Catalogue(std::move(files));
    }();
    return catalogue;
}

// Time with the slower EFA / time with the shipped one.
double slower(const std::string& cluster, Collective collective, std::int64_t bytes, const char* algorithm = nullptr) {
    PredictOptions options;
    if (algorithm != nullptr) options.pins.algorithm = algorithm;
    const Workload job = in_turn({{"call", collective, Bytes{bytes}}});
    const auto time = [&](const Catalogue& catalogue) {
        const Topology net = build_topology(catalogue.cluster(cluster));
        return seconds(predict(net, toy::everyone(net), job, catalogue.nccl(), options).calls.front().time());
    };
    return time(slower_efa_v2()) / time(shipped());
}

constexpr std::int64_t kMiB = 1 << 20;

}  // namespace

TEST_CASE("large all-to-alls over EFA v2 take a ninth longer, large rings at most that") {
    for (const char* cluster : {"p5.48xlarge:2", "p5.48xlarge:16"})
        CHECK(slower(cluster, Collective::all_to_all, 2048 * kMiB) == Approx(1 / 0.9).epsilon(0.02));
    // Of large rings EFA and the SMs of 16 channels bind about the same: 352 and 330 to 350 GB/s.
    const double ring = slower("p5.48xlarge:4", Collective::all_reduce, 8192 * kMiB, "Ring");
    CHECK(ring > 1.02);
    CHECK(ring < 1.12);
}

TEST_CASE("what latency or NVLink bind hardly moves") {
    CHECK(slower("p5.48xlarge:2", Collective::all_reduce, 8) == Approx(1).epsilon(1e-4));
    CHECK(slower("p5.48xlarge:2", Collective::all_reduce, 64 * 1024) == Approx(1).epsilon(0.01));
    CHECK(slower("p5.48xlarge:2", Collective::all_reduce, kMiB) == Approx(1).epsilon(0.01));
    CHECK(slower("p5.48xlarge:2", Collective::all_reduce, 8192 * kMiB) == Approx(1).epsilon(0.01));  // NVLink
}

TEST_CASE("one instance, other generations of EFA and InfiniBand do not move at all") {
    const auto collective = GENERATE(Collective::all_reduce, Collective::all_to_all);
    for (const char* cluster : {"p5.48xlarge:1", "p4d.24xlarge:2", "p5en.48xlarge:2", "p6-b200.48xlarge:2",
                                "p6-b300.48xlarge:2", "hgx-h100-8x400:2", "gb200-nvl72:1"})
        for (const std::int64_t bytes : {std::int64_t{8}, kMiB, 1024 * kMiB}) {
            INFO(cluster << ", " << bytes << " bytes");
            CHECK(slower(cluster, collective, bytes) == 1);
        }
}

}  // namespace fmsim
