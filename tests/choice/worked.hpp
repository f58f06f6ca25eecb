// The communicators of tests/data/nccl-choices.json, as NCCL itself saw them.
#pragma once

#include <nlohmann/json.hpp>

#include "fmsim/choice.hpp"

namespace fmsim::worked {

const nlohmann::json& examples();

Communicator communicator_of(const nlohmann::json& system);

// "AllReduce" -> all_reduce.
Collective collective_of(const std::string& word);

template <class All>
auto named(const All& all, const std::string& word) {
    for (const auto& one : all)
        if (name(one) == word) return one;
    throw std::runtime_error("no such name: " + word);
}

}  // namespace fmsim::worked
