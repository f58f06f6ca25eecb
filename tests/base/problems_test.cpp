// Messages about bad input: where, what was expected, what was found, and nothing that a terminal would obey.
#include <catch2/catch.hpp>

#include "fmsim/base.hpp"

namespace fmsim {
namespace {

TEST_CASE("a problem is one line: place, what belongs there, what was found") {
    const auto [problem, text] = GENERATE(table<Problem, std::string>({
        {{"p5.json", 12, "/nics/3/rate", "expected a rate with a unit, such as \"400 Gb/s\"", "400"},
         "p5.json:12: /nics/3/rate: expected a rate with a unit, such as \"400 Gb/s\"; found 400"},
        {{"p5.json", 0, "/nics", "no such key", ""}, "p5.json: /nics: no such key"},
        {{"p5.json", 7, "", "not JSON", ""}, "p5.json:7: not JSON"},
        {{"", 0, "--bytes", "expected a size", "lots"}, "--bytes: expected a size; found lots"},
        {{"", 0, "", "expected a size", ""}, "expected a size"},
        {{"a\nb.json", 1, "/\x1b", "expected a size", "\r"}, "a\\x0ab.json:1: /\\x1b: expected a size; found \\x0d"},
    }));
    CHECK(to_text(problem) == text);
}

TEST_CASE("an input error says all its problems, a line each") {
    const InputError error({{"a.json", 1, "", "expected a size", "x"}, {"a.json", 2, "", "expected a rate", "y"}});
    CHECK(error.problems.size() == 2);
    CHECK(std::string(error.what()) == "a.json:1: expected a size; found x\na.json:2: expected a rate; found y");
    CHECK(std::string(InputError({}).what()).empty());
}

TEST_CASE("control characters are shown, not obeyed") {
    const auto [text, shown] = GENERATE(table<std::string, std::string>({
        {"", ""},
        {"plain text, \"quoted\" \\", "plain text, \"quoted\" \\"},
        {"two\nlines\tand a tab", "two\\x0alines\\x09and a tab"},
        {std::string("a\0b", 3), "a\\x00b"},
        {"\x1b[31mred\x7f", "\\x1b[31mred\\x7f"},
        {"\xc2\x9b"
         "31mred",
         "\\xc2\\x9b"
         "31mred"},  // U+009B is an escape sequence in one character
        {"µ, 10 €, 日本", "µ, 10 €, 日本"},
        {"\xc2", "\\xc2"},  // half a character
        {"\x9b"
         "31mred \xff\xe2\x82 \xc0\x80",
         "\\x9b"
         "31mred \\xff\\xe2\\x82 \\xc0\\x80"},
    }));
    CHECK(printable(text) == shown);
}

TEST_CASE("long text is cut at 80 bytes, and never inside a character") {
    const std::string a79(79, 'a');
    CHECK(printable(a79 + "b") == a79 + "b");
    CHECK(printable(a79 + "bc") == a79 + "b...");
    CHECK(printable(std::string(100'000, 'x')).size() == 83);
    // µ has two bytes, € three, 😀 four: the cut falls after the first of them.
    CHECK(printable(a79 + "µ") == a79 + "...");
    CHECK(printable(a79 + "€") == a79 + "...");
    CHECK(printable(a79 + "😀") == a79 + "...");
    CHECK(printable(std::string(77, 'a') + "😀") == std::string(77, 'a') + "...");
}

TEST_CASE("the nearest known word is offered when it may have been meant") {
    const std::vector<std::string> known{"nics", "nvlink", "gpus", "instances"};
    const auto [word, meant] = GENERATE(table<std::string, std::optional<std::string>>({
        {"nisc", "nics"},
        {"nic", "nics"},
        {"gpu", "gpus"},
        {"NICs", std::nullopt},  // three letters of four differ
        {"instnaces", "instances"},
        {"instances", "instances"},
        {"bandwidth", std::nullopt},
        {std::string(100'000, 'n'), std::nullopt},
    }));
    CAPTURE(word);
    CHECK(nearest(word, known) == meant);
    CHECK_FALSE(nearest(word, {}));
}

}  // namespace
}  // namespace fmsim
