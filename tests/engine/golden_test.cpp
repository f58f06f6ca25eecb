// Static flow sets whose finish times an exact rational solver gave and another simulator confirmed
// (tests/data/maxmin-golden.json says how): as they are, shuffled, renamed, and later by 1000 s.
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engine/draft.hpp"
#include "engine/plain_engine.hpp"

namespace fmsim::test {
namespace {

using nlohmann::json;

json golden_cases() {
    std::ifstream file(FMSIM_SOURCE_DIR "/tests/data/maxmin-golden.json");
    return json::parse(file).at("cases");
}

// A flow asks for bandwidth from start_s + latency_s on: that is its delay.
Draft draft_of(const json& golden, SimTime shift = {}) {
    Draft draft;
    std::map<std::string, std::uint32_t> link_at;
    for (const json& link : golden.at("links")) {
        link_at[link.at("id")] = static_cast<std::uint32_t>(draft.capacity.size());
        draft.capacity.push_back(link.at("capacity"));
    }
    for (const json& flow : golden.at("flows")) {
        const double start = flow.at("start_s").get<double>() + flow.value("latency_s", 0.0);
        DraftActivity activity{.delay = shift + from_seconds(start), .work = flow.at("bytes")};
        for (const json& link : flow.at("route")) activity.uses.push_back({{link_at.at(link)}, 1});
        draft.activities.push_back(activity);
    }
    return draft;
}

void check_ends(const json& golden, const Draft& draft, SimTime shift = {}) {
    CAPTURE(golden.at("id"), golden.at("title"));
    const Timeline timeline = run(build(draft));
    const json& expected = golden.at("expected");
    REQUIRE(timeline.unfinished.empty());
    REQUIRE(timeline.ended.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const SimTime finish = from_seconds(expected[i].at("finish_s"));
        CHECK(close(timeline.ended.rows[i] - shift, finish, 2 * expected.size()));
    }
    CHECK(close(timeline.end - shift, from_seconds(golden.at("expected_makespan_s")), 2 * expected.size()));
}

// `beside`, where given, is moved along: row i of it belongs to row i of the array.
void shuffle(Dice& dice, json& array, json* beside = nullptr) {
    std::vector<std::size_t> order(array.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    dice.shuffle(order);
    const auto rearrange = [&order](json& rows) {
        const json before = rows;
        for (std::size_t i = 0; i < order.size(); ++i) rows[i] = before[order[i]];
    };
    rearrange(array);
    if (beside != nullptr) rearrange(*beside);
}

TEST_CASE("all 34 golden cases are there") { CHECK(golden_cases().size() == 34); }

TEST_CASE("golden cases as they are") {
    for (const json& golden : golden_cases()) check_ends(golden, draft_of(golden));
}

TEST_CASE("golden cases with flows and links in another order") {
    Dice dice(11);
    for (json golden : golden_cases()) {
        shuffle(dice, golden["flows"], &golden["expected"]);
        shuffle(dice, golden["links"]);
        for (json& flow : golden["flows"]) shuffle(dice, flow["route"]);
        check_ends(golden, draft_of(golden));
    }
}

TEST_CASE("golden cases with other names") {
    // Names in falling order, so that whoever sorts by name meets them the other way round.
    for (json golden : golden_cases()) {
        std::map<std::string, std::string> renamed;
        const std::size_t links = golden["links"].size();
        for (std::size_t i = 0; i < links; ++i) {
            json& name = golden["links"][i]["id"];
            renamed[name] = "link " + std::to_string(10'000 - i);
            name = renamed[name];
        }
        for (json& flow : golden["flows"])
            for (json& link : flow["route"]) link = renamed.at(link);
        check_ends(golden, draft_of(golden));
    }
}

TEST_CASE("golden cases later by a thousand seconds") {
    const SimTime shift = from_seconds(1000);
    for (const json& golden : golden_cases()) check_ends(golden, draft_of(golden, shift), shift);
}

TEST_CASE("the plain engine agrees with the golden cases too") {
    for (const json& golden : golden_cases()) {
        CAPTURE(golden.at("id"));
        const PlainTimeline plain = run_plainly(build(draft_of(golden)));
        for (std::size_t i = 0; i < plain.ended.size(); ++i) {
            const double finish = golden.at("expected")[i].at("finish_s");
            CHECK(static_cast<double>(plain.ended[i]) == Approx(finish).epsilon(1e-9));
        }
    }
}

}  // namespace
}  // namespace fmsim::test
