#include "meetings.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fmsim {
namespace {

constexpr std::uint64_t kMostItems = std::uint64_t{1} << 28;

std::uint32_t items_of(const Operation& operation) {
    const auto* const transfers = std::get_if<Transfers>(&operation.action);
    return transfers == nullptr ? 1 : static_cast<std::uint32_t>(transfers->sends.size() + transfers->receives.size());
}

}  // namespace

Meetings::Meetings(const Job& job, std::uint32_t ranks) : job_(job), ranks_(ranks) {
    check_families();
    for (const GroupFamily& family : job.groups) families_.emplace_back(family, ranks);
    for (const Program& program : job.programs) shapes_.push_back(shape_of(program));
    place_programs();
    check_groups();
    finish();
    make_nodes();
    finish();
    join_groups();
    pair_ends();
    refuse_lonely();
    finish();
}

void Meetings::refuse(std::string place, std::string expected, std::string found) {
    if (problems_.size() < kMostProblems)
        problems_.push_back({.pointer = std::move(place), .expected = std::move(expected), .found = std::move(found)});
}

void Meetings::finish() {
    if (!problems_.empty()) throw InputError(std::move(problems_));
}

void Meetings::check_families() {
    for (std::size_t i = 0; i < job_.groups.size(); ++i)
        for (Problem& problem : family_problem(job_.groups[i], ranks_, place_of(job_.groups[i], i)))
            problems_.push_back(std::move(problem));
    for (std::size_t i = 0; i < job_.programs.size(); ++i)
        for (const std::uint32_t rank : job_.programs[i].ranks)
            if (rank >= ranks_) {
                refuse(place_of(job_.programs[i], i),
                       fmt::format("expected ranks of the job, which are 0 to {}", ranks_ - 1),
                       fmt::format("{}", rank));
                break;
            }
    finish();
}

Meetings::Shape Meetings::shape_of(const Program& program) {
    Shape shape{.waits = waits_of(program), .first_item = {0}};
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_family;
    for (std::uint32_t i = 0; i < program.operations.size(); ++i) {
        shape.first_item.push_back(shape.first_item.back() + items_of(program.operations[i]));
        if (const auto* const call = std::get_if<CollectiveCall>(&program.operations[i].action))
            by_family[call->group].push_back(i);
    }
    shape.list.resize(program.operations.size());
    shape.turn.resize(program.operations.size());
    for (auto& [family, operations] : by_family) {
        for (std::uint32_t turn = 0; turn < operations.size(); ++turn) {
            shape.list[operations[turn]] = static_cast<std::uint32_t>(shape.calls.size());
            shape.turn[operations[turn]] = turn;
        }
        shape.calls.push_back({family, std::move(operations)});
    }
    return shape;
}

void Meetings::place_programs() {
    program_of_.assign(ranks_, Family::kNone);
    for (std::uint32_t program = 0; program < job_.programs.size(); ++program) {
        if (job_.programs[program].ranks.empty()) program_of_.assign(ranks_, program);
        for (const std::uint32_t rank : job_.programs[program].ranks) program_of_[rank] = program;
    }
    std::vector<std::size_t> placed(shapes_.size());
    position_of_.resize(ranks_);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
        if (!idle(rank)) position_of_[rank] = static_cast<std::uint32_t>(placed[program_of_[rank]]++);
    std::uint64_t items = 0;
    for (std::size_t program = 0; program < shapes_.size(); ++program) {
        slots_.push_back({items, placed[program]});
        items += placed[program] * shapes_[program].first_item.back();
        if (items > kMostItems)
            throw LimitReached(
                fmt::format("a job of {} ranks has more than {} operations of ranks", ranks_, kMostItems));
    }
    node_of_.assign(items, Family::kNone);
}

const Meetings::Calls* Meetings::calls(std::uint32_t rank, std::uint32_t family) const {
    if (idle(rank)) return nullptr;
    const std::vector<Calls>& all = shape(rank).calls;
    const auto found = std::lower_bound(all.begin(), all.end(), family,
                                        [](const Calls& one, std::uint32_t wanted) { return one.family < wanted; });
    return found != all.end() && found->family == family ? &*found : nullptr;
}

// The first operations of all ranks, then their second ones: near the order in which they will run.
void Meetings::make_nodes() {
    std::vector<std::uint32_t> busy;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
        if (!idle(rank)) busy.push_back(rank);
    for (std::uint32_t operation = 0; !busy.empty(); ++operation) {
        for (const std::uint32_t rank : busy) make_node(rank, operation);
        std::erase_if(busy, [&](std::uint32_t rank) {
            return operation + 1 == job_.programs[program_of_[rank]].operations.size();
        });
    }
}

void Meetings::make_node(std::uint32_t rank, std::uint32_t operation) {
    const Action& action = this->operation(rank, operation).action;
    if (std::holds_alternative<Transfers>(action)) return make_ends(rank, operation);
    if (const auto* const call = std::get_if<CollectiveCall>(&action)) {
        const Family& family = families_[call->group];
        if (family.member(family.group_of(rank), 0) != rank) return;
    }
    node_of(rank, shape(rank).first_item[operation]) = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({rank, operation, shape(rank).turn[operation], 0, 0});
}

void Meetings::join_groups() {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        if (idle(rank)) continue;
        const Shape& mine = shape(rank);
        for (const Calls& list : mine.calls) {
            const Family& family = families_[list.family];
            const std::uint32_t leader = family.member(family.group_of(rank), 0);
            if (leader == rank) continue;
            const Shape& its = shape(leader);
            const Calls& leading = *calls(leader, list.family);
            for (std::size_t turn = 0; turn < list.operations.size(); ++turn)
                node_of(rank, mine.first_item[list.operations[turn]]) =
                    node_of(leader, its.first_item[leading.operations[turn]]);
        }
    }
}

std::optional<std::uint32_t> Meetings::peer_of(std::uint32_t rank, std::uint32_t operation, const Peer& peer) {
    std::int64_t number = peer.rank;
    if (peer.relative) number = (peer.rank % ranks_ + ranks_ + rank) % ranks_;
    if (number < ranks_ && number != rank) return static_cast<std::uint32_t>(number);
    if (refused_.insert({program_of_[rank], operation}).second)
        refuse(place(rank, operation),
               number == rank ? fmt::format("expected another rank than the own one, in a job of {} ranks", ranks_)
                              : fmt::format("expected a rank of the job, which are 0 to {}", ranks_ - 1),
               fmt::format("{}", number));
    return std::nullopt;
}

void Meetings::make_ends(std::uint32_t rank, std::uint32_t operation) {
    const auto& transfers = std::get<Transfers>(this->operation(rank, operation).action);
    std::uint32_t item = shape(rank).first_item[operation];
    for (std::uint32_t i = 0; i < transfers.sends.size(); ++i, ++item) {
        const Send& send = transfers.sends[i];
        node_of(rank, item) = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({rank, operation, Family::kNone, 0, i});
        if (const auto peer = peer_of(rank, operation, send.to))
            sends_.push_back({rank, *peer, operation, item, send.size});
    }
    for (const Receive& receive : transfers.receives) {
        if (const auto peer = peer_of(rank, operation, receive.from))
            receives_.push_back({rank, *peer, operation, item, receive.size});
        ++item;
    }
}

// By sender, then by receiver; those of one pair stay in the order of their rank's program.
void Meetings::pair_ends() {
    const auto by_sender = [this](std::vector<End>& ends, std::uint32_t End::*sender, std::uint32_t End::*receiver) {
        std::vector<std::uint32_t> first(ranks_ + 1);
        for (const End& end : ends) ++first[end.*sender + 1];
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) first[rank + 1] += first[rank];
        std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
        std::vector<End> sorted(ends.size());
        for (const End& end : ends) sorted[fill[end.*sender]++] = end;
        ends = std::move(sorted);
        for (std::uint32_t rank = 0; rank < ranks_; ++rank)
            std::stable_sort(ends.begin() + first[rank], ends.begin() + first[rank + 1],
                             [&](const End& a, const End& b) { return a.*receiver < b.*receiver; });
        return first;
    };
    const auto sent = by_sender(sends_, &End::rank, &End::peer);
    const auto received = by_sender(receives_, &End::peer, &End::rank);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
        pair_of(std::span(sends_).subspan(sent[rank], sent[rank + 1] - sent[rank]),
                std::span(receives_).subspan(received[rank], received[rank + 1] - received[rank]));
}

// What one rank sends, and what all others would receive from it.
void Meetings::pair_of(std::span<const End> sends, std::span<const End> receives) {
    const auto lonely = [this](const End& end, bool is_send) {
        auto& [ranks, peers] = lonely_[is_send ? 0 : 1][{program_of_[end.rank], end.operation}];
        ranks.push_back(end.rank), peers.push_back(end.peer);
    };
    std::size_t send = 0, receive = 0;
    while (send < sends.size() || receive < receives.size()) {
        const std::uint32_t to = send < sends.size() ? sends[send].peer : Family::kNone;
        const std::uint32_t at = receive < receives.size() ? receives[receive].rank : Family::kNone;
        if (to == at)
            pair(sends[send++], receives[receive++]);
        else if (to < at)
            lonely(sends[send++], true);
        else
            lonely(receives[receive++], false);
    }
}

void Meetings::pair(const End& send, const End& receive) {
    if (send.size != receive.size && refused_.insert({program_of_[send.rank], send.operation}).second)
        refuse(place(send.rank, send.operation),
               fmt::format(
                   "expected one size at both ends; \"{}\" of rank {} sends {} and \"{}\" of rank {} receives {}",
                   printable(operation(send.rank, send.operation).name), send.rank, to_text(send.size),
                   printable(operation(receive.rank, receive.operation).name), receive.rank, to_text(receive.size)),
               "");
    const std::uint32_t node = node_of(send.rank, send.item);
    nodes_[node].other = receive.rank;
    nodes_[node].other_operation = receive.operation;
    node_of(receive.rank, receive.item) = node;
}

std::string Meetings::place(std::uint32_t rank, std::uint32_t operation) const {
    const std::uint32_t program = program_of_[rank];
    return place_of(job_.programs[program], program, operation);
}

}  // namespace fmsim
