// Two outcomes side by side: which rows meet, which part moved, and how that is said.
#include <catch2/catch.hpp>

#include "fmsim/outcome.hpp"

namespace fmsim {
namespace {

OutcomeRow row(const std::string& name, double latency, double bytes, const std::string& bound = "EFA",
               const std::string& how = "Ring Simple") {
    return {name, latency + bytes, {{"latency and filling", latency}, {"bytes", bytes}}, bound, "nic0", how};
}
Outcome outcome(std::vector<OutcomeRow> rows) {
    double all = 0;
    for (const OutcomeRow& one : rows) all += one.seconds;
    return {"it", all, std::move(rows)};
}

}  // namespace

TEST_CASE("the part that moved most is the reason, with its own change and what bounds it") {
    // 1 + 9 -> 1 + 10: the whole grows by a tenth, its bytes by 1/9.
    const Comparison made = compare(outcome({row("a", 1, 9)}), outcome({row("a", 1, 10)}));
    REQUIRE(made.rows.size() == 1);
    CHECK(made.rows[0].moved == "bytes");
    CHECK(made.rows[0].moved_seconds == Approx(1));
    CHECK(*made.rows[0].percent() == Approx(10));
    CHECK(made.rows[0].reason() == "bytes +11.11 %, EFA");
    CHECK(made.reason() == "a: bytes +11.11 %, EFA");
    CHECK(*made.percent() == Approx(10));
}

TEST_CASE("what bounds it and how it is done are named before and after where they differ") {
    const Comparison made = compare(outcome({row("a", 1, 9)}), outcome({row("a", 4, 2, "latency", "Tree LL")}));
    CHECK(made.rows[0].reason() == "bytes -77.78 %, EFA -> latency, Ring Simple -> Tree LL");
}

TEST_CASE("rows meet by name and number, and those that only one has are said to be alone") {
    const Comparison made = compare(outcome({row("a", 1, 1), row("a", 1, 2), row("b", 1, 1)}),
                                    outcome({row("a", 1, 1), row("c", 1, 1), row("a", 1, 3)}));
    REQUIRE(made.rows.size() == 4);
    CHECK(made.rows[0].same());
    CHECK(made.rows[1].after->seconds == 4);
    CHECK(made.rows[2].reason() == "only before");
    CHECK(made.rows[3].reason() == "only after");
    CHECK(made.rows[3].name == "c");
}

TEST_CASE("what differs by less than a part in 10^9 is the same, and has no reason") {
    const Comparison made = compare(outcome({row("a", 1, 1)}), outcome({row("a", 1, 1 + 1e-10)}));
    CHECK(made.same());
    CHECK(made.reason().empty());
    CHECK_FALSE(compare(outcome({row("a", 1, 1)}), outcome({row("a", 1, 1 + 1e-6)})).same());
    CHECK_FALSE(compare(outcome({row("a", 1, 1)}), outcome({row("a", 1, 1), row("b", 0, 0)})).same());
}

TEST_CASE("of many rows the one that moved most gives the reason") {
    const Comparison made = compare(outcome({row("a", 1, 9), row("b", 1, 100, "NVLink")}),
                                    outcome({row("a", 1, 18), row("b", 1, 104, "NVLink")}));
    CHECK(made.reason() == "a: bytes +100 %, EFA");
}

}  // namespace fmsim
