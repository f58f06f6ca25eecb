#include "rank_lists.hpp"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace fmsim {
namespace {

using Spot = Document::Spot;
using Ranks = std::vector<std::uint32_t>;

constexpr std::uint32_t kMostRanks = 1'000'000;

// "16" or "0-7"; nothing when it is neither, or the wrong way round.
std::optional<std::pair<std::uint32_t, std::uint32_t>> range_of(std::string_view word) {
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    const char* const end = word.data() + word.size();
    std::pair<std::uint32_t, std::uint32_t> range{};
    auto [at, error] = std::from_chars(word.data(), end, range.first);
    if (error != std::errc{} || range.first >= kMostRanks) return std::nullopt;
    range.second = range.first;
    if (at == end) return range;
    if (*at != '-') return std::nullopt;
    const auto last = std::from_chars(at + 1, end, range.second);
    if (last.ec != std::errc{} || last.ptr != end || range.second >= kMostRanks || range.second < range.first)
        return std::nullopt;
    return range;
}

Ranks ranges_at(const Spot& spot, Allowance& left) {
    const std::string text = spot.text();
    Ranks ranks;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const auto range = range_of(std::string_view(text).substr(from, comma - from));
        if (!range) {
            spot.refuse("expected ranges of ranks below 1000000, such as \"0-7,16\"");
            return {};
        }
        if (!left.take(range->second - range->first + 1, spot)) return {};
        for (std::uint32_t rank = range->first; rank <= range->second; ++rank) ranks.push_back(rank);
        from = comma + 1;
    }
    return ranks;
}

GroupFamily family_at(const std::string& name, const Spot& spot, Allowance& left) {
    GroupFamily family{.name = name, .place = spot.pointer()};
    if (spot.has("ranks") == spot.has("size") || (spot.has("ranks") && spot.has("stride"))) {
        spot.refuse("expected either ranks, or a size and perhaps a stride", "");
        return family;
    }
    if (spot.has("size")) {
        family.size = spot["size"].count();
        if (spot.has("stride")) family.stride = spot["stride"].count();
        return family;
    }
    const Spot ranks = spot["ranks"];
    if (ranks.json().is_string() || ranks.json().front().is_number()) {
        family.members.push_back(ranks_at(ranks, left));
        return family;
    }
    for (std::size_t i = 0; i < ranks.size(); ++i)
        if (ranks[i].json().is_number())
            ranks[i].refuse("expected groups only where the first is one, or ranks only");
        else
            family.members.push_back(ranks_at(ranks[i], left));
    return family;
}

}  // namespace

Ranks ranks_at(const Spot& spot, Allowance& left) {
    if (spot.json().is_string()) return ranges_at(spot, left);
    Ranks ranks;
    if (!left.take(spot.size(), spot)) return ranks;
    for (std::size_t i = 0; i < spot.size(); ++i)
        if (spot[i].json().is_number())
            ranks.push_back(spot[i].count());
        else
            spot[i].refuse("expected ranks only where the first is one, or groups only");
    return ranks;
}

GroupFamily all_ranks() { return {.name = "all"}; }

std::vector<GroupFamily> families_at(const Spot& groups, Allowance& left) {
    std::vector<GroupFamily> families{all_ranks()};
    for (const std::string& name : groups.keys()) {
        const Spot group = groups[name];
        if (name.empty() || name.size() > 200 || has_control_characters(name))
            group.refuse("expected a name of 1 to 200 characters, none of them a control character", name);
        else if (name == families.front().name)
            group.refuse("expected another name: \"all\" are all ranks of the job", "");
        else
            families.push_back(family_at(name, group, left));
    }
    return families;
}

}  // namespace fmsim
