// Families of groups: every rank where it belongs, by hand and by what must hold for all of them.
#include <catch2/catch.hpp>

#include "families.hpp"

namespace fmsim {
namespace {

using Ranks = std::vector<std::uint32_t>;

TEST_CASE("size and stride cut the ranks as Megatron does") {
    const GroupFamily tensor{.name = "tp", .size = 4, .stride = 1}, data{.name = "dp", .size = 4, .stride = 2};
    const Family tp(tensor, 16), dp(data, 16);
    CHECK(tp.groups() == 4);
    CHECK(tp.members(1) == Ranks{4, 5, 6, 7});
    CHECK(dp.groups() == 4);
    CHECK(dp.members(0) == Ranks{0, 2, 4, 6});
    CHECK(dp.members(1) == Ranks{1, 3, 5, 7});
    CHECK(dp.members(2) == Ranks{8, 10, 12, 14});
    CHECK(dp.members(3) == Ranks{9, 11, 13, 15});
}

TEST_CASE("each rank is a member of the group that it is said to be in, and of no other") {
    const auto [ranks, size, stride] = GENERATE(table<std::uint32_t, std::uint32_t, std::uint32_t>(
        {{1, 0, 1}, {7, 0, 1}, {8, 8, 1}, {24, 2, 3}, {24, 3, 2}, {24, 24, 1}, {24, 1, 24}, {64, 4, 16}, {60, 1, 1}}));
    CAPTURE(ranks, size, stride);
    const GroupFamily written{.name = "f", .size = size, .stride = stride};
    const Family family(written, ranks);
    std::vector<int> seen(ranks);
    for (std::uint32_t group = 0; group < family.groups(); ++group) {
        const Ranks members = family.members(group);
        REQUIRE(members.size() == family.size(group));
        for (std::uint32_t i = 0; i < members.size(); ++i) {
            CHECK(family.member(group, i) == members[i]);
            CHECK(family.group_of(members[i]) == group);
            ++seen[members[i]];
        }
    }
    CHECK(seen == std::vector<int>(ranks, 1));
}

TEST_CASE("listed groups keep the order of their members") {
    const GroupFamily written{.name = "f", .members = {{5, 1, 9}, {0, 2}}};
    const Family family(written, 10);
    CHECK(family.groups() == 2);
    CHECK(family.members(0) == Ranks{5, 1, 9});
    CHECK(family.member(0, 2) == 9);
    CHECK(family.group_of(9) == 0);
    CHECK(family.group_of(2) == 1);
    CHECK(family.group_of(3) == Family::kNone);
}

TEST_CASE("ranks are shown as ranges") {
    CHECK(ranks_text({4, 5, 6}) == "ranks 4-6");
    CHECK(ranks_text({7}) == "rank 7");
    CHECK(ranks_text({9, 1, 0, 2, 5}) == "ranks 0-2,5,9");
    Ranks odd;
    for (std::uint32_t i = 0; i < 100; ++i) odd.push_back(2 * i + 1);
    CHECK(ranks_text(odd) == "ranks 1,3,5,7,9,11,13,15,...");
}

}  // namespace
}  // namespace fmsim
