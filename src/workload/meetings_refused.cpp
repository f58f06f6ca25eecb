// Meetings that cannot be: what each group's members call, and what is said of those who do not meet.
#include <algorithm>

#include <fmt/format.h>

#include "meetings.hpp"

namespace fmsim {
namespace {

bool same_call(const CollectiveCall& a, const CollectiveCall& b) {
    return a.collective == b.collective && a.size == b.size && a.root == b.root && a.algorithm == b.algorithm &&
           a.protocol == b.protocol && a.pair_bytes == b.pair_bytes && a.experts == b.experts;
}

// The numbers without repetition.
std::vector<std::uint32_t> each_once(std::vector<std::uint32_t> ranks) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

}  // namespace

std::string Meetings::call_text(const Operation& operation) {
    const auto& call = std::get<CollectiveCall>(operation.action);
    if (call.experts)
        return fmt::format("\"{}\" ({}: {})", printable(operation.name), call.experts->kind(),
                           printable(to_text(*call.experts)));
    std::string text = fmt::format("\"{}\" ({}", printable(operation.name), name(call.collective));
    if (call.collective != Collective::barrier) text += " of " + to_text(call.size);
    if (call.root != 0) text += fmt::format(" with root {}", call.root);
    if (!call.pair_bytes.empty()) text += " in unequal parts";
    if (!call.algorithm.empty()) text += ", " + printable(call.algorithm);
    if (!call.protocol.empty()) text += ", " + printable(call.protocol);
    return text + ")";
}

std::string Meetings::group_text(std::uint32_t family, std::uint32_t group) const {
    return fmt::format("group \"{}\" ({})", printable(job_.groups[family].name),
                       ranks_text(families_[family].members(group)));
}

std::string Meetings::text(const Node& node) const {
    const Operation& what = operation(node);
    if (const auto* const call = std::get_if<CollectiveCall>(&what.action))
        return fmt::format("{} of {}", call_text(what),
                           group_text(call->group, families_[call->group].group_of(node.rank)));
    if (std::holds_alternative<Transfers>(what.action))
        return fmt::format("\"{}\" (a message from rank {} to rank {})", printable(what.name), node.rank, node.other);
    return fmt::format("\"{}\" of rank {}", printable(what.name), node.rank);
}

void Meetings::check_groups() {
    std::map<Place, std::vector<std::uint32_t>> strangers;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        if (idle(rank)) continue;
        for (const Calls& list : shape(rank).calls) {
            const std::uint32_t group = families_[list.family].group_of(rank);
            if (group == Family::kNone) {
                strangers[{program_of_[rank], list.operations.front()}].push_back(rank);
                continue;
            }
            const std::uint32_t leader = families_[list.family].member(group, 0);
            if (leader == rank) {
                check_shape(rank, list, group);
                check_group(list.family, group);
            } else if (calls(leader, list.family) == nullptr) {
                refuse_group(list.family, group);
            }
        }
    }
    for (const auto& [where, ranks] : strangers) {
        const Operation& what = job_.programs[where.first].operations[where.second];
        const std::uint32_t family = std::get<CollectiveCall>(what.action).group;
        refuse(place_of(job_.programs[where.first], where.first, where.second),
               fmt::format("expected only members of group \"{}\" to call it in {}; not {}",
                           printable(job_.groups[family].name), call_text(what), ranks_text(ranks)),
               "");
    }
}

void Meetings::check_group(std::uint32_t family, std::uint32_t group) {
    const std::uint32_t leader = families_[family].member(group, 0), size = families_[family].size(group);
    for (std::uint32_t i = 1; i < size; ++i)
        if (!alike(leader, families_[family].member(group, i), family)) return refuse_group(family, group);
}

// What an operation says of the group's size.
void Meetings::check_shape(std::uint32_t rank, const Calls& list, std::uint32_t group) {
    const std::uint32_t size = families_[list.family].size(group);
    for (const std::uint32_t operation : list.operations) {
        const CollectiveCall& what = call(rank, operation);
        const bool root = what.root < size;
        if (root && (what.pair_bytes.empty() || what.pair_bytes.size() == size)) continue;
        if (!refused_.insert({program_of_[rank], operation}).second) continue;
        const std::string of = group_text(list.family, group);
        if (!root)
            refuse(place(rank, operation) + "/root", fmt::format("expected a position in {}, below {}", of, size),
                   fmt::format("{}", what.root));
        else
            refuse(place(rank, operation) + "/pair_sizes",
                   fmt::format("expected {} lists of {} sizes for {}", size, size, of),
                   fmt::format("{}", what.pair_bytes.size()));
    }
}

bool Meetings::alike(std::uint32_t rank, std::uint32_t other, std::uint32_t family) {
    if (program_of_[rank] == program_of_[other]) return true;
    if (idle(other)) return false;
    const auto [known, is_new] = alike_.try_emplace({program_of_[rank], program_of_[other], family}, false);
    if (!is_new) return known->second;
    const Calls* const a = calls(rank, family);
    const Calls* const b = calls(other, family);
    if (b == nullptr || a->operations.size() != b->operations.size()) return false;
    for (std::size_t i = 0; i < a->operations.size(); ++i)
        if (!same_call(call(rank, a->operations[i]), call(other, b->operations[i]))) return false;
    return known->second = true;
}

// Says the first turn in which not all members call the same, and of each member what it does then.
void Meetings::refuse_group(std::uint32_t family, std::uint32_t group) {
    if (problems_.size() >= kMostProblems || !refused_groups_.insert({family, group}).second) return;
    const std::vector<std::uint32_t> members = families_[family].members(group);
    for (std::uint32_t turn = 0;; ++turn) {
        std::optional<std::pair<std::uint32_t, std::uint32_t>> first;  // rank and operation that are waited for
        std::vector<std::uint32_t> arrived, never;
        std::map<std::string, std::vector<std::uint32_t>> others;
        for (const std::uint32_t rank : members) {
            const Calls* const list = calls(rank, family);
            if (list == nullptr || turn >= list->operations.size()) {
                never.push_back(rank);
                continue;
            }
            const std::uint32_t at = list->operations[turn];
            if (!first) first = {rank, at};
            if (same_call(call(first->first, first->second), call(rank, at)))
                arrived.push_back(rank);
            else
                others[call_text(operation(rank, at))].push_back(rank);
        }
        if (!first) return;
        if (never.empty() && others.empty()) continue;
        std::string text = fmt::format("expected all of {} in {}; {} arrived", group_text(family, group),
                                       call_text(operation(first->first, first->second)), ranks_text(arrived));
        if (!never.empty()) text += fmt::format(", {} never {}", ranks_text(never), never.size() == 1 ? "does" : "do");
        for (const auto& [what, ranks] : others)
            text += fmt::format(", {} {} {} instead", ranks_text(ranks), ranks.size() == 1 ? "calls" : "call", what);
        return refuse(place(first->first, first->second), std::move(text), "");
    }
}

void Meetings::refuse_lonely() {
    for (const bool sends : {true, false})
        for (const auto& [where, ends] : lonely_[sends ? 0 : 1]) {
            const auto ranks = each_once(ends.first), peers = each_once(ends.second);
            const std::string what =
                fmt::format("\"{}\"", printable(job_.programs[where.first].operations[where.second].name));
            const char* const does = ranks.size() == 1 ? "s" : "";
            const char* const not_met = peers.size() == 1 ? "does" : "do";
            refuse(place_of(job_.programs[where.first], where.first, where.second),
                   sends ? fmt::format("expected a receive for each send; {} send{} {} to {}, which {} not receive it",
                                       ranks_text(ranks), does, what, ranks_text(peers), not_met)
                         : fmt::format("expected a send for each receive; {} wait{} in {} for {}, which {} not send it",
                                       ranks_text(ranks), does, what, ranks_text(peers), not_met),
                   "");
        }
}

}  // namespace fmsim
