#include <catch2/catch.hpp>

#include "hostlist.hpp"

using namespace fmsim;

TEST_CASE("names that differ in their last number fold, in order") {
    const auto [names, text] = GENERATE(table<std::vector<std::string>, std::string>({
        {std::vector<std::string>{}, ""},
        {{"a"}, "a"},
        {{"n1"}, "n1"},
        {{"n001", "n002", "n003", "n020"}, "n[001-003,020]"},
        {{"n9", "n10", "n11"}, "n[9-11]"},
        {{"n09", "n10", "n9"}, "n[09-10,9]"},
        {{"n2", "n1"}, "n[2,1]"},
        {{"r1n1", "r1n2", "r2n1", "r2n2"}, "r1n[1-2],r2n[1-2]"},
        {{"a1", "login", "a2"}, "a1,login,a2"},
        {{"1", "2"}, "1,2"},
        {{"n099", "n100", "n0101"}, "n[099-100,0101]"},
        {{"n1234567890123456789", "n1234567890123456790"}, "n1234567890123456789,n1234567890123456790"},
    }));
    CHECK(hostlist(names) == text);
}
