// Who meets whom: the operations of all ranks, collectives and transfers of one meeting joined into one node.
//
// No time and no search is needed. An operation has an item for each thing it does: one, or as many as it has
// transfers. A rank's k-th collective on a family is its group's k-th node; the k-th message from a rank to another is
// the k-th receive there. So the lists of two ranks are compared, not played against each other.
//
//   rank 0:  a on {0,1}   compute   b on {0,1}        node 0: a of 0 and 1     node 1: compute of 0
//   rank 1:  a on {0,1}   b on {0,1}                  node 2: b of 0 and 1
//
// A group's first member, its leader, makes the nodes and the others look them up, so nothing is kept for each group.
// Cost: linear in the items of all ranks, with a logarithm for groups that are lists.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "families.hpp"
#include "job_check.hpp"

namespace fmsim {

// What happens once.
struct Node {
    std::uint32_t rank;       // the leader, the sender, or the only one
    std::uint32_t operation;  // of the rank's program
    std::uint32_t other;      // of a transfer the receiver; of a collective how many its group has done before
    std::uint32_t other_operation;
    std::uint32_t send;  // which of the operation's
};

class Meetings {
public:
    static constexpr std::size_t kMostProblems = 20;

    // Throws InputError when somebody does not meet whom they wait for, LimitReached for too many items.
    Meetings(const Job& job, std::uint32_t ranks);

    const std::vector<Node>& nodes() const { return nodes_; }
    const Operation& operation(const Node& node) const { return operation(node.rank, node.operation); }
    const Operation& operation(std::uint32_t rank, std::uint32_t operation) const {
        return job_.programs[program_of_[rank]].operations[operation];
    }
    std::uint32_t program(std::uint32_t rank) const { return program_of_[rank]; }
    std::string place(std::uint32_t rank, std::uint32_t operation) const;

    // The ranks of a node with the operation that each performs there: (rank, operation).
    template <class Visit>
    void each_part(const Node& node, Visit visit) const;

    // The nodes that a rank's operation waits for, some more than once.
    template <class Visit>
    void each_wait(std::uint32_t rank, std::uint32_t operation, Visit visit) const;

    // "x" (all_reduce of 1 KiB, group "tp"), as messages call it.
    std::string text(const Node& node) const;

private:
    // The collectives of a program on one family, in its order.
    struct Calls {
        std::uint32_t family;
        std::vector<std::uint32_t> operations;
    };
    struct Shape {
        WaitRows waits;
        std::vector<std::uint32_t> first_item;  // of each operation; one more at the end
        std::vector<Calls> calls;               // by family
        std::vector<std::uint32_t> list;        // of a collective: which of the calls
        std::vector<std::uint32_t> turn;        // and how many of them come before it
    };
    // Where a program's items are in node_of_.
    struct Slots {
        std::size_t first, ranks;
    };
    // One end of a message.
    struct End {
        std::uint32_t rank, peer, operation, item;
        Bytes size;
    };
    using Place = std::pair<std::uint32_t, std::uint32_t>;  // program and operation

    static Shape shape_of(const Program& program);
    const CollectiveCall& call(std::uint32_t rank, std::uint32_t operation) const {
        return std::get<CollectiveCall>(this->operation(rank, operation).action);
    }
    bool idle(std::uint32_t rank) const { return program_of_[rank] == Family::kNone; }
    const Shape& shape(std::uint32_t rank) const { return shapes_[program_of_[rank]]; }
    // All ranks of a program beside each other: they are visited one operation after another.
    std::size_t slot(std::uint32_t rank, std::size_t item) const {
        const Slots& slots = slots_[program_of_[rank]];
        return slots.first + item * slots.ranks + position_of_[rank];
    }
    std::uint32_t& node_of(std::uint32_t rank, std::size_t item) { return node_of_[slot(rank, item)]; }
    const Calls* calls(std::uint32_t rank, std::uint32_t family) const;
    std::string group_text(std::uint32_t family, std::uint32_t group) const;
    static std::string call_text(const Operation& operation);

    void check_families();
    void place_programs();
    void check_groups();
    void check_group(std::uint32_t family, std::uint32_t group);
    void check_shape(std::uint32_t rank, const Calls& list, std::uint32_t group);
    bool alike(std::uint32_t rank, std::uint32_t other, std::uint32_t family);
    void refuse_group(std::uint32_t family, std::uint32_t group);
    void make_nodes();
    void make_node(std::uint32_t rank, std::uint32_t operation);
    void make_ends(std::uint32_t rank, std::uint32_t operation);
    std::optional<std::uint32_t> peer_of(std::uint32_t rank, std::uint32_t operation, const Peer& peer);
    void join_groups();
    void pair_ends();
    void pair_of(std::span<const End> sends, std::span<const End> receives);
    void pair(const End& send, const End& receive);
    void refuse_lonely();
    void refuse(std::string place, std::string expected, std::string found);
    void finish();

    const Job& job_;
    std::uint32_t ranks_;
    std::vector<Family> families_;
    std::vector<Shape> shapes_;
    std::vector<std::uint32_t> program_of_;   // of each rank
    std::vector<std::uint32_t> position_of_;  // of each rank among those of its program
    std::vector<Slots> slots_;                // of each program
    std::vector<std::uint32_t> node_of_;      // of each item of each rank
    std::vector<Node> nodes_;
    std::vector<End> sends_, receives_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, bool> alike_;  // by two programs and a family
    std::map<Place, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> lonely_[2];  // ranks and peers
    std::set<Place> refused_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> refused_groups_;
    std::vector<Problem> problems_;
};

template <class Visit>
void Meetings::each_part(const Node& node, Visit visit) const {
    const Action& action = operation(node).action;
    if (std::holds_alternative<Transfers>(action)) {
        visit(node.rank, node.operation);
        visit(node.other, node.other_operation);
    } else if (const auto* const call = std::get_if<CollectiveCall>(&action)) {
        const Family& family = families_[call->group];
        const std::uint32_t group = family.group_of(node.rank), size = family.size(group);
        std::uint32_t program = Family::kNone, turn = 0;
        for (std::uint32_t i = 0; i < size; ++i) {
            const std::uint32_t rank = family.member(group, i);
            if (program_of_[rank] != program) {
                program = program_of_[rank];
                turn = calls(rank, call->group)->operations[node.other];
            }
            visit(rank, turn);
        }
    } else {
        visit(node.rank, node.operation);
    }
}

template <class Visit>
void Meetings::each_wait(std::uint32_t rank, std::uint32_t operation, Visit visit) const {
    const Shape& mine = shape(rank);
    for (const std::uint32_t before : mine.waits.of(operation))
        for (std::uint32_t item = mine.first_item[before]; item < mine.first_item[before + 1]; ++item)
            visit(node_of_[slot(rank, item)]);
}

}  // namespace fmsim
