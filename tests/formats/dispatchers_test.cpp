// The catalogue's dispatchers, files of them that make no sense, and rows of measured exchanges.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"

namespace fmsim {
namespace {

using nlohmann::json;
using test::refusal;

std::string refused(const std::string& pointer, const json& value) {
    auto files = Catalogue::shipped().files();
    json root = json::parse(files.at("moe/deepep-normal.json"));
    root[json::json_pointer(pointer)] = value;
    files["moe/deepep-normal.json"] = root.dump();
    return refusal([&] { Catalogue(files).dispatchers(); });
}

}  // namespace

TEST_CASE("the shipped dispatchers, by name") {
    std::vector<std::string> names;
    for (const Dispatcher& dispatcher : Catalogue::shipped().dispatchers()) names.push_back(dispatcher.name);
    CHECK(names == std::vector<std::string>{"deepep-low-latency", "deepep-normal", "deepep-v2", "hybrid-ep", "nccl",
                                            "pplx", "trtllm-nvlink", "uccl-low-latency", "uccl-normal"});
    const auto all = Catalogue::shipped().dispatchers();
    const Dispatcher& deepep = find(all, "deepep-normal");
    CHECK(deepep.copies == Copies::each_domain);
    CHECK(deepep.networks.at("EFA").most_ranks == 160);
    CHECK(deepep.launch.of(true) > deepep.launch.of(false));
    CHECK(find(all, "nccl").all_to_all);
}

TEST_CASE("a dispatcher's file that makes no sense is refused with its place") {
    CHECK_THAT(refused("/copies/value", "each_node"), Catch::Contains("/copies/value"));
    CHECK_THAT(refused("/nvlink_share/dispatch/value", 1.5), Catch::Contains("/nvlink_share/dispatch/value"));
    CHECK_THAT(refused("/networks/EFA/latency/combine/value", "34"), Catch::Contains("/networks/EFA/latency/combine"));
    CHECK_THAT(refused("/windw", 1), Catch::Contains("window"));
    auto files = Catalogue::shipped().files();
    json root = json::parse(files.at("moe/deepep-normal.json"));
    root.erase("sms");
    files["moe/deepep-normal.json"] = root.dump();
    CHECK_THAT(refusal([&] { Catalogue(files).dispatchers(); }), Catch::Contains("expected a number of SMs"));
    root.erase("each_sm");
    root.erase("launch");
    files["moe/deepep-normal.json"] = root.dump();
    CHECK_THAT(refusal([&] { Catalogue(files).dispatchers(); }), Catch::Contains("launch"));
}

TEST_CASE("rows of measured exchanges become tables of one row") {
    const std::string text = R"({"rows": [
        {"id": "a", "library": "UCCL-EP", "phase": "dispatch", "precision": "FP8 dispatch", "notes": "24 SMs",
         "hardware": {"cluster": "p5en.48xlarge:2", "gpus": 16}, "batch": {"tokens_per_rank": 4096},
         "model": {"hidden": 7168, "topk": 8}, "measured": {"bandwidth_GBps": 50}},
        {"id": "b", "library": "pplx-garden", "phase": "combine", "precision": "BF16 combine",
         "hardware": {"cluster": "p5en.48xlarge:2", "gpus": 16}, "batch": {"tokens_per_rank": 128},
         "model": {"hidden": 7168, "topk": 8}, "measured": {"latency_us": 241.5}},
        {"id": "c", "library": "NCCL", "phase": "all-to-all", "precision": "bytes",
         "hardware": {"cluster": "p5.48xlarge:4", "gpus": 32}, "batch": {"bytes_per_rank_mib": 64}, "model": {},
         "measured": {"busbw_GBps_at_size": 45.1}}]})";
    REQUIRE(is_expert_rows(text));
    const auto tables = parse_expert_rows(text, "rows.json");
    REQUIRE(tables.size() == 3);
    CHECK(tables[0].collective == "moe_dispatch");
    CHECK(tables[0].dtype == "fp8");
    CHECK(tables[0].rows[0].rate == BytesPerSecond{50e9});
    CHECK(tables[0].rows[0].sms == 24);
    CHECK(tables[0].rows[0].size == Bytes{234881024});
    CHECK(tables[1].rows[0].time_us == 241.5);
    CHECK(tables[2].collective == "alltoall");
    CHECK(tables[2].rows[0].time_us == Approx((64 << 20) * 31.0 / 32 / 45.1e3));
    CHECK_FALSE(is_expert_rows("{}"));
    CHECK_FALSE(is_expert_rows("[1]"));
    CHECK_THAT(refusal([] { parse_expert_rows(R"({"rows": [{}]})", "r"); }), Catch::Contains("/rows/0"));
}

}  // namespace fmsim
