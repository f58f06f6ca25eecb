// A job and the number of its ranks -> its tasks, in an order in which they can run.
//
// Meetings say which operations of the ranks are one node; here each node gets the nodes it waits for, and those that
// wait for nothing more come first, in order of their numbers (Kahn 1962). What is left over waits in a circle.
#include <algorithm>

#include <fmt/format.h>

#include "meetings.hpp"

namespace fmsim {
namespace {

constexpr std::size_t kMostWaits = std::size_t{1} << 30;
constexpr std::size_t kMostShown = 8;

// Of each node the nodes it waits for, each once.
WaitRows waits_of(const Meetings& meetings) {
    WaitRows waits;
    waits.first.reserve(meetings.nodes().size() + 1);
    std::vector<std::uint32_t> last_asked(meetings.nodes().size(), Family::kNone);
    for (std::uint32_t number = 0; number < meetings.nodes().size(); ++number) {
        meetings.each_part(meetings.nodes()[number], [&](std::uint32_t rank, std::uint32_t operation) {
            meetings.each_wait(rank, operation, [&](std::uint32_t before) {
                if (last_asked[before] == number) return;
                last_asked[before] = number;
                waits.values.push_back(before);
            });
        });
        if (waits.values.size() > kMostWaits)
            throw LimitReached(fmt::format("operations of the job wait for more than {} others", kMostWaits));
        waits.end_row();
    }
    return waits;
}

WaitRows followers_of(const WaitRows& waits) {
    WaitRows followers;
    followers.first.assign(waits.size() + 1, 0);
    for (const std::uint32_t before : waits.values) ++followers.first[before + 1];
    for (std::size_t i = 0; i < waits.size(); ++i) followers.first[i + 1] += followers.first[i];
    std::vector<std::uint32_t> fill(followers.first.begin(), followers.first.end() - 1);
    followers.values.resize(waits.values.size());
    for (std::uint32_t i = 0; i < waits.size(); ++i)
        for (const std::uint32_t before : waits.of(i)) followers.values[fill[before]++] = i;
    return followers;
}

// Shorter than all nodes when some wait in a circle; `place` of those is kNone.
std::vector<std::uint32_t> order_of(const WaitRows& waits, std::vector<std::uint32_t>& place) {
    const WaitRows followers = followers_of(waits);
    std::vector<std::uint32_t> left(waits.size()), order;
    order.reserve(waits.size());
    place.assign(waits.size(), Family::kNone);
    for (std::uint32_t i = 0; i < waits.size(); ++i) {
        left[i] = static_cast<std::uint32_t>(waits.of(i).size());
        if (left[i] == 0) order.push_back(i);
    }
    for (std::size_t next = 0; next < order.size(); ++next) {
        place[order[next]] = static_cast<std::uint32_t>(next);
        for (const std::uint32_t follower : followers.of(order[next]))
            if (--left[follower] == 0) order.push_back(follower);
    }
    return order;
}

// Whoever waits for ever waits for one that does, so this way comes back to where it was. First and last are the same.
std::vector<std::uint32_t> circle_of(const WaitRows& waits, const std::vector<std::uint32_t>& place) {
    const auto stuck = std::find(place.begin(), place.end(), Family::kNone);
    std::vector<std::uint32_t> way{static_cast<std::uint32_t>(stuck - place.begin())};
    std::vector<bool> seen(place.size());
    while (!seen[way.back()]) {
        seen[way.back()] = true;
        const auto before = waits.of(way.back());
        way.push_back(*std::find_if(before.begin(), before.end(),
                                    [&](std::uint32_t one) { return place[one] == Family::kNone; }));
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), way.back()));
    return way;
}

Problem stuck(const Meetings& meetings, const std::vector<std::uint32_t>& place, std::uint32_t number,
              std::uint32_t before) {
    const Node& node = meetings.nodes()[number];
    std::vector<std::uint32_t> arrived, missing;
    meetings.each_part(node, [&](std::uint32_t rank, std::uint32_t operation) {
        bool waits = false;
        meetings.each_wait(rank, operation, [&](std::uint32_t one) { waits = waits || place[one] == Family::kNone; });
        (waits ? missing : arrived).push_back(rank);
    });
    const std::string has = arrived.empty() ? "" : fmt::format("{} arrived, ", ranks_text(arrived));
    return {
        .pointer = meetings.place(node.rank, node.operation),
        .expected = fmt::format("expected no circle of waiting; in {} {}{} {} to it after \"{}\" only",
                                meetings.text(node), has, ranks_text(missing), missing.size() == 1 ? "comes" : "come",
                                printable(meetings.operation(meetings.nodes()[before]).name))};
}

[[noreturn]] void refuse_circle(const Meetings& meetings, const WaitRows& waits,
                                const std::vector<std::uint32_t>& place) {
    const std::vector<std::uint32_t> circle = circle_of(waits, place);
    std::vector<Problem> problems;
    for (std::size_t i = 0; i + 1 < circle.size() && i < kMostShown; ++i)
        problems.push_back(stuck(meetings, place, circle[i], circle[i + 1]));
    throw InputError(std::move(problems));
}

Task task_of(const Meetings& meetings, const Node& node) {
    const Operation& what = meetings.operation(node);
    Task task{.program = meetings.program(node.rank), .operation = node.operation, .start = what.start};
    meetings.each_part(node, [&](std::uint32_t rank, std::uint32_t operation) {
        task.ranks.push_back(rank);
        task.start = std::max(task.start, meetings.operation(rank, operation).start);
    });
    if (const auto* const transfers = std::get_if<Transfers>(&what.action))
        task.size = transfers->sends[node.send].size;
    return task;
}

}  // namespace

std::vector<Task> tasks_of(const Job& job, std::uint32_t ranks) {
    std::vector<Problem> problems = job_problems(job, "");
    if (ranks == 0) problems.push_back({.expected = "expected a job with at least one rank"});
    if (!problems.empty()) throw InputError(std::move(problems));
    const Meetings meetings(job, ranks);
    const WaitRows waits = waits_of(meetings);
    std::vector<std::uint32_t> place;
    const std::vector<std::uint32_t> order = order_of(waits, place);
    if (order.size() < place.size()) refuse_circle(meetings, waits, place);
    std::vector<Task> tasks;
    tasks.reserve(order.size());
    for (const std::uint32_t number : order) {
        Task task = task_of(meetings, meetings.nodes()[number]);
        task.after.reserve(waits.of(number).size());
        for (const std::uint32_t before : waits.of(number)) task.after.push_back(place[before]);
        std::sort(task.after.begin(), task.after.end());
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace fmsim
