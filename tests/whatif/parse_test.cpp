// The words of a change: what they mean, and what is said of those that mean nothing.
#include <catch2/catch.hpp>

#include "fmsim/whatif.hpp"

namespace fmsim {

TEST_CASE("a change of a kind of thing has a property, an operator and an amount in base units") {
    const Change twice = parse_change("efa.bandwidth*2");
    CHECK(twice.thing == "efa");
    CHECK(twice.property == "bandwidth");
    CHECK(twice.op == ChangeOperator::scale);
    CHECK(twice.number == 2);
    const auto [text, op, number] = GENERATE(table<std::string, ChangeOperator, double>({
        {"nvlink.latency+1us", ChangeOperator::add, 1e-6},
        {"nvlink.latency - 500 ns", ChangeOperator::add, 0},  // blanks before the operator are refused below
        {"nvlink.latency-500ns", ChangeOperator::add, -5e-7},
        {"gpu.memory_bandwidth*1.1", ChangeOperator::scale, 1.1},
        {"gpu.flops.bf16=1PFLOP/s", ChangeOperator::set, 1e15},
        {"efa.bandwidth-10%", ChangeOperator::scale, 0.9},
        {"efa.bandwidth= 50 GB/s", ChangeOperator::set, 5e10},
        {"efa.bandwidth/4", ChangeOperator::scale, 0.25},
        {"network.oversubscription=2", ChangeOperator::set, 2},
    }));
    if (text.find(" -") != std::string::npos) {
        CHECK_THROWS_AS(parse_change(text), InputError);
        return;
    }
    CHECK(parse_change(text).op == op);
    CHECK(parse_change(text).number == Approx(number));
}

TEST_CASE("one device is named by its number, or by instance and number") {
    const Change down = parse_change("nic[3,7].down");
    CHECK(down.index == std::vector<std::uint32_t>{3, 7});
    CHECK(down.number == 0);
    CHECK(down.op == ChangeOperator::set);
    const Change slow = parse_change("gpu[12].speed=0.8");
    CHECK(slow.index == std::vector<std::uint32_t>{12});
    CHECK(slow.number == 0.8);
}

TEST_CASE("words have a value as it stands, and some are of the command line") {
    CHECK(parse_change("placement=random:7").word == "random:7");
    CHECK(is_scenario_word(parse_change("placement=random:7")));
    CHECK(is_scenario_word(parse_change("NCCL_ALGO=allreduce:ring")));
    CHECK_FALSE(is_scenario_word(parse_change("rail_policy=even")));
    CHECK_FALSE(is_scenario_word(parse_change("efa.bandwidth*2")));
}

TEST_CASE("what means nothing is refused with its column and the nearest known name") {
    const auto [text, column, reason] = GENERATE(table<std::string, std::string, std::string>({
        {"eaf.bandwidth*2", "column 1", "did you mean \"efa\"?"},
        {"efa.bandwith*2", "column 5", "did you mean \"bandwidth\"?"},
        {"efa.bandwidth2*2", "column 5", "did you mean \"bandwidth\"?"},
        {"efa", "column 4", "a property of efa"},
        {"efa.bandwidth", "column 14", "* / + - ="},
        {"efa.bandwidth*fast", "column 15", "a number"},
        {"efa.bandwidth*", "column 15", "a number"},
        {"efa.bandwidth*-1", "column 15", "a number"},
        {"efa.bandwidth=50", "column 15", "a rate with a unit"},
        {"nvlink.latency+1", "column 16", "a time with a unit"},
        {"efa[1].down", "column 4", "has no numbers"},
        {"nic[a].down", "column 5", "a number of nic"},
        {"nic[1,2.down", "column 8", "expected ']'"},
        {"nic[1].down=3", "column 12", "nothing after"},
        {"nic[1].dwon", "column 8", "did you mean \"down\"?"},
        {"nic.down", "column 5", "nic[0,1].down"},
        {"gpu[1].speed=1.5", "column 14", "0 to 1"},
        {"switch.speed=1", "column 8", "needs a number"},
        {"placment=linear", "column 1", "did you mean \"placement\"?"},
        {"placement", "column 10", "expected '='"},
        {"placement=", "column 11", "expected a value"},
        {"rail_policy=evn", "column 13", "did you mean \"even\"?"},
        {"", "column 1", "a kind of thing"},
        {"\x1b[31m", "column 1", "a kind of thing"},
    }));
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_change(text), Catch::Contains(column) && Catch::Contains(reason));
}

}  // namespace fmsim
