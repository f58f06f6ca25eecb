// Segments of an NVLink domain (NVIDIA-NeMo/RL PR 2612) and the smallest domain that fits (kubernetes-sigs/kueue#5375).
#include <algorithm>
#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "toy/toy.hpp"

namespace fmsim {

TEST_CASE("model-parallel groups of 72 stay inside UltraServers in order, and break when hosts are interleaved") {
    const Topology net = build_topology(Catalogue::shipped().cluster("u-p6e-gb200x72:2"));
    const Placement in_order = linear_placement(net, 0, 0);
    CHECK(groups_across(net, in_order, 72).domains == 0);  // TP 8 x PP 9
    Placement interleaved;                                 // a host of one, a host of the other
    for (std::uint32_t host = 0; host < 18; ++host)
        for (std::uint32_t domain = 0; domain < 2; ++domain)
            for (std::uint32_t g = 0; g < 4; ++g) interleaved.push_back({DomainId{domain}, host * 4 + g});
    CHECK(groups_across(net, interleaved, 72).domains == 2);
    CHECK(groups_across(net, interleaved, 8).domains == 18);
    CHECK(groups_across(net, interleaved, 4).domains == 0);
}

TEST_CASE("17 usable hosts hold no segment of 18") {
    CHECK(smallest_room({17, 16}, 18, true).empty());
    CHECK(smallest_room({17, 18}, 18, true) == std::vector<RoomTaken>{{1, 18}});
}

TEST_CASE("a job goes to the smallest domain that has room") {
    CHECK(smallest_room({1, 2}, 2, true) == std::vector<RoomTaken>{{1, 2}});
    CHECK(smallest_room({3, 5, 8}, 4, true) == std::vector<RoomTaken>{{1, 4}});
    CHECK(smallest_room({3, 5, 8}, 6, true) == std::vector<RoomTaken>{{2, 6}});
    CHECK(smallest_room({3, 5, 8}, 9, true).empty());
    CHECK(smallest_room({3, 5, 8}, 9, false) == std::vector<RoomTaken>{{2, 8}, {0, 1}});
    CHECK(smallest_room({3, 5, 8}, 17, false).empty());
}

TEST_CASE("no order of the domains changes which rooms are taken") {
    std::vector<std::uint32_t> room{3, 5, 8};
    std::sort(room.begin(), room.end());
    do {
        for (std::uint32_t need = 1; need <= 16; ++need) {
            std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;
            for (const auto& [domain, part] : smallest_room(room, need, false)) taken.push_back({room[domain], part});
            std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted;
            for (const auto& [domain, part] : smallest_room({3, 5, 8}, need, false))
                sorted.push_back({std::vector<std::uint32_t>{3, 5, 8}[domain], part});
            CHECK(taken == sorted);
        }
    } while (std::next_permutation(room.begin(), room.end()));
}

}  // namespace fmsim
