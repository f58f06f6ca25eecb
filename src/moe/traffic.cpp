// Who sends how many bytes to whom. What comes back goes the same ways in the other direction: an expert's rank, or a
// domain, adds up what its experts made of a token before it sends that on.
//
// By hand: 2 domains of 8 ranks, 4096 tokens of 7392 bytes, top 8 of 256, a copy a domain: over the network a rank
// sends 4096 x 0.9965 x 7392 = 30.2 MB, all to the GPU of its number; over NVLink a GPU passes on what arrives so and
// what it sends within its domain, 4096 x 0.407 tokens of each of two senders to each of 7 others.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "fmsim/moe.hpp"

namespace fmsim {
namespace {

// All pairs of so many ranks are laid out.
constexpr std::size_t kMostRanks = 4096;

class Traffic {
public:
    Traffic(const Group& group, const ExpertCall& call, Copies copies)
        : group_(group),
          back_(call.combine),
          bytes_(static_cast<double>(token_bytes(call))),
          copies_(copies),
          counts_(group, call) {
        if (group.places.size() > kMostRanks)
            throw LimitReached(fmt::format("tokens among {} ranks have too many ways; the most is {} ranks",
                                           group.places.size(), kMostRanks));
        at_.resize(group.places.size());
        for (std::uint32_t p = 0; p < group.parts.size(); ++p)
            for (std::uint32_t i = 0; i < group.parts[p].positions.size(); ++i)
                at_[group.parts[p].positions[i]] = {p, i};
    }

    TokenTraffic of() {
        if (copies_ == Copies::each_domain)
            by_domains();
        else
            pair_by_pair();
        return std::move(traffic_);
    }

private:
    struct Place {
        std::uint32_t part{}, number{};  // of the group; within the part
    };
    void add(std::vector<Message>& messages, std::uint32_t from, std::uint32_t to, double tokens) const {
        if (tokens > 0 && from != to)
            messages.push_back(back_ ? Message{to, from, tokens * bytes_} : Message{from, to, tokens * bytes_});
    }
    double tokens(std::uint32_t from, std::uint32_t to) const {
        return copies_ == Copies::each_expert ? counts_.to_experts(from, to) : counts_.to_rank(from, to);
    }
    void busiest(const std::vector<double>& gone, const std::vector<double>& come, double each, double& into) const {
        for (const auto* all : {&gone, &come})
            for (const double one : *all) into = std::max(into, one * each);
    }

    void pair_by_pair() {
        const auto ranks = static_cast<std::uint32_t>(at_.size());
        std::vector<double> gone(ranks), come(ranks), posts_gone(ranks), posts_come(ranks);
        for (std::uint32_t from = 0; from < ranks; ++from)
            for (std::uint32_t to = 0; to < ranks; ++to) {
                const double moved = tokens(from, to);
                const bool leaves = at_[from].part != at_[to].part;
                add(leaves ? traffic_.network : traffic_.nvlink, from, to, moved);
                gone[from] += moved;
                come[to] += moved;
                if (leaves) posts_gone[from] += moved, posts_come[to] += moved;
            }
        busiest(gone, come, bytes_, traffic_.copied);
        traffic_.staged = traffic_.copied;
        busiest(back_ ? posts_come : posts_gone, {}, 1, traffic_.posted);
    }

    void by_domains() {
        const auto ranks = static_cast<std::uint32_t>(at_.size());
        std::vector<double> gone(ranks), come(ranks), staged_gone(ranks), staged_come(ranks), posts(ranks);
        for (std::uint32_t p = 0; p < group_.parts.size(); ++p) {
            const std::vector<std::uint32_t>& members = group_.parts[p].positions;
            const auto size = static_cast<std::uint32_t>(members.size());
            std::vector<double> passed(std::size_t{size} * size);  // by the forwarder, to each
            for (std::uint32_t from = 0; from < ranks; ++from) {
                const std::uint32_t via = at_[from].number % size;
                const double there = counts_.to_part(from, p);
                staged_gone[from] += there;
                staged_come[members[via]] += there;
                if (at_[from].part != p) {
                    add(traffic_.network, from, members[via], there);
                    posts[back_ ? members[via] : from] += there;
                }
                for (std::uint32_t i = 0; i < size; ++i) {
                    const double copied = counts_.to_rank(from, members[i]);
                    passed[via * size + i] += copied;
                    come[members[i]] += copied;
                    gone[members[via]] += copied;
                }
            }
            for (std::uint32_t via = 0; via < size; ++via)
                for (std::uint32_t i = 0; i < size; ++i)
                    add(traffic_.nvlink, members[via], members[i], passed[via * size + i]);
        }
        busiest(gone, come, bytes_, traffic_.copied);
        busiest(staged_gone, staged_come, bytes_, traffic_.staged);
        busiest(posts, {}, 1, traffic_.posted);
    }

    const Group& group_;
    const bool back_;
    const double bytes_;
    const Copies copies_;
    const TokenCounts counts_;
    std::vector<Place> at_;
    TokenTraffic traffic_;
};

}  // namespace

TokenTraffic traffic_of(const Group& group, const ExpertCall& call, Copies copies) {
    return Traffic(group, call, copies).of();
}

CollectiveCall as_all_to_all(const Group& group, const ExpertCall& call) {
    CollectiveCall all{.collective = Collective::all_to_all};
    const std::int64_t bytes = token_bytes(call);
    const TokenCounts counts(group, call);
    const auto ranks = static_cast<std::uint32_t>(group.places.size());
    if (call.routing != TokenRouting::skewed) {
        all.size = Bytes{std::int64_t{call.tokens} * call.top_k * bytes};
        return all;
    }
    for (std::uint32_t from = 0; from < ranks; ++from) {
        std::vector<std::int64_t>& row = all.pair_bytes.emplace_back();
        std::int64_t sum = 0;
        for (std::uint32_t to = 0; to < ranks; ++to) {
            const double pairs = call.combine ? counts.to_experts(to, from) : counts.to_experts(from, to);
            row.push_back(static_cast<std::int64_t>(pairs) * bytes);
            sum += row.back();
        }
        all.size = std::max(all.size, Bytes{sum});
    }
    return all;
}

}  // namespace fmsim
