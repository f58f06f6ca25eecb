// EFA a tenth slower in the data files: the gate fails on what crosses EFA, says so, and on nothing else.
#include <cmath>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "check_run.hpp"

namespace fmsim::cli {
namespace {

const std::string kSuite = FMSIM_SOURCE_DIR "/workloads/suite.json";

// The catalogue with a value of every EFA generation scaled.
std::shared_ptr<const Catalogue> with_efa(const std::string& key, double factor) {
    auto files = Catalogue::shipped().files();
    for (auto& [name, text] : files) {
        if (!name.starts_with("nics/efa")) continue;
        auto json = nlohmann::ordered_json::parse(text);
        auto& value = json[key]["value"];
        std::size_t used = 0;
        const double number = std::stod(value.get<std::string>(), &used);
        value = std::to_string(number * factor) + value.get<std::string>().substr(used);
        text = json.dump();
    }
    return std::make_shared<Catalogue>(std::move(files));
}

std::vector<Judgement> judged(std::shared_ptr<const Catalogue> catalogue) {
    const GateSuite suite = parse_suite(read_file(kSuite), kSuite);
    ScenarioOptions options;
    options.catalogue = std::move(catalogue);
    return judge(suite, run_suite(suite, {}, options).measured, "2026-11-30");
}

// What the scenarios' names say of where their bytes go.
bool crosses_efa(const Judgement& row) {
    const auto has = [&](const char* word) { return row.scenario.find(word) != std::string::npos; };
    if (has(" x 1 ") || has("nvl72") || has("InfiniBand")) return false;
    return row.metric != "activations 1/time_us" && row.metric != "memory_gib";
}

// A step may hide its exchanges: a scenario that crosses EFA moves, and regresses where that is more than allowed.
constexpr double kAllowedPercent = 0.01;  // by all of the suite

}  // namespace

TEST_CASE("EFA with a tenth less bandwidth in the data regresses what crosses it, by name, and nothing else") {
    std::size_t failed = 0;
    for (const Judgement& row : judged(with_efa("carries", 0.9))) {
        CAPTURE(row.scenario, row.metric, row.reason);
        const bool regresses = crosses_efa(row) && std::abs(*row.percent()) > kAllowedPercent;
        CHECK((row.verdict == Verdict::regressed) == regresses);
        if (crosses_efa(row)) CHECK(*row.measured != row.baseline);
        if (regresses) {
            CHECK_THAT(row.reason, Catch::Contains("EFA bandwidth") && Catch::Contains("makes"));
            ++failed;
        } else if (!crosses_efa(row)) {
            CHECK(*row.measured == row.baseline);
        }
    }
    CHECK(failed > 15);
}

TEST_CASE("a slower message in the data is told apart from a slower link") {
    bool any = false;
    for (const Judgement& row : judged(with_efa("message_cost", 2)))
        if (row.verdict == Verdict::regressed) {
            any = true;
            CHECK_THAT(row.reason, Catch::Contains("EFA message cost"));
            CHECK_THAT(row.reason, !Catch::Contains("EFA bandwidth"));
        }
    CHECK(any);
}

TEST_CASE("with the data as shipped nothing moves") {
    for (const Judgement& row : judged(std::make_shared<Catalogue>(Catalogue::shipped())))
        CHECK(*row.measured == Approx(row.baseline).epsilon(1e-9));
}

}  // namespace fmsim::cli
