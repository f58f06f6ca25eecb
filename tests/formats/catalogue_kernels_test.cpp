// The facts about kernels: what a generation's file reads to, and files that are refused.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"

namespace fmsim {
namespace {

using nlohmann::json;
using test::refusal;

constexpr const char* kHopper = "kernels/hopper.json";

json hopper() { return json::parse(Catalogue::shipped().files().at(kHopper)); }

Gpu of_capability(std::uint32_t capability) { return {.name = "g", .compute_capability = capability}; }

// What the reader says to a catalogue whose Hopper file is changed.
template <class Change>
std::string said_to(Change change) {
    auto files = Catalogue::shipped().files();
    json file = hopper();
    change(file);
    files[kHopper] = file.dump();
    return refusal([&] { Catalogue(files).kernels(of_capability(90)); });
}

TEST_CASE("a generation's facts read to the values of its file") {
    const json file = hopper();
    const KernelFacts facts = Catalogue::shipped().kernels(of_capability(90));
    CHECK(facts.name == "hopper");
    CHECK(facts.ramp == parse_span(file["ramp"]["value"].get<std::string>()));
    CHECK(facts.gemm.sustained.at("fp8") == file["gemm"]["sustained"]["fp8"]["value"]);
    CHECK(facts.gemm.feed == parse_rate(file["gemm"]["feed"]["value"].get<std::string>()));
    REQUIRE(facts.gemm.tiles.size() == file["gemm"]["tiles"]["value"].size());
    CHECK(facts.gemm.tiles[0].m == file["gemm"]["tiles"]["value"][0][0]);
    CHECK(facts.gemm.tiles[0].n == file["gemm"]["tiles"]["value"][0][1]);
    CHECK(facts.usual_attention == "flash_attention_3");
    CHECK(facts.attention.size() == 3);
    const json& attention = file["attention"]["flash_attention_3"];
    const AttentionFacts& read = facts.attention.at("flash_attention_3");
    CHECK(read.matmul == attention["matmul"]["value"]);
    CHECK(read.pairs_a_second == attention["giga_pairs_per_second"]["value"].get<double>() * 1e9);
    CHECK(read.ramp == parse_span(attention["ramp"]["value"].get<std::string>()));
    CHECK(read.backward == attention["backward"]["value"]);
    CHECK(read.tile == attention["tile"]["value"]);
    CHECK(facts.read_share == file["memory"]["read_share"]["value"]);
    CHECK(facts.write_share == file["memory"]["write_share"]["value"]);
    CHECK(facts.launch.gap == parse_span(file["launch"]["gap"]["value"].get<std::string>()));
    CHECK(facts.graph.host == parse_span(file["graph"]["host"]["value"].get<std::string>()));
}

TEST_CASE("each GPU of the catalogue has facts and multiprocessors, and runs what its peaks promise") {
    const Catalogue catalogue = Catalogue::shipped();
    for (const std::string& name : catalogue.names()) {
        INFO(name);
        const Gpu gpu = catalogue.domain(name).instance.gpu;
        const KernelFacts facts = catalogue.kernels(gpu);
        for (const PrecisionKind& row : kPrecisions) {
            if (!gpu.peak.contains(std::string(row.peak))) continue;
            const Gemm gemm{.m = 8192, .n = 8192, .k = 8192, .precision = row.precision};
            const double rate = flops_of(gemm) / seconds(time_of(gemm, gpu, facts).total());
            INFO(row.name);
            CHECK(rate < gpu.peak.at(std::string(row.peak)).value);
            CHECK(rate > 0.5 * gpu.peak.at(std::string(row.peak)).value);
        }
        CHECK(
            time_of(Attention{.heads = 1, .kv_heads = 1, .queries = 1, .keys = 1, .qk_dim = 1, .v_dim = 1}, gpu, facts)
                .compute > SimTime{});
        CHECK(facts.read_share >= facts.write_share);
    }
}

TEST_CASE("a GPU of an unknown generation has no facts") {
    CHECK_THROWS_WITH(Catalogue::shipped().kernels(of_capability(70)),
                      "nothing is known about kernels on g, of compute capability 70");
}

TEST_CASE("a file that is wrong is refused where it is") {
    CHECK(said_to([](json& file) { file["usual_attention"]["value"] = "flash_attention_4"; }) ==
          "kernels/hopper.json:1: /usual_attention/value: expected one of the implementations under \"attention\"; "
          "found \"flash_attention_4\"");
    CHECK(said_to([](json& file) { file["gemm"]["sustained"]["fp8"]["value"] = 1.5; }) ==
          "kernels/hopper.json:1: /gemm/sustained/fp8/value: expected a number above 0 and at most 1; found 1.5");
    CHECK(said_to([](json& file) { file["gemm"]["tiles"]["value"] = json::array({json::array({128})}); }) ==
          "kernels/hopper.json:1: /gemm/tiles/value/0: expected a tile, rows and columns; found a list of 1");
    CHECK(said_to([](json& file) { file["gemm"]["feed"]["value"] = "fast"; }) ==
          "kernels/hopper.json:1: /gemm/feed/value: expected a rate above 0 with a unit, such as \"400 Gb/s\"; found "
          "\"fast\"");
    CHECK(said_to([](json& file) {
              file["attention"]["flash_attention_5"] = file["attention"]["cudnn"];
          }).find("/attention/flash_attention_5: no such key; did you mean \"flash_attention_") != std::string::npos);
    CHECK(said_to([](json& file) { file.erase("ramp"); }).find("expected a key \"ramp\"") != std::string::npos);
}

}  // namespace
}  // namespace fmsim
