// --what-if and compare, as people ask them (S06, S07, S22 of the cases).
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
using Strings = std::vector<std::string>;

std::string output_of(const Strings& words, const std::string& input = "") {
    const Ended ended = run_program({.arguments = words, .input = input});
    CAPTURE(ended.errors);
    REQUIRE(ended.code == 0);
    return ended.output;
}
json report_of(Strings words, const std::string& input = "") {
    words.insert(words.end(), {"--format", "json"});
    return json::parse(output_of(words, input));
}

const std::string kOverlap = FMSIM_SOURCE_DIR "/workloads/overlap.json";

std::string groups_of(int size) {
    return R"({"groups": {"tp": {"size": )" + std::to_string(size) +
           R"(, "stride": 1}}, "operations": [{"name": "sum", "collective": "all_reduce", "size": "64 MiB", "group": "tp"}]})";
}

}  // namespace

TEST_CASE("what if, as text, JSON and CSV") {
    const Strings words{"run", kOverlap, "--cluster", "p5en.48xlarge:4", "--what-if", "efa.bandwidth-10%"};
    for (const std::string format : {"text", "json", "csv"}) {
        Strings with = words;
        with.insert(with.end(), {"--format", format});
        const std::string text = output_of(with);
        CHECK(text == output_of(with));
        // Hashes change with every file of the catalogue.
        if (format != "json") check_golden("cli/what_if." + std::string(format == "text" ? "txt" : "csv"), text);
    }
    const json report = report_of(words);
    CHECK(report["same"] == false);
    CHECK_THAT(report["reason"].get<std::string>(), Contains("EFA"));
}

TEST_CASE("one EFA device slow or gone, by rail policy: 1/2, 15.5/16, 15/16") {
    const Strings all_reduce{"collective", "all_reduce", "--cluster", "p5en.48xlarge:16", "--sizes",
                             "64GiB",      "--proto",    "Simple",    "--algo",           "Ring"};
    const auto with = [&](Strings changes) {
        Strings words = all_reduce;
        for (const std::string& change : changes) words.insert(words.end(), {"--what-if", change});
        return report_of(words);
    };
    // SMs are no limit, so that the network is.
    const double sound = with({"gpu.copy_rate*100"})["rows"][0]["after_us"];
    const json half = with({"gpu.copy_rate*100", "nic[3,5].speed=0.5"});
    const json& policies = half["rail_policies"][0];
    CHECK(sound / policies["keep_us"].get<double>() == Approx(0.5).epsilon(0.02));
    CHECK(sound / policies["even_us"].get<double>() == Approx(15.5 / 16).epsilon(0.01));
    CHECK(half["rows"][0]["after_us"] == policies["keep_us"]);
    CHECK_THAT(half["notes"].dump(), Contains("rail policy keep"));
    CHECK_THAT(half["rows"][0]["busiest_after"].get<std::string>(), Contains("p5en.48xlarge[3]/nic5"));

    const json down = with({"gpu.copy_rate*100", "nic[3,5].down"});
    CHECK(down["rail_policies"][0]["keep_us"] == "never ends");
    CHECK(sound / down["rail_policies"][0]["even_us"].get<double>() == Approx(15.0 / 16).epsilon(0.01));
    CHECK(sound / down["rail_policies"][0]["neighbour_us"].get<double>() == Approx(0.5).epsilon(0.02));
    CHECK_THAT(down["notes"].dump(), Contains("rail policy even"));
}

TEST_CASE("a fault on a machine outside the job changes nothing: 0 bytes") {
    const json report = report_of({"collective", "all_reduce", "--cluster", "p5en.48xlarge:16", "--gpus", "64",
                                   "--sizes", "1GiB", "--what-if", "nic[12,5].speed=0.5"});
    CHECK(report["same"] == true);
    CHECK_THAT(report["notes"].dump(), Contains("no effect: 0 bytes"));
}

TEST_CASE("tensor parallel inside a machine: the fabric cannot matter; across two it does") {
    for (const std::string machines : {"4", "8"}) {
        const json inside = report_of(
            {"run", "-", "--cluster", "p5en.48xlarge:" + machines, "--what-if", "efa.bandwidth*2"}, groups_of(8));
        CHECK(inside["same"] == true);
        CHECK_THAT(inside["notes"].dump(), Contains("efa.bandwidth*2: no effect: 0 bytes"));
    }
    const json at_32 = report_of({"run", "-", "--cluster", "p5en.48xlarge:4"}, groups_of(8));
    const json at_64 = report_of({"run", "-", "--cluster", "p5en.48xlarge:8"}, groups_of(8));
    CHECK(at_32["time_s"] == at_64["time_s"]);
    const json across =
        report_of({"run", "-", "--cluster", "p5en.48xlarge:4", "--what-if", "efa.bandwidth*2"}, groups_of(16));
    CHECK(across["before"]["time_s"].get<double>() > at_32["time_s"].get<double>());
    CHECK(across["after"]["time_s"].get<double>() < across["before"]["time_s"].get<double>());
    CHECK(across["notes"].empty());
}

TEST_CASE("two racks: a limit of the fabric moves with its layers, one of the placement with who crosses them") {
    // a, b on leaf 0, c, d on leaf 1; four to one. Of four jobs of two machines each, those on one leaf cross nothing.
    const TemporaryFolder folder;
    const std::string cluster = folder.file("racks.json", R"({"domains": [{"type": "hgx-h100-8x400", "count": 4}],
        "network": {"layers": [{"name": "leaf", "children": 2, "oversubscription": 4, "uplinks": 16}]}})");
    const Strings pair{"collective", "all_reduce", "--cluster", cluster, "--gpus",  "16",
                       "--sizes",    "1GiB",       "--algo",    "Ring",  "--proto", "Simple"};
    const auto ask = [&](const std::string& placement, const std::string& change) {
        Strings words = pair;
        words.insert(words.end(), {"--placement", placement, "--what-if", change});
        return report_of(words);
    };
    // Spread over leaves: both a wider fabric and a closer placement help. Packed: the fabric does not matter.
    const json fabric = ask("spread", "network.oversubscription=1");
    const json closer = ask("spread", "placement=packed");
    CHECK(fabric["change_percent"].is_null());  // a sweep has no whole
    CHECK(fabric["rows"][0]["change_percent"].get<double>() < -30);
    CHECK(closer["rows"][0]["change_percent"].get<double>() < -30);
    CHECK(ask("packed", "network.oversubscription=1")["same"] == true);
    // Sprayed packets do not collide; hashed flows do, the same for one seed.
    const json hashed = ask("spread", "spreading=hash");
    CHECK(hashed["rows"][0]["change_percent"].get<double>() >= 0);
    CHECK(ask("spread", "spreading=hash") == hashed);
}

TEST_CASE("a saved result and a fresh one are compared alike") {
    const TemporaryFolder folder;
    const std::string plan = FMSIM_SOURCE_DIR "/workloads/llama3-8b-p5-4.json";
    for (const auto& [file, cluster] :
         {std::pair<std::string, std::string>{kOverlap, "p5en.48xlarge:4"}, {plan, "p5.48xlarge:4"}}) {
        const std::string saved =
            folder.file("saved.json", output_of({"run", file, "--cluster", cluster, "--format", "json"}));
        const json same = report_of({"compare", saved, cluster + "+" + file});
        CHECK(same["same"] == true);
        CHECK(same["before"]["time_s"] == same["after"]["time_s"]);
    }
    const std::string sweep = folder.file(
        "sweep.json",
        output_of({"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--sizes", "8,1GiB", "--format", "json"}));
    CHECK(report_of({"compare", sweep, sweep})["same"] == true);
    const std::string other = output_of({"compare", "p5.48xlarge:2+" + kOverlap, "p5en.48xlarge:2+" + kOverlap});
    CHECK_THAT(other, Contains("gradients 1") && Contains("EFA"));
    CHECK(fmsim({"compare", sweep, folder.file("x.json", R"({"schema_version": 1, "fmsim_version": "0"})")}).code == 3);
}

TEST_CASE("a change that makes no sense is refused with its column, all of them at once") {
    const Ended ended = fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--what-if", "efa.bandwith*2",
                               "--what-if", "nvlnk.latency+1us"});
    CHECK(ended.code == 2);
    CHECK_THAT(ended.errors, Contains("column 5") && Contains("\"bandwidth\"") && Contains("\"nvlink\""));
    CHECK(fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--what-if", "nic[2,0].down"}).code == 2);
    CHECK(fmsim({"collective", "all_reduce", "--cluster", "p5.48xlarge:2", "--what-if", "gpus=many"}).code == 2);
}

}  // namespace fmsim::test
