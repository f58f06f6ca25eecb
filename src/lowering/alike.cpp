#include "alike.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

namespace fmsim {
namespace {

const Pattern& pattern_of(const Channel& channel) { return *std::get<std::shared_ptr<const Pattern>>(channel.steps); }

// Shares are sums over the links of a hop, in another order on another rail: the same but for rounding.
Colour colour_of_share(double share) { return colour_of(static_cast<float>(share)); }

Colour colour_of_cost(const HopOnLinks& hop) {
    Colour colour = mix(hop.leaves_domain, hop.is_local);
    for (const SimTime span : {hop.latency, hop.credit_latency, hop.unit_cost, hop.drain})
        colour = mix(colour, static_cast<Colour>(span.fs));
    return mix(colour, colour_of(hop.copy_limit));
}

Colour colour_of_loops(const Channel& channel) {
    Colour colour = channel.loops.size();
    for (const Loop& loop : channel.loops)
        colour = mix(mix(mix(colour, colour_of(loop.chunk)), colour_of(loop.unit)), loop.whole_message);
    return colour;
}

// Hops of all channels and the links that they take, in one numbering.
class Refinement {
public:
    Refinement(const Topology& topology, const Schedule& schedule, const std::vector<ChannelOnLinks>& placed);
    // Until no colour splits.
    void refine();

    Colour hop(std::size_t channel, std::uint32_t h) const { return hops_[first_hop_[channel] + h]; }
    Colour channel(std::size_t c) const { return channels_[c]; }
    Colour link(std::uint32_t numbered) const { return links_[numbered]; }
    std::size_t links() const { return links_.size(); }
    std::uint32_t number_of(LinkId link) const { return numbers_.at(link.value); }

private:
    struct OnLink {
        std::uint32_t link{};
        Colour share{};
    };
    struct Beside {
        std::uint32_t hop{};
        Colour how{};  // which transfer of it waits for which, or the other way round
    };
    void add_neighbours(const Pattern& pattern, std::uint32_t first, std::vector<std::vector<Beside>>& beside);

    std::vector<std::uint32_t> first_hop_{0};  // of a channel
    std::vector<Colour> hops_, channels_, links_, rates_;
    Rows<OnLink> on_links_;                                     // of a hop
    Rows<Beside> beside_;                                       // of a hop
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // of links, by id
};

Refinement::Refinement(const Topology& topology, const Schedule& schedule, const std::vector<ChannelOnLinks>& placed) {
    for (std::size_t c = 0; c < placed.size(); ++c) {
        const Channel& channel = schedule.channels[c];
        const Colour loops = colour_of_loops(channel);
        for (const HopOnLinks& hop : placed[c].hops) {
            hops_.push_back(mix(loops, colour_of_cost(hop)));
            std::vector<OnLink> row;
            for (const auto& [link, share] : hop.route) {
                const auto [at, fresh] = numbers_.try_emplace(link.value, static_cast<std::uint32_t>(rates_.size()));
                if (fresh) rates_.push_back(colour_of(topology.links[link].rate.value));
                row.push_back({at->second, colour_of_share(share)});
            }
            on_links_.append(row);
        }
        std::vector<std::vector<Beside>> beside(channel.hops.size());
        add_neighbours(pattern_of(channel), first_hop_.back(), beside);
        for (const auto& row : beside) beside_.append(row);
        first_hop_.push_back(static_cast<std::uint32_t>(hops_.size()));
    }
    links_ = rates_;
    channels_.resize(placed.size());
}

void Refinement::add_neighbours(const Pattern& pattern, std::uint32_t first, std::vector<std::vector<Beside>>& beside) {
    std::vector<std::uint32_t> made(beside.size()), nth(pattern.transfers.size());
    for (std::uint32_t t = 0; t < pattern.transfers.size(); ++t) {
        const std::uint32_t hop = pattern.transfers[t].hop;
        nth[t] = made[hop]++;
        hops_[first + hop] = mix(mix(hops_[first + hop], nth[t]), colour_of(pattern.transfers[t].chunks));
        for (const std::uint32_t need : pattern.needs.of(t)) {
            const std::uint32_t other = pattern.transfers[need].hop;
            const Colour how = mix(nth[t], nth[need]);
            beside[hop].push_back({first + other, how});
            beside[other].push_back({first + hop, ~how});
        }
    }
}

void Refinement::refine() {
    std::vector<Colour> now(hops_.size()), sums(links_.size());
    for (std::size_t classes = 0, found = distinct(hops_); found != classes;) {
        classes = found;
        std::fill(sums.begin(), sums.end(), 0);
        for (std::size_t h = 0; h < hops_.size(); ++h)
            for (const auto& [link, share] : on_links_.of(h)) sums[link] += mix(hops_[h], share);
        for (std::size_t l = 0; l < links_.size(); ++l) links_[l] = mix(rates_[l], sums[l]);
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            Colour sum = 0;
            for (std::uint32_t h = first_hop_[c]; h < first_hop_[c + 1]; ++h) sum += mix(hops_[h], 0);
            channels_[c] = sum;
            for (std::uint32_t h = first_hop_[c]; h < first_hop_[c + 1]; ++h) {
                Colour around = 0;
                for (const auto& [link, share] : on_links_.of(h)) around += mix(links_[link], share);
                for (const auto& [hop, how] : beside_.of(h)) around += mix(hops_[hop], how);
                now[h] = mix(mix(hops_[h], sum), around);
            }
        }
        hops_.swap(now);
        found = distinct(hops_);
    }
}

// The transfers of the first hop of each class that a channel comes to. `hop_of`: of each hop its class.
std::shared_ptr<const Pattern> fold_pattern(const Pattern& pattern, const std::vector<std::uint32_t>& hop_of) {
    auto folded = std::make_shared<Pattern>();
    std::vector<std::uint32_t> made(hop_of.size()), folded_of(pattern.transfers.size());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;  // of a class and which of its transfers
    for (std::uint32_t t = 0; t < pattern.transfers.size(); ++t) {
        Transfer transfer = pattern.transfers[t];
        const std::uint32_t nth = made[transfer.hop]++;
        transfer.hop = hop_of[transfer.hop];
        const auto [at, fresh] =
            known.try_emplace({transfer.hop, nth}, static_cast<std::uint32_t>(folded->transfers.size()));
        folded_of[t] = at->second;
        if (!fresh) continue;
        std::vector<std::uint32_t> needs;
        for (const std::uint32_t need : pattern.needs.of(t)) needs.push_back(folded_of[need]);
        std::sort(needs.begin(), needs.end());
        needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
        folded->add(transfer, std::move(needs), {});
    }
    return folded;
}

}  // namespace

AlikeSchedule fold_alike(const Topology& topology, const Schedule& schedule,
                         const std::vector<ChannelOnLinks>& placed) {
    Refinement colours(topology, schedule, placed);
    colours.refine();
    AlikeSchedule folded;
    // One link stands for each class of them.
    std::unordered_map<Colour, std::uint32_t> link_classes;
    std::unordered_map<std::uint32_t, std::uint32_t> class_of_link;  // of those that stand for theirs, by id
    const auto stand_for = [&](LinkId link) {
        const Colour colour = colours.link(colours.number_of(link));
        const auto [at, fresh] = link_classes.try_emplace(colour, static_cast<std::uint32_t>(folded.capacity.size()));
        if (!fresh) return;
        folded.capacity.push_back(topology.links[link].rate.value);
        class_of_link.emplace(link.value, at->second);
    };
    std::unordered_map<Colour, std::uint32_t> kinds;
    struct Place {
        std::uint32_t kind{}, hop{};
    };
    std::unordered_map<Colour, Place> hop_classes;
    for (std::uint32_t c = 0; c < placed.size(); ++c) {
        const auto [kind, fresh] =
            kinds.try_emplace(colours.channel(c), static_cast<std::uint32_t>(folded.kinds.size()));
        folded.kind_of.push_back(kind->second);
        if (!fresh) continue;
        AlikeChannels alike{.hops = {}, .uses = {}, .steps = {}, .first = c};
        std::vector<std::uint32_t> hop_of;
        for (std::uint32_t h = 0; h < placed[c].hops.size(); ++h) {
            const auto [at, first] = hop_classes.try_emplace(
                colours.hop(c, h), Place{kind->second, static_cast<std::uint32_t>(alike.hops.size())});
            hop_of.push_back(at->second.hop);
            if (!first) continue;
            alike.hops.push_back(placed[c].hops[h]);
            for (const auto& [link, share] : placed[c].hops[h].route) stand_for(link);
        }
        alike.steps = fold_pattern(pattern_of(schedule.channels[c]), hop_of);
        folded.kinds.push_back(std::move(alike));
    }
    // What all hops of a class ask of the link that stands for its own.
    std::vector<std::vector<std::map<ResourceId, double>>> weights;
    for (AlikeChannels& kind : folded.kinds) weights.emplace_back(kind.hops.size());
    for (std::size_t c = 0; c < placed.size(); ++c)
        for (std::uint32_t h = 0; h < placed[c].hops.size(); ++h) {
            const Place at = hop_classes.at(colours.hop(c, h));
            for (const auto& [link, share] : placed[c].hops[h].route)
                if (const auto found = class_of_link.find(link.value); found != class_of_link.end())
                    weights[at.kind][at.hop][ResourceId{found->second}] += share;
        }
    for (std::size_t k = 0; k < folded.kinds.size(); ++k)
        for (const auto& row : weights[k]) {
            folded.kinds[k].uses.emplace_back();
            for (const auto& [resource, weight] : row) folded.kinds[k].uses.back().push_back({resource, weight});
        }
    return folded;
}

}  // namespace fmsim
