// Bare systems: what they read to, and each refusal.
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"

namespace fmsim {
namespace {

using test::refusal;

// Links ab of 1 GB/s and bc of 2 GB/s, and the given flows.
std::string with(const std::string& flows) {
    return R"({"cases": [{"id": "a", "links": [{"id": "ab", "capacity": 1e9}, {"id": "bc", "capacity": 2000000000}],
        "flows": [)" +
           flows + "]}]}";
}

TEST_CASE("links become resources and flows activities, in the order of the file") {
    const auto cases = parse_solve(with(R"({"id": "f1", "route": ["bc", "ab"], "bytes": 1000},
        {"id": "f0", "route": ["ab"], "bytes": 0.5, "start_s": 1, "latency_s": 1e-6, "x": 1})"),
                                   "s.json");
    REQUIRE(cases.size() == 1);
    CHECK(cases[0].id == "a");
    CHECK(cases[0].flows == std::vector<std::string>{"f1", "f0"});
    const System& system = cases[0].system;
    CHECK(system.capacity.rows == std::vector<double>{1e9, 2e9});
    CHECK(system.work.rows == std::vector<double>{1000, 0.5});
    CHECK(system.delay[{0}] == SimTime{0});
    CHECK(system.delay[{1}] == SimTime{1'000'001'000'000'000});
    REQUIRE(system.uses.of(0).size() == 2);
    CHECK(system.uses.of(0)[0].resource == ResourceId{1});
    CHECK(system.uses.of(0)[1].resource == ResourceId{0});
    CHECK(system.uses.of(1).size() == 1);
}

TEST_CASE("no cases and no flows are sound") {
    CHECK(parse_solve(R"({"cases": []})", "s").empty());
    CHECK(parse_solve(with(""), "s")[0].flows.empty());
}

TEST_CASE("the same names in two cases are no clash") {
    const std::string one = R"({"id": "a", "links": [{"id": "l", "capacity": 1}],
                                "flows": [{"id": "f", "route": ["l"], "bytes": 1}]})";
    CHECK(parse_solve(R"({"cases": [)" + one + "," + one + "]}", "s").size() == 2);
}

TEST_CASE("each refusal says which flow and what is wrong with it") {
    const auto [flow, message] = GENERATE(table<std::string, std::string>({
        {R"("route": ["cd"], "bytes": 1)", R"(/route/0: expected the name of a link; found "cd")"},
        {R"("route": ["ab", "bc", "ab"], "bytes": 1)", R"(/route/2: expected each link once in a route; found "ab")"},
        {R"("route": [], "bytes": 1)", R"(/route: expected a list of one or more link names; found a list of 0)"},
        {R"("route": ["ab"])", R"(: expected a key "bytes": a number of 0 or more; found none)"},
        {R"("route": ["ab"], "bytes": -1)", R"(/bytes: expected a number of 0 or more; found -1)"},
        {R"("route": ["ab"], "bytes": "1 B")", R"(/bytes: expected a number of 0 or more; found "1 B")"},
        {R"("route": ["ab"], "bytes": 1, "start_s": 9224)",
         R"(/start_s: expected a time below 2.56 hours, in seconds; found 9224)"},
        {R"("route": ["ab"], "bytes": 1, "latency_s": 1e300)",
         R"(/latency_s: expected a time below 2.56 hours, in seconds; found 1e+300)"},
        {R"("route": ["ab"], "bytes": 1, "start_s": 9000, "latency_s": 300)",
         R"(/latency_s: expected a start and latency of less than 2.56 hours together; found 300)"},
        {R"("route": ["ab"], "bytes": 1, "start_s": -1)", R"(/start_s: expected a number of 0 or more; found -1)"},
    }));
    CHECK(refusal([&] { parse_solve(with(R"({"id": "f", )" + flow + "}"), "s"); }) ==
          "s:2: /cases/0/flows/0" + message);
}

TEST_CASE("a name twice is refused, of a link and of a flow") {
    CHECK(refusal([] {
              parse_solve(R"({"cases": [{"id": "a", "flows": [], "links": [{"id": "l", "capacity": 1},
                                                                           {"id": "l", "capacity": 2}]}]})",
                          "s");
          }) == R"(s:2: /cases/0/links/1/id: expected a name of its own for each link; found "l")");
    const std::string flow = R"({"id": "f", "route": ["ab"], "bytes": 1})";
    CHECK(refusal([&] { parse_solve(with(flow + ",\n" + flow), "s"); }) ==
          R"(s:3: /cases/0/flows/1/id: expected a name of its own for each flow; found "f")");
}

TEST_CASE("problems of several flows are said together") {
    const std::string message = refusal([] {
        parse_solve(with(R"({"id": "f", "route": ["x", "ab", "y"], "bytes": 1},
            {"id": "g", "route": ["ab", "ab"], "bytes": 1, "start_s": 1e9},
            {"id": "h", "route": ["bc"], "bytes": 1})"),
                    "s");
    });
    CHECK(message ==
          "s:2: /cases/0/flows/0/route/0: expected the name of a link; found \"x\"\n"
          "s:2: /cases/0/flows/0/route/2: expected the name of a link; found \"y\"\n"
          "s:3: /cases/0/flows/1/route/1: expected each link once in a route; found \"ab\"\n"
          "s:3: /cases/0/flows/1/start_s: expected a time below 2.56 hours, in seconds; found 1000000000.0");
}

TEST_CASE("a route over twenty thousand links is read at once") {
    std::string links, route;
    for (int i = 0; i < 20'000; ++i) {
        const std::string name = std::to_string(i);
        const std::string separator = i == 0 ? "" : ",";
        links += separator;
        links += R"({"capacity": 1, "id": "l)";
        links += name;
        links += "\"}";
        route += separator;
        route += "\"l";
        route += name;
        route += '"';
    }
    const auto cases = parse_solve(R"({"cases": [{"id": "a", "links": [)" + links +
                                       R"(], "flows": [{"id": "f", "bytes": 1, "route": [)" + route + "]}]}]}",
                                   "s");
    CHECK(cases[0].system.uses.of(0).size() == 20'000);
}

}  // namespace
}  // namespace fmsim
