// Short ways to jobs for these tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fmsim/workload.hpp"

namespace fmsim::test {

inline Operation call(std::string name, std::uint32_t group, Bytes size = Bytes{1024},
                      Collective collective = Collective::all_reduce) {
    return {.name = std::move(name), .action = CollectiveCall{.collective = collective, .size = size, .group = group}};
}
inline Operation compute(std::string name, SimTime duration = 1_us) {
    return {.name = std::move(name), .action = Compute{.duration = duration}};
}
inline Operation send(std::string name, Peer to, Bytes size = Bytes{8}) {
    return {.name = std::move(name), .action = Transfers{.sends = {{to, size}}}};
}
inline Operation receive(std::string name, Peer from, Bytes size = Bytes{8}) {
    return {.name = std::move(name), .action = Transfers{.receives = {{from, size}}}};
}
inline Operation on(std::string stream, Operation operation) {
    operation.stream = std::move(stream);
    return operation;
}
inline Operation after(std::vector<std::uint32_t> before, Operation operation) {
    operation.after = std::move(before);
    return operation;
}

inline Peer rank(std::int64_t number) { return {.relative = false, .rank = number}; }
inline Peer next(std::int64_t by) { return {.relative = true, .rank = by}; }

// Group 0 is all ranks.
inline Job job_of(std::vector<GroupFamily> more, std::vector<Program> programs) {
    Job job{.groups = {{.name = "all"}}, .programs = std::move(programs)};
    for (GroupFamily& family : more) job.groups.push_back(std::move(family));
    return job;
}
inline Job everyone(std::vector<Operation> operations, std::vector<GroupFamily> more = {}) {
    return job_of(std::move(more), {{.operations = std::move(operations)}});
}

// "a 0,1,2 after 0", a line each: the operation, the ranks, the tasks it waits for.
inline std::string lines_of(const Job& job, std::uint32_t ranks) {
    std::string text;
    const auto list = [&](const std::vector<std::uint32_t>& numbers) {
        for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
    };
    for (const Task& task : tasks_of(job, ranks)) {
        text += job.programs[task.program].operations[task.operation].name + " ";
        list(task.ranks);
        if (!task.after.empty()) text += " after ";
        list(task.after);
        text += "\n";
    }
    return text;
}

inline std::string refusal_of(const Job& job, std::uint32_t ranks) {
    try {
        tasks_of(job, ranks);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

}  // namespace fmsim::test
