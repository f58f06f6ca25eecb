// The gate's formats: golden files of one report with every verdict, and the limits of those who read them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "fmsim/report.hpp"
#include "support/golden.hpp"

namespace fmsim {
namespace {

Judgement row(const std::string& scenario, Verdict verdict, double measured) {
    return {.scenario = scenario,
            .metric = "time_us",
            .verdict = verdict,
            .measured = measured,
            .baseline = 4000,
            .limit = 4040,
            .reason = verdict == Verdict::within ? "" : "EFA bandwidth 11 GB/s -> 9.9 GB/s makes 100 % of it",
            .allowance = "",
            .line = 12};
}

// Names that would break a table, a command, a tag or a terminal.
GateReport report() {
    GateReport made{.name = "our | cluster",
                    .file = "work loads/suite.json",
                    .today = "2026-11-30",
                    .changes = {"efa.bandwidth*0.9"},
                    .scenarios = 5,
                    .judgements = {row("p5 x 2, all_reduce: 1 GiB", Verdict::regressed, 4444.5),
                                   row("<b>&\"100 %\"\x1b[31m\nnext", Verdict::regressed, 5000),
                                   row("two p5en", Verdict::improved, 3600), row("h\xc3\xb6her", Verdict::within, 4010),
                                   row("known", Verdict::allowed, 4100)},
                    .provenance = {"0.1.0", "0123456789abcdef", "fedcba9876543210", {}, {}}};
    made.judgements.push_back(row("gone", Verdict::missing, 0));
    made.judgements.back().measured.reset();
    made.judgements.back().reason = "the results have no such metric";
    made.judgements[4].allowance = "until 2027-01-31: new driver";
    return made;
}

GateReport many(std::size_t count, Verdict verdict) {
    GateReport made = report();
    made.judgements.clear();
    for (std::size_t i = 0; i < count; ++i)
        made.judgements.push_back(row("scenario " + std::to_string(i), verdict, 5000));
    return made;
}

std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("every format of the gate is as it was agreed, and the same each time") {
    const auto [format, file] = GENERATE(table<GateFormat, std::string>({
        {GateFormat::text, "gate/report.txt"},
        {GateFormat::json, "gate/report.json"},
        {GateFormat::junit, "gate/report.xml"},
        {GateFormat::sarif, "gate/report.sarif"},
        {GateFormat::github, "gate/report.github"},
        {GateFormat::md, "gate/report.md"},
    }));
    const std::string text = write(report(), format);
    CHECK(text == write(report(), format));
    test::check_golden(file, text);
}

TEST_CASE("JUnit's XML is well formed, and counts what it lists") {
    pugi::xml_document document;
    REQUIRE(document.load_string(write(report(), GateFormat::junit).c_str()));
    const pugi::xml_node suite = document.child("testsuites").child("testsuite");
    CHECK(suite.attribute("tests").as_int() == 6);
    CHECK(suite.attribute("failures").as_int() == 3);
    CHECK(suite.attribute("skipped").as_int() == 1);
    CHECK(std::distance(suite.begin(), suite.end()) == 6);
    CHECK(document.select_nodes("//failure").size() == 3);
    CHECK(document.select_nodes("//skipped").size() == 1);
}

TEST_CASE("SARIF names its rules, and no more results than GitHub shows") {
    const auto json = nlohmann::json::parse(write(many(6000, Verdict::regressed), GateFormat::sarif));
    CHECK(json["version"] == "2.1.0");
    const auto& run = json["runs"][0];
    CHECK(run["results"].size() == 5000);
    CHECK_THAT(run["results"][4999]["message"]["text"].get<std::string>(), Catch::Contains("1001 more"));
    for (const auto& result : run["results"]) {
        const auto index = result["ruleIndex"].get<std::size_t>();
        CHECK(run["tool"]["driver"]["rules"][index]["id"] == result["ruleId"]);
        CHECK(result["locations"][0]["physicalLocation"]["region"]["startLine"] == 12);
    }
    CHECK(nlohmann::json::parse(write(many(3, Verdict::within), GateFormat::sarif))["runs"][0]["results"].empty());
}

TEST_CASE("annotations are at most ten of a kind, on one line each, with the rest counted") {
    const std::string text = write(many(25, Verdict::regressed), GateFormat::github);
    CHECK(count_of(text, "::error ") == 10);
    CHECK_THAT(text, Catch::Contains("16 more metrics regressed"));
    CHECK(count_of(write(many(10, Verdict::regressed), GateFormat::github), "more") == 0);
    GateReport large = many(1, Verdict::allowed);
    large.judgements[0].reason = std::string(100'000, 'x');
    CHECK(write(large, GateFormat::github).size() < 5000);
}

TEST_CASE("a summary page stays below 1 MiB and keeps what failed") {
    GateReport large = many(20'000, Verdict::within);
    large.judgements.push_back(row("the one that failed", Verdict::regressed, 5000));
    const std::string page = write(large, GateFormat::md);
    CHECK(page.size() < 1024 * 1024);
    CHECK_THAT(page, Catch::Contains("the one that failed") && Catch::Contains("did not fit"));
}

}  // namespace fmsim
