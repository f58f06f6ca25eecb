// What is wrong with a job whatever its ranks are, and the order of operations inside one program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fmsim/workload.hpp"

namespace fmsim {

// Lists of numbers, one behind the other.
struct WaitRows {
    std::vector<std::uint32_t> first{0};
    std::vector<std::uint32_t> values;
    std::span<const std::uint32_t> of(std::size_t row) const {
        return std::span(values).subspan(first[row], first[row + 1] - first[row]);
    }
    void end_row() { first.push_back(static_cast<std::uint32_t>(values.size())); }
    std::size_t size() const { return first.size() - 1; }
};

// For each operation those it waits for: the one before it on its stream, and its `after`. Sorted, each once.
WaitRows waits_of(const Program& program);

// Where it is written, or counted in the job.
std::string place_of(const GroupFamily& family, std::size_t number);
std::string place_of(const Program& program, std::size_t number);
std::string place_of(const Program& program, std::size_t number, std::size_t operation);

// Pointers without a place of their own begin with `prefix`.
std::vector<Problem> job_problems(const Job& job, const std::string& prefix);

}  // namespace fmsim
