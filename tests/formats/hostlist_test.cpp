#include "hostlist.hpp"

#include <catch2/catch.hpp>

#include "formats/refusal.hpp"

using namespace fmsim;
using test::refusal;

namespace {

using Names = std::vector<std::string>;

Names expand(std::string_view text) { return expand_hosts(text, {"topology.conf", 3, "leaf1", "", ""}); }

}  // namespace

TEST_CASE("a hostlist becomes names, in order") {
    const auto [text, names] = GENERATE(table<std::string, Names>({
        {"a", {"a"}},
        {"a,b.c-d,7", {"a", "b.c-d", "7"}},
        {"n[1-3]", {"n1", "n2", "n3"}},
        {"n[008-010,020]", {"n008", "n009", "n010", "n020"}},
        {"n[9-11]", {"n9", "n10", "n11"}},
        {"n[08-100]x",
         [] {
             Names all;
             for (int i = 8; i <= 100; ++i)
                 all.push_back("n" + std::string(i < 10 ? "0" : "") + std::to_string(i) + "x");
             return all;
         }()},
        {"r[1-2]n[01-02],login", {"r1n01", "r1n02", "r2n01", "r2n02", "login"}},
        {"n[00,0-1]", {"n00", "n0", "n1"}},
    }));
    CHECK(expand(text) == names);
}

TEST_CASE("what is no hostlist is refused at its character") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {"", "expected a host name, at character 1"},
        {"a,", "expected a host name, at character 3"},
        {"a,,b", "expected a host name, at character 3"},
        {"a b", "expected a host name without blanks, quotes or control characters, at character 2"},
        {"n]", "expected a \"[\" before a \"]\", at character 2"},
        {"n[1-2", "expected a \"]\", at character 6"},
        {"n[]", "expected a number of 1 to 18 digits, at character 3"},
        {"n[1-]", "expected a number of 1 to 18 digits, at character 5"},
        {"n[1[2]]", "expected a \"]\", at character 4"},
        {"n[3-1]", "expected a range that rises, at character 6"},
        {"n[1-010]", "expected the same leading zeros at both ends of a range, at character 8"},
        {"n[1111111111111111111]", "expected a number of 1 to 18 digits, at character 3"},
        {"a[1]b[1]c[1]d[1]e[1]f[1]g[1]h[1]i[1]", "expected at most 8 brackets in a name"},
    }));
    INFO(text);
    CHECK(refusal([&, t = text] { expand(t); }).starts_with("topology.conf:3: leaf1: " + message));
}

TEST_CASE("a hostlist gives a million names and not one more") {
    CHECK(expand("n[0-999][0-999]").size() == 1'000'000);
    const auto text = GENERATE("n[1-1000001]", "n[0-999][0-1000]", "n[1-1000000],a", "n[1-999999999999999999]",
                               "n[1-9999999][1-9999999][1-9999999]");
    CHECK(refusal([&] { expand(text); }).find("expected at most 1000000 hosts") != std::string::npos);
}
