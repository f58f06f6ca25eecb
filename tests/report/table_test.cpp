// The three writers of a table.
#include <limits>

#include <catch2/catch.hpp>

#include "table.hpp"

namespace fmsim {
namespace {

Table one_column(std::vector<TableCell> cells, int digits = 5) {
    Table table{.columns = {{.key = "k", .head = "h", .digits = digits}}, .rows = {}};
    for (TableCell& cell : cells) table.rows.push_back({std::move(cell)});
    return table;
}
// As text, without heads and margin.
std::string shown(TableCell cell, int digits = 5) {
    const std::string text = to_text(one_column({std::move(cell)}, digits));
    const auto line = text.find("\n  ") + 3;
    return text.substr(line, text.size() - line - 1);
}

TEST_CASE("words stand left, numbers right, heads behind a hash, without blanks at the end") {
    const Table table{.columns = {{.key = "name", .head = "operation"},
                                  {.key = "time_us", .head = "time", .unit = "(us)"},
                                  {.key = "by", .head = "held by"}},
                      .rows = {{std::string("a"), 1.5, std::string("EFA")}, {std::string("bb"), 1234.0, TableCell{}}}};
    CHECK(to_text(table) ==
          "# operation  time  held by\n"
          "#            (us)\n"
          "  a           1.5  EFA\n"
          "  bb         1234  -\n");
}

TEST_CASE("characters are counted, not bytes") {
    const Table table{.columns = {{.key = "name", .head = "Größe"}, {.key = "n", .head = "µs"}},
                      .rows = {{std::string("∇µ"), std::int64_t{7}}, {std::string("abcdef"), std::int64_t{12}}}};
    CHECK(to_text(table) ==
          "# Größe   µs\n"
          "#\n"
          "  ∇µ       7\n"
          "  abcdef  12\n");
}

TEST_CASE("real numbers have their significant digits and no exponent where people would write none") {
    const auto [value, digits, text] = GENERATE(table<double, int, std::string>({
        {0, 5, "0"},
        {1, 5, "1"},
        {-1.5, 5, "-1.5"},
        {123.456789, 5, "123.46"},
        {123.456789, 3, "123"},
        {1234567, 5, "1234567"},
        {82476.6, 4, "82477"},
        {0.00012345678, 5, "0.00012346"},
        {0.00009, 5, "9.0e-05"},
        {-1e-12, 5, "-1.0e-12"},
        {std::numeric_limits<double>::infinity(), 5, "inf"},
        {std::numeric_limits<double>::quiet_NaN(), 5, "nan"},
    }));
    CHECK(shown(value, digits) == text);
}

TEST_CASE("control characters never reach a terminal, and long words are cut") {
    CHECK(shown(std::string("\x1b[31mred\n\xc2\x9b")) == "\\x1b[31mred\\x0a\\xc2\\x9b");
    CHECK(shown(std::string(200, 'x')) == std::string(80, 'x') + "...");
}

TEST_CASE("a table without rows is its heads") {
    Table table = one_column({});
    CHECK(to_text(table) == "# h\n#\n");
    CHECK(to_csv(table) == "k\n");
    CHECK(to_json(table).dump() == "[]");
}

TEST_CASE("each column says whether it is for people, for programs, or both") {
    const Table table{
        .columns = {{.key = "a", .head = "A", .in_data = false}, {.key = "b", .head = "B", .in_text = false}},
        .rows = {{std::int64_t{1}, std::int64_t{2}}}};
    CHECK(to_text(table) == "# A\n#\n  1\n");
    CHECK(to_csv(table) == "b\n2\n");
    CHECK(to_json(table).dump() == R"([{"b":2}])");
}

TEST_CASE("CSV quotes what would break a row, doubles quotes, and leaves nothing empty") {
    const auto [cell, text] = GENERATE(table<TableCell, std::string>({
        {std::string("plain words"), "plain words"},
        {std::string("a,b"), "\"a,b\""},
        {std::string("say \"x\""), "\"say \"\"x\"\"\""},
        {std::string("two\nlines"), "\"two\nlines\""},
        {std::string("two\r\nlines"), "\"two\r\nlines\""},
        {std::string(), ""},
        {TableCell{}, ""},
        {std::int64_t{-1}, "-1"},
        {0.1, "0.1"},
        {82476.64789, "82476.64789"},
    }));
    CHECK(to_csv(one_column({cell})) == "k\n" + text + "\n");
}

TEST_CASE("JSON has null for nothing, whole numbers whole, and every digit of a real one") {
    const Table table = one_column({TableCell{}, std::int64_t{1} << 62, 0.1, 1.0, std::string("a\"b\n")});
    CHECK(to_json(table).dump() == R"([{"k":null},{"k":4611686018427387904},{"k":0.1},{"k":1.0},{"k":"a\"b\n"}])");
    const double odd = 0.1 + 0.2;
    CHECK(to_json(one_column({odd}))[0]["k"].get<double>() == odd);
    CHECK(to_json(one_column({std::numeric_limits<double>::infinity()})).dump() == R"([{"k":null}])");
}

TEST_CASE("JSON keys come in the order of the columns") {
    const Table table{.columns = {{.key = "z", .head = ""}, {.key = "a", .head = ""}},
                      .rows = {{std::int64_t{1}, std::int64_t{2}}}};
    CHECK(to_json(table).dump() == R"([{"z":1,"a":2}])");
}

}  // namespace
}  // namespace fmsim
