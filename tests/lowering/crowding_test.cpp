// What a channel's stream becomes among others, by hand, and when operations may meet at all.
#include "crowding.hpp"

#include <random>

#include <catch2/catch.hpp>

#include "overlap.hpp"

namespace fmsim {
namespace {

constexpr SimTime us(double n) { return {static_cast<std::int64_t>(n * 1e9)}; }

// Of a run that takes so many microseconds alone, beside one like it, and beside seven.
CrowdedPace pace(double alone, double two, double eight, double links, double busiest) {
    return crowded_pace({.makespan = us(alone),
                         .last_latency = {},
                         .busiest = busiest * 1e-6,
                         .own_busiest = busiest * 1e-6,
                         .links = links * 1e-6,
                         .among_two = us(two),
                         .among_eight = us(eight)});
}

// What a stream takes when it gets one part in `among` of its links.
double ends_us(const CrowdedPace& pace, double links, double among) {
    const double tight = 1e6 * seconds(pace.tight);
    return 1e6 * seconds(pace.fill) + among * tight +
           std::max(1e6 * seconds(pace.span) - tight, among * (pace.more * links - tight));
}

}  // namespace

TEST_CASE("a stream ends when its channel does: alone, beside one and beside seven like it") {
    // 10 us of work on its links. From two parts to eight it takes 60 us more: no more than its bytes. 112 - 8 x 10 =
    // 32 us of fill, 18 for the bytes when it is alone.
    const CrowdedPace slack = pace(50, 52, 112, 10, 12);
    CHECK(slack.more == Approx(1));
    CHECK(slack.fill == us(32));
    CHECK(slack.span == us(18));
    CHECK(slack.tight == us(0));
    CHECK(ends_us(slack, 10, 1) == Approx(50));
    CHECK(ends_us(slack, 10, 2) == Approx(52));
    CHECK(ends_us(slack, 10, 8) == Approx(112));

    // A chain: from two parts to eight 180 us more, three times its bytes; 260 - 8 x 30 = 20 us of fill.
    const CrowdedPace chain = pace(50, 80, 260, 10, 12);
    CHECK(chain.more == Approx(3));
    CHECK(chain.fill == us(20));
    CHECK(chain.span == us(30));
    for (const double among : {1, 2, 8}) CHECK(ends_us(chain, 10, among) == Approx(20 + 30 * among));

    // From two parts to eight 48 us more, less than its bytes: 104 - 8 x 10 = 24 us of fill, and 6 us of what makes the
    // second part slower than the first; the other 4 us on its links take 20 until five share them.
    const CrowdedPace bent = pace(50, 56, 104, 10, 12);
    CHECK(bent.more == Approx(1));
    CHECK(bent.fill == us(24));
    CHECK(bent.span == us(26));
    CHECK(bent.tight == us(6));
    for (const auto& [among, us] : {std::pair{1, 50}, {2, 56}, {5, 74}, {8, 104}})
        CHECK(ends_us(bent, 10, among) == Approx(us));
}

TEST_CASE("a stream keeps its makespan alone and has room on its links for what it takes") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> some(0, 100);
    for (int i = 0; i < 1000; ++i) {
        const double links = some(random), busiest = links + some(random) / 10;
        const double alone = busiest + some(random), two = std::max(2 * links, alone + some(random));
        const double eight = std::max(8 * links, two + some(random));  // convex or not
        const CrowdedPace made = pace(alone, two, eight, links, busiest);
        CHECK(made.fill + made.span == us(alone));
        CHECK(made.fill >= SimTime{});
        CHECK(made.more >= 1);
        CHECK(made.tight >= SimTime{});
        CHECK(seconds(made.tight) * 1e6 <= links);
        CHECK((made.tight < made.span || made.span == SimTime{}));
        CHECK(seconds(made.span) * 1e6 >= Approx(std::max(busiest, made.more * links)).margin(1e-6));
    }
    // Nothing to share: no line through anything.
    CHECK(pace(50, 50, 50, 0, 20).span == us(20));
}

TEST_CASE("where the time among others is convex in the parts, a stream has it at one, two and eight") {
    std::mt19937 random(19);
    std::uniform_real_distribution<double> part(0, 1);
    for (int i = 0; i < 1000; ++i) {
        // Any slopes that rise: from one part to two, from two to eight, and what bytes take in the end.
        const double links = 1 + 20 * part(random), rise = links * part(random), first = rise * part(random);
        const double alone = links + 100 * part(random), two = alone + first, eight = two + 6 * rise;
        if (eight < 8 * links) continue;
        const CrowdedPace made = pace(alone, two, eight, links, links);
        CHECK(ends_us(made, links, 1) == Approx(alone).epsilon(1e-3));
        CHECK(ends_us(made, links, 2) == Approx(two).epsilon(1e-3));
        CHECK(ends_us(made, links, 8) == Approx(eight).epsilon(1e-3));
    }
}

TEST_CASE("operations may overlap unless each waits for the one before") {
    // The plain twin: of any two moves one must come after the other, by whatever way.
    Schedule moving;
    moving.channels.emplace_back();
    std::mt19937 random(11);
    int rows = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<Step> steps(2 + random() % 7);
        std::vector<std::vector<bool>> after(steps.size(), std::vector<bool>(steps.size()));
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (random() % 3 != 0) steps[i].schedule = &moving;
            for (std::uint32_t before = 0; before < i; ++before) {
                if (before + 1 == i ? random() % 8 == 0 : random() % 3 != 0) continue;
                steps[i].after.push_back(before);
                after[i][before] = true;
                for (std::size_t k = 0; k < before; ++k)
                    if (after[before][k]) after[i][k] = true;
            }
        }
        bool apart = true;
        for (std::size_t i = 0; i < steps.size(); ++i)
            for (std::size_t k = 0; k < i; ++k)
                if (steps[i].schedule != nullptr && steps[k].schedule != nullptr && !after[i][k]) apart = false;
        CHECK(overlap_of(steps).meets == !apart);
        CHECK(overlap_of(steps).rounds == (apart ? 1 : 12));
        rows += apart ? 1 : 0;
    }
    CHECK(rows > 100);
    CHECK(rows < 1900);
    const Step several{.after = {}, .not_before = {}, .takes = {}, .schedule = &moving, .group = nullptr, .copies = 2};
    CHECK(overlap_of(std::span(&several, 1)).meets);
    CHECK(overlap_of(std::span(&several, 1)).rounds == 12);  // as of its groups, each by itself
    std::vector<Step> twins(2000);  // two rows of a thousand
    for (std::uint32_t i = 0; i < twins.size(); ++i) {
        twins[i].schedule = &moving;
        if (i > 1) twins[i].after.push_back(i - 2);
    }
    CHECK(overlap_of(twins).rounds == 2);
}

}  // namespace fmsim
