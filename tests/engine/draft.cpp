#include "engine/draft.hpp"

#include <algorithm>
#include <cmath>

namespace fmsim::test {
namespace {

// Draws one activity after the other; `round` values make ties.
class Drafter {
public:
    explicit Drafter(std::uint64_t seed) : dice_(seed), round_(seed % 3 == 0) {}

    Draft draw() {
        const std::uint32_t resources = 1 + dice_.below(12);
        const std::uint32_t activities = 1 + dice_.below(30);
        for (std::uint32_t i = 0; i < resources; ++i) draft_.capacity.push_back(capacity());
        for (std::uint32_t i = 0; i < activities; ++i) {
            draft_.activities.push_back(activity());
            add_orders(i);
        }
        return std::move(draft_);
    }

private:
    double capacity() {
        if (dice_.below(150) == 0) return 0;
        return round_ ? 1e9 * (1 + dice_.below(2)) : dice_.between(0.2e9, 5e9);
    }

    SimTime span(std::uint32_t percent) {
        if (!dice_.chance(percent)) return {};
        return round_ ? ns(1000 * (1 + dice_.below(3))) : from_seconds(dice_.between(0, 1e-3));
    }

    DraftActivity activity() {
        DraftActivity a{.delay = span(30)};
        if (!dice_.chance(10)) a.work = round_ ? 1e6 * (1 + dice_.below(2)) : dice_.between(1e3, 1e7);
        if (dice_.chance(30)) a.share = round_ ? 2 : dice_.between(0.2, 5);
        if (dice_.chance(30)) a.rate_limit = round_ ? 0.25e9 : dice_.between(0.05e9, 2e9);
        a.uses = uses();
        if (a.uses.empty() && a.rate_limit == kUnlimited) a.rate_limit = 1e9;
        if (dice_.chance(15)) a.holds = holds();
        return a;
    }

    std::vector<Use> uses() {
        std::vector<Use> rows;
        const std::uint32_t percent = dice_.chance(5) ? 0 : 10 + dice_.below(40);
        for (std::uint32_t r = 0; r < draft_.capacity.size(); ++r)
            if (dice_.chance(percent)) rows.push_back({{r}, weight()});
        return rows;
    }

    double weight() {
        if (dice_.chance(60)) return 1;
        return round_ ? 2 : dice_.between(0.1, 4);
    }

    // With round values at most a tenth of a resource is held, so that rounding cannot decide whether an activity ends
    // just before a hold stops it for good.
    std::vector<Hold> holds() {
        const std::uint32_t r = dice_.below(static_cast<std::uint32_t>(draft_.capacity.size()));
        return {{{r}, draft_.capacity[r] * (round_ ? 0.0078125 : dice_.between(0, 0.6))}};
    }

    void add_orders(std::uint32_t after) {
        for (std::uint32_t before = 0; before < after; ++before)
            if (dice_.chance(6)) draft_.orders.push_back({before, after, span(40)});
    }

    Dice dice_;
    bool round_;
    Draft draft_;
};

}  // namespace

System build(const Draft& draft) {
    SystemBuilder builder;
    for (const double capacity : draft.capacity) builder.add_resource(capacity);
    for (const DraftActivity& a : draft.activities)
        builder.add({.delay = a.delay,
                     .work = a.work,
                     .share = a.share,
                     .rate_limit = a.rate_limit,
                     .uses = a.uses,
                     .holds = a.holds});
    for (const auto& [before, after, lag] : draft.orders) builder.order({before}, {after}, lag);
    return std::move(builder).build();
}

Draft random_draft(std::uint64_t seed) { return Drafter(seed).draw(); }

bool close(SimTime a, SimTime b, std::size_t events) {
    const double larger = static_cast<double>(std::max(std::abs(a.fs), std::abs(b.fs)));
    return static_cast<double>(std::abs(a.fs - b.fs)) <= 1e-9 * larger + static_cast<double>(events);
}

}  // namespace fmsim::test
