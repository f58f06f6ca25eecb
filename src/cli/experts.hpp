// Tokens to experts on the command line: `fmsim collective moe_dispatch` and `moe_combine`.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {

struct ExpertOptions {
    std::string tokens;  // empty: 128
    std::uint32_t hidden = 7168;
    std::uint32_t top_k = 8;
    std::uint32_t experts = 256;
    std::uint32_t limit = 0;  // 0: none
    std::string dtype;        // empty: fp8 out, bf16 back
    std::string dispatchers = "all";
    std::string routing = "random";
    double skew = 1;
    std::uint32_t seed = 0;
    std::uint32_t sms = 0;
};
void add_options(CLI::App& command, ExpertOptions& options);

bool is_of_experts(const std::string& collective);

// A row a dispatcher and number of tokens. `print_scenario`: the same as a workload file, and nothing predicted.
int run_experts(const std::string& collective, const ExpertOptions& options, const ScenarioOptions& where,
                bool print_scenario, const Output& output);

}  // namespace fmsim::cli
