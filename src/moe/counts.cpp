// How many tokens of a rank have an expert in each place.
//
// Of k different experts out of E, drawn evenly, none is among the m of a place with probability
//
//   miss(E, m, k) = (E - m)! (E - k)! / (E! (E - m - k)!) = product over i < k of (E - m - i) / (E - i)
//
// Node-limited routing (DeepSeek-V3, section 2.1.2) first takes `limit` of D domains, here evenly, and then the
// experts of those; a place in one of them is hit with limit / D (1 - miss(E limit / D, m, k)).
//
// By hand: 16 ranks on 2 domains, 256 experts, top 8: a rank's 16 experts are missed with 0.593, so a token has 6.5
// ranks; a domain's 128 with 0.0035, so nearly every token has both.
#include <algorithm>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "fmsim/moe.hpp"

namespace fmsim {
namespace {

// Each draw looks at the experts one by one: so that a call takes some ten seconds at the most.
constexpr double kMostLooks = 4e9;

double miss(double experts, double here, std::uint32_t top_k) {
    double product = 1;
    for (std::uint32_t i = 0; i < top_k; ++i) product *= std::max(0.0, experts - here - i) / (experts - i);
    return product;
}

[[noreturn]] void refuse(const char* key, std::string expected, std::string found) {
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = std::string("/") + key,
                       .expected = std::move(expected),
                       .found = std::move(found)}});
}

void check(const Group& group, const ExpertCall& call) {
    const auto ranks = static_cast<std::uint32_t>(group.places.size());
    const auto parts = static_cast<std::uint32_t>(group.parts.size());
    if (call.experts == 0 || call.experts % ranks != 0)
        refuse("experts", fmt::format("expected a multiple of the {} ranks, which share the experts evenly", ranks),
               fmt::format("{}", call.experts));
    if (call.top_k == 0 || call.top_k > call.experts)
        refuse("top_k", fmt::format("expected 1 to {}, as many experts as there are", call.experts),
               fmt::format("{}", call.top_k));
    const bool alike = std::all_of(group.parts.begin(), group.parts.end(), [&](const Group::Part& part) {
        return part.positions.size() == group.parts.front().positions.size();
    });
    const bool limited = call.limit != 0 && call.limit < parts;
    if (!alike && (limited || call.routing == TokenRouting::balanced))
        refuse(limited ? "limit" : "routing", "expected as many ranks on each domain of the group", "other numbers");
    if (limited && call.top_k > call.experts / parts * call.limit)
        refuse("limit", fmt::format("expected domains with at least {} experts together", call.top_k),
               fmt::format("{}", call.limit));
}

// Whole numbers below `below`, the same everywhere.
std::uint64_t below(std::mt19937_64& random, std::uint64_t below) { return random() % below; }

// Draws without replacement, each in proportion to its weight.
class Drawer {
public:
    explicit Drawer(std::vector<double> weights) : weights_(std::move(weights)), taken_(weights_.size()) {}

    // Those from `pool` (numbers of weights).
    void draw(std::mt19937_64& random, const std::vector<std::uint32_t>& pool, std::uint32_t count,
              std::vector<std::uint32_t>& into) {
        into.clear();
        double left = 0;
        for (const std::uint32_t one : pool) left += weights_[one];
        for (std::uint32_t i = 0; i < count; ++i) {
            double at = static_cast<double>(random() >> 11) * 0x1p-53 * left;
            std::uint32_t found = std::numeric_limits<std::uint32_t>::max();
            for (const std::uint32_t one : pool) {
                if (taken_[one]) continue;
                found = one;  // the last that is left, where rounding lets none be found
                if (at < weights_[one]) break;
                at -= weights_[one];
            }
            taken_[found] = true;
            left -= weights_[found];
            into.push_back(found);
        }
        for (const std::uint32_t one : into) taken_[one] = false;
    }

private:
    std::vector<double> weights_;
    std::vector<bool> taken_;
};

}  // namespace

TokenCounts::TokenCounts(const Group& group, const ExpertCall& call)
    : ranks_(static_cast<std::uint32_t>(group.places.size())), parts_(static_cast<std::uint32_t>(group.parts.size())) {
    check(group, call);
    if (call.routing == TokenRouting::skewed)
        draw(group, call);
    else if (call.routing == TokenRouting::balanced)
        spread(group, call);
    else
        expect(group, call);
}

double TokenCounts::to_experts(std::uint32_t from, std::uint32_t to) const {
    return drawn_ ? experts_[from * ranks_ + to] : each_expert_;
}
double TokenCounts::to_rank(std::uint32_t from, std::uint32_t to) const {
    return drawn_ ? rank_[from * ranks_ + to] : each_rank_;
}
double TokenCounts::to_part(std::uint32_t from, std::uint32_t part) const {
    return drawn_ ? part_[from * parts_ + part] : each_part_[part];
}

void TokenCounts::expect(const Group& group, const ExpertCall& call) {
    const double tokens = call.tokens, experts = call.experts, here = experts / ranks_;
    const bool limited = call.limit != 0 && call.limit < parts_;
    const double chosen = limited ? static_cast<double>(call.limit) / parts_ : 1;
    each_expert_ = tokens * call.top_k / ranks_;
    each_rank_ = tokens * chosen * (1 - miss(experts * chosen, here, call.top_k));
    for (const Group::Part& part : group.parts) {
        const double of_part = here * static_cast<double>(part.positions.size());
        each_part_.push_back(tokens * chosen * (1 - miss(experts * chosen, of_part, call.top_k)));
    }
}

void TokenCounts::spread(const Group&, const ExpertCall& call) {
    const double tokens = call.tokens;
    const std::uint32_t parts = call.limit == 0 ? parts_ : std::min(parts_, call.limit);
    each_expert_ = tokens * call.top_k / ranks_;
    each_rank_ = tokens * std::min(call.top_k, ranks_ / parts_ * parts) / ranks_;
    each_part_.assign(parts_, tokens * std::min(call.top_k, parts) / parts_);
}

void TokenCounts::draw(const Group& group, const ExpertCall& call) {
    drawn_ = true;
    if (static_cast<double>(ranks_) * call.tokens * call.top_k * call.experts > kMostLooks)
        throw LimitReached(
            fmt::format("skewed routing of {} tokens of {} ranks to {} of {} experts takes too many draws; ask for "
                        "fewer tokens, or for random routing",
                        call.tokens, ranks_, call.top_k, call.experts));
    std::mt19937_64 random(call.seed);
    std::vector<std::uint32_t> order(call.experts);
    for (std::uint32_t i = 0; i < call.experts; ++i) order[i] = i;
    for (std::uint32_t i = call.experts; i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
    std::vector<double> weights(call.experts);
    for (std::uint32_t i = 0; i < call.experts; ++i) weights[order[i]] = 1 / (1 + call.skew * i);

    std::vector<std::uint32_t> part_of(ranks_);
    for (std::uint32_t p = 0; p < parts_; ++p)
        for (const std::uint32_t position : group.parts[p].positions) part_of[position] = p;
    const std::uint32_t here = call.experts / ranks_;
    const auto home = [&](std::uint32_t expert) { return expert / here; };
    std::vector<double> of_parts(parts_);
    std::vector<std::vector<std::uint32_t>> experts_of(parts_);
    for (std::uint32_t e = 0; e < call.experts; ++e) {
        of_parts[part_of[home(e)]] += weights[e];
        experts_of[part_of[home(e)]].push_back(e);
    }
    Drawer drawer(weights), part_drawer(of_parts);
    const bool limited = call.limit != 0 && call.limit < parts_;
    std::vector<std::uint32_t> pool, parts, chosen;
    std::vector<std::uint32_t> all_parts(parts_);
    for (std::uint32_t p = 0; p < parts_; ++p) all_parts[p] = p;
    for (std::uint32_t e = 0; e < call.experts; ++e) pool.push_back(e);

    experts_.assign(std::size_t{ranks_} * ranks_, 0);
    rank_ = experts_;
    part_.assign(std::size_t{ranks_} * parts_, 0);
    std::vector<std::uint64_t> seen_rank(ranks_), seen_part(parts_);
    std::uint64_t token = 0;
    for (std::uint32_t from = 0; from < ranks_; ++from)
        for (std::uint32_t t = 0; t < call.tokens; ++t) {
            ++token;
            if (limited) {
                part_drawer.draw(random, all_parts, call.limit, parts);
                pool.clear();
                for (const std::uint32_t p : parts) pool.insert(pool.end(), experts_of[p].begin(), experts_of[p].end());
            }
            drawer.draw(random, pool, call.top_k, chosen);
            for (const std::uint32_t expert : chosen) {
                const std::uint32_t to = home(expert), part = part_of[to];
                ++experts_[from * ranks_ + to];
                if (std::exchange(seen_rank[to], token) != token) ++rank_[from * ranks_ + to];
                if (std::exchange(seen_part[part], token) != token) ++part_[from * parts_ + part];
            }
        }
}

}  // namespace fmsim
