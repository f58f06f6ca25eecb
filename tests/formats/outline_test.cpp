// The look over a JSON text: syntax, depth, keys given twice, and lines.
#include <chrono>

#include <catch2/catch.hpp>

#include "outline.hpp"

namespace fmsim {
namespace {

std::size_t line_of(const std::string& text, const std::string& pointer) {
    std::vector<Problem> problems{{.file = "t.json", .pointer = pointer}};
    add_lines(problems, text);
    return problems.front().line;
}

// The only problem of a text.
Problem problem_of(const std::string& text) {
    const auto problems = outline_problems(text, "t.json");
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().file == "t.json");
    return problems.front();
}

TEST_CASE("a sound text has no problems") {
    const std::string text =
        GENERATE("{}", "[]", " 1 ", "\"x\"", "null", "{\"a\": [1, -2, 3.5e3, {\"a\": {}}], \"b\": true}",
                 "{\"a\": {\"a\": 1}, \"b\": {\"a\": 2}}", "\xef\xbb\xbf{}");
    CHECK(outline_problems(text, "t.json").empty());
}

TEST_CASE("a value has the line it begins in, at a line's end too") {
    const std::string text =
        "{\n"              // 1
        "  \"a\": 1,\n"    // 2
        "  \"b\": [10,\n"  // 3
        "    20\n"         // 4
        "  , 30],\n"       // 5
        "  \"c\": {\n"     // 6
        "    \"d\": -4\n"  // 7
        "  },\n"           // 8
        "  \"e\":\n"       // 9
        "    \"x\"\n"      // 10
        "}\n";
    const auto [pointer, line] = GENERATE(table<std::string, std::size_t>({
        {"", 1},
        {"/a", 2},
        {"/b", 3},
        {"/b/0", 3},
        {"/b/1", 4},
        {"/b/2", 5},
        {"/c", 6},
        {"/c/d", 7},
        {"/e", 9},          // a member begins with its key
        {"/c/missing", 6},  // what is missing has the line of what is around it
        {"/missing", 1},
        {"/b/7/x/y", 3},
    }));
    CAPTURE(pointer);
    CHECK(line_of(text, pointer) == line);
}

TEST_CASE("pointers find keys with slashes, tildes, and none at all") {
    const std::string text = "{\n\"a/b\": 1,\n\"c~d\": 2,\n\"\": {\n\"\": 3}}";
    CHECK(line_of(text, "/a~1b") == 2);
    CHECK(line_of(text, "/c~0d") == 3);
    CHECK(line_of(text, "/") == 4);
    CHECK(line_of(text, "//") == 5);
}

TEST_CASE("one look gives all problems their lines and keeps those that have one") {
    std::vector<Problem> problems{{.file = "t.json", .pointer = "/1"},
                                  {.file = "t.json", .line = 9, .pointer = "/0"},
                                  {.file = "t.json", .pointer = "/0"},
                                  {.file = "t.json", .pointer = "/1"}};
    add_lines(problems, "[1,\n2]");
    CHECK(problems[0].line == 2);
    CHECK(problems[1].line == 9);
    CHECK(problems[2].line == 1);
    CHECK(problems[3].line == 2);
}

TEST_CASE("a key twice in one object is a problem, with the line of the second") {
    const Problem problem = problem_of("{\"a\": {\"b\": 1,\n\"c\": 2,\n\"b\": 3}}");
    CHECK(problem.line == 3);
    CHECK(problem.pointer == "/a/b");
    CHECK(problem.expected == "expected each key once");
    CHECK(problem.found == "b");
}

TEST_CASE("all keys given twice are said, up to a hundred") {
    CHECK(outline_problems("{\"a\": 1, \"a\": 2, \"b\": 1, \"b\": 2, \"a\": 3}", "t.json").size() == 3);
    std::string many = "{\"a\": 0";
    for (int i = 0; i < 1000; ++i) many += ", \"a\": 0";
    CHECK(outline_problems(many + "}", "t.json").size() == kMostProblems);
}

TEST_CASE("64 levels are fine, one more is not") {
    const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
    CHECK(outline_problems(nested(64), "t.json").empty());
    CHECK(problem_of(nested(65)).expected == "expected at most 64 levels of nesting");
}

TEST_CASE("what is no JSON is refused with line, place and what stands there") {
    const auto [text, line, pointer, found] = GENERATE(table<std::string, std::size_t, std::string, std::string>({
        {"", 1, "", "unexpected end of input; expected '[', '{', or a literal"},
        {"\n \n", 2, "", "unexpected end of input; expected '[', '{', or a literal"},
        {"{\"a\":\n [1,\n 2", 3, "/a/1", "unexpected end of input; expected ']'"},
        {"{\"a\": NaN}", 1, "/a", "invalid literal; last read: '\"a\": N'"},
        {"[1e400]", 1, "", "number overflow parsing '1e400'"},
        {"{}\n{}", 2, "", "unexpected '{'; expected end of input"},
        {"{\"a\": 1,}", 1, "/a", "unexpected '}'; expected string literal"},
        {"{'a': 1}", 1, "", "invalid literal; last read: '{''; expected string literal"},
        {"[\"\xff\"]", 1, "", "invalid string: ill-formed UTF-8 byte; last read: '\"\xff'"},
        {std::string("\x7f"
                     "ELF\0\1",
                     6),
         1, "", "invalid literal; last read: '\x7f'"},
    }));
    CAPTURE(text);
    const Problem problem = problem_of(text);
    CHECK(problem.expected == "expected JSON");
    CHECK(problem.line == line);
    CHECK(problem.pointer == pointer);
    CHECK(problem.found == found);
}

TEST_CASE("a bomb is refused at once, however large") {
    // A deep one stops at level 65, a wide one at the two-millionth value; neither becomes values.
    const auto start = std::chrono::steady_clock::now();
    CHECK(problem_of(std::string(100'000'000, '[')).expected == "expected at most 64 levels of nesting");
    std::string wide = "[[]";
    wide.reserve(9'000'000);
    for (int i = 0; i < 2'500'000; ++i) wide += ",[]";
    CHECK(problem_of(wide).expected == "expected at most 2000000 values");
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("a long key does not slow down the lines of what is under it") {
    // 2 MB of key times 300'000 values: a pointer built for each would be 600 GB of copies.
    const std::string key(2'000'000, 'k');
    std::string text = "{\"" + key + "\": [0";
    for (int i = 0; i < 300'000; ++i) text += ",0";
    text += "],\n\"b\": 1}";
    std::vector<Problem> problems{{.file = "t.json", .pointer = "/" + key}, {.file = "t.json", .pointer = "/b"}};
    add_lines(problems, text);
    CHECK(problems[0].line == 1);
    CHECK(problems[1].line == 2);
}

}  // namespace
}  // namespace fmsim
