// What can be refused without knowing how many ranks there are.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "job_check.hpp"

namespace fmsim {
namespace {

std::string quoted(const std::string& name) { return fmt::format("\"{}\"", printable(name)); }

class Check {
public:
    Check(const Job& job, const std::string& prefix) : job_(job), prefix_(prefix) {}

    std::vector<Problem> problems() {
        names_of_families();
        for (std::size_t i = 0; i < job_.groups.size(); ++i) family(job_.groups[i], place_of(job_.groups[i], i));
        if (job_.start.fs < 0) refuse("", "expected a start of 0 or later", "");
        ranks_of_programs();
        if (job_.programs.empty()) refuse("/programs", "expected at least one program", "");
        for (std::size_t i = 0; i < job_.programs.size(); ++i) program(i);
        return std::move(problems_);
    }

private:
    void refuse(std::string place, std::string expected, std::string found) {
        problems_.push_back({.pointer = std::move(place), .expected = std::move(expected), .found = std::move(found)});
    }
    // What no file has a place for is counted behind the prefix.
    std::string placed(const std::string& own, const std::string& counted) const {
        return own.empty() ? prefix_ + counted : counted;
    }

    void names_of_families() {
        std::set<std::string_view> seen;
        for (std::size_t i = 0; i < job_.groups.size(); ++i)
            if (!seen.insert(job_.groups[i].name).second)
                refuse(placed(job_.groups[i].place, place_of(job_.groups[i], i)), "expected a name of its own",
                       job_.groups[i].name);
    }

    void family(const GroupFamily& family, const std::string& counted) {
        const std::string place = placed(family.place, counted);
        if (!family.members.empty() && family.size != 0) refuse(place, "expected either ranks or a size", "");
        if (family.stride == 0) refuse(place, "expected a stride of 1 or more", "0");
        std::set<std::uint32_t> seen;
        for (const auto& group : family.members) {
            if (group.empty()) refuse(place, "expected at least one rank in each group", "");
            for (const std::uint32_t rank : group)
                if (!seen.insert(rank).second)
                    return refuse(place, "expected each rank in one group only, and once", fmt::format("{}", rank));
        }
    }

    void ranks_of_programs() {
        std::set<std::uint32_t> seen;
        for (std::size_t i = 0; i < job_.programs.size(); ++i) {
            const Program& program = job_.programs[i];
            const std::string place = placed(program.place, place_of(program, i));
            if (program.ranks.empty() && job_.programs.size() > 1)
                refuse(place, "expected the ranks of each of several programs", "none");
            for (const std::uint32_t rank : program.ranks)
                if (!seen.insert(rank).second) {
                    refuse(place, "expected each rank in one program only, and once", fmt::format("{}", rank));
                    break;
                }
        }
    }

    void program(std::size_t number) {
        const Program& program = job_.programs[number];
        const std::string place = placed(program.place, place_of(program, number));
        if (program.operations.empty()) refuse(place + "/operations", "expected at least one operation", "");
        std::unordered_set<std::string_view> names;  // only asked
        names.reserve(program.operations.size());
        bool sound = true;
        for (std::size_t i = 0; i < program.operations.size(); ++i) {
            const Operation& operation = program.operations[i];
            if (operation.place.empty())
                place_ = fmt::format("{}/operations/{}", place, i);
            else
                place_ = operation.place;
            if (!names.insert(operation.name).second)
                refuse(place_ + "/name", "expected a name of its own", operation.name);
            if (operation.start.fs < 0) refuse(place_ + "/start", "expected a start of 0 or later", "");
            for (const std::uint32_t before : operation.after)
                if (before >= program.operations.size()) {
                    refuse(place_ + "/after", "expected operations of the same program", fmt::format("{}", before));
                    sound = false;
                }
            std::visit([this](const auto& action) { check(action); }, operation.action);
        }
        if (sound) circle(program, place);
    }

    void check(const Compute& compute) {
        const bool work = compute.flops != 0 || compute.bytes.count != 0;
        if (compute.duration.has_value() == work)
            refuse(place_, "expected compute with either a duration, or flops and bytes", work ? "both" : "neither");
        if (compute.duration && compute.duration->fs < 0) refuse(place_, "expected a duration of 0 or more", "");
        if (!(compute.flops >= 0) || !std::isfinite(compute.flops))
            refuse(place_, "expected flops of 0 or more", fmt::format("{}", compute.flops));
        if (compute.bytes.count < 0) refuse(place_, "expected bytes of 0 or more", to_text(compute.bytes));
    }
    void check(const Delay& delay) {
        if (delay.span.fs < 0) refuse(place_, "expected a delay of 0 or more", "");
    }
    void check(const CollectiveCall& call) {
        if (call.size.count < 0) refuse(place_ + "/size", "expected a size of 0 or more", to_text(call.size));
        if (call.group >= job_.groups.size())
            refuse(place_ + "/group", "expected a group of the job", fmt::format("{}", call.group));
        if (call.root != 0 && call.collective != Collective::broadcast && call.collective != Collective::reduce)
            refuse(place_ + "/root", "expected a root of broadcast and reduce only",
                   std::string(name(call.collective)));
        if (!call.pair_bytes.empty()) pairs(call);
        if (call.experts) experts(*call.experts);
    }
    void experts(const ExpertCall& call) {
        const auto above_zero = [&](const char* key, std::uint32_t value) {
            if (value == 0) refuse(fmt::format("{}/{}", place_, key), "expected a number above 0", "0");
        };
        above_zero("hidden", call.hidden);
        above_zero("top_k", call.top_k);
        above_zero("experts", call.experts);
        if (!(call.skew >= 0) || !std::isfinite(call.skew))
            refuse(place_ + "/skew", "expected a skew of 0 or more", fmt::format("{}", call.skew));
    }
    void pairs(const CollectiveCall& call) {
        if (call.collective != Collective::all_to_all)
            refuse(place_ + "/pair_sizes", "expected sizes of pairs for all_to_all only",
                   std::string(name(call.collective)));
        for (const auto& row : call.pair_bytes) {
            if (row.size() != call.pair_bytes.size())
                return refuse(place_ + "/pair_sizes", "expected as many sizes in each list as there are lists",
                              fmt::format("{} in one of {}", row.size(), call.pair_bytes.size()));
            for (const std::int64_t size : row)
                if (size < 0)
                    return refuse(place_ + "/pair_sizes", "expected sizes of 0 or more", fmt::format("{}", size));
        }
    }
    void check(const Transfers& transfers) {
        if (transfers.sends.empty() && transfers.receives.empty())
            refuse(place_, "expected at least one send or receive", "");
        for (const Send& send : transfers.sends) transfer(send.to, send.size);
        for (const Receive& receive : transfers.receives) transfer(receive.from, receive.size);
    }
    void transfer(const Peer& peer, Bytes size) {
        if (size.count < 0) refuse(place_, "expected a message of 0 bytes or more", to_text(size));
        if (peer.relative && peer.rank == 0) refuse(place_, "expected another rank than the own one", "+0");
        if (!peer.relative && peer.rank < 0)
            refuse(place_, "expected a rank, or one as \"+1\" or \"-1\" from the own", fmt::format("{}", peer.rank));
    }

    // An operation that waits, over others, for itself. `left` counts what each still waits for.
    void circle(const Program& program, const std::string& place) {
        const bool backward =
            std::any_of(program.operations.begin(), program.operations.end(), [&](const Operation& one) {
                const auto number = static_cast<std::uint32_t>(&one - program.operations.data());
                return std::any_of(one.after.begin(), one.after.end(),
                                   [&](std::uint32_t before) { return before >= number; });
            });
        if (!backward) return;  // all wait for earlier ones
        const WaitRows waits = waits_of(program);
        const std::vector<bool> ends = ending(waits);
        const auto stuck = std::find(ends.begin(), ends.end(), false);
        if (stuck == ends.end()) return;
        // Whoever waits for ever waits for one that does, so this way comes back to where it was.
        std::vector<std::size_t> way{static_cast<std::size_t>(stuck - ends.begin())};
        std::vector<bool> seen(ends.size());
        while (!seen[way.back()]) {
            seen[way.back()] = true;
            for (const std::uint32_t before : waits.of(way.back()))
                if (!ends[before]) {
                    way.push_back(before);
                    break;
                }
        }
        way.erase(way.begin(), std::find(way.begin(), way.end(), way.back()));
        std::string text = quoted(program.operations[way.front()].name);
        for (std::size_t i = 1; i < std::min<std::size_t>(way.size(), 8); ++i)
            text += " waits for " + quoted(program.operations[way[i]].name);
        const Operation& first = program.operations[way.front()];
        refuse(first.place.empty() ? fmt::format("{}/operations/{}", place, way.front()) : first.place,
               fmt::format("expected no circle of operations; {}", text), "");
    }
    static std::vector<bool> ending(const WaitRows& waits) {
        std::vector<std::uint32_t> left(waits.size()), free;
        std::vector<std::vector<std::uint32_t>> followers(waits.size());
        std::vector<bool> ends(waits.size());
        for (std::uint32_t i = 0; i < waits.size(); ++i) {
            left[i] = static_cast<std::uint32_t>(waits.of(i).size());
            for (const std::uint32_t before : waits.of(i)) followers[before].push_back(i);
            if (left[i] == 0) free.push_back(i);
        }
        while (!free.empty()) {
            const std::uint32_t done = free.back();
            free.pop_back();
            ends[done] = true;
            for (const std::uint32_t follower : followers[done])
                if (--left[follower] == 0) free.push_back(follower);
        }
        return ends;
    }

    const Job& job_;
    const std::string& prefix_;
    std::string place_;  // of the operation at hand
    std::vector<Problem> problems_;
};

}  // namespace

WaitRows waits_of(const Program& program) {
    std::map<std::string_view, std::uint32_t> last;  // on each stream
    WaitRows waits;
    waits.first.reserve(program.operations.size() + 1);
    waits.values.reserve(program.operations.size());
    std::vector<std::uint32_t> before;
    for (std::uint32_t i = 0; i < program.operations.size(); ++i) {
        const Operation& operation = program.operations[i];
        before = operation.after;
        const auto [previous, first] = last.try_emplace(operation.stream, i);
        if (!first) before.push_back(previous->second);
        previous->second = i;
        std::sort(before.begin(), before.end());
        before.erase(std::unique(before.begin(), before.end()), before.end());
        waits.values.insert(waits.values.end(), before.begin(), before.end());
        waits.end_row();
    }
    return waits;
}

std::string place_of(const GroupFamily& family, std::size_t number) {
    return family.place.empty() ? fmt::format("/groups/{}", number) : family.place;
}
std::string place_of(const Program& program, std::size_t number) {
    return program.place.empty() ? fmt::format("/programs/{}", number) : program.place;
}
std::string place_of(const Program& program, std::size_t number, std::size_t operation) {
    const std::string& own = program.operations[operation].place;
    return own.empty() ? fmt::format("{}/operations/{}", place_of(program, number), operation) : own;
}

std::vector<Problem> job_problems(const Job& job, const std::string& prefix) { return Check(job, prefix).problems(); }

void check(const Workload& workload) {
    std::vector<Problem> problems;
    const auto refuse = [&](std::string place, std::string expected, std::string found) {
        problems.push_back({.pointer = std::move(place), .expected = std::move(expected), .found = std::move(found)});
    };
    if (workload.jobs.empty()) refuse("/jobs", "expected at least one job", "");
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const std::string place = workload.jobs.size() == 1 ? "" : fmt::format("/jobs/{}", i);
        if (!names.insert(workload.jobs[i].name).second)
            refuse(place + "/name", "expected a name of its own", workload.jobs[i].name);
        for (Problem& problem : job_problems(workload.jobs[i], place)) problems.push_back(std::move(problem));
    }
    if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace fmsim
