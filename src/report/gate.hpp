// What the writers of the gate share: sentences, counts, and limits of those who read them.
#pragma once

#include <string>

#include "fmsim/report.hpp"

namespace fmsim {

std::string gate_text(const GateReport& report);
std::string gate_json(const GateReport& report);
std::string gate_junit(const GateReport& report);
std::string gate_sarif(const GateReport& report);
std::string gate_github(const GateReport& report);
std::string gate_markdown(const GateReport& report);

struct GateCounts {
    std::size_t within{}, improved{}, regressed{}, missing{}, allowed{};
};
GateCounts counts_of(const GateReport& report);
std::string summary_of(const GateReport& report);  // "2 regressed, 1 allowed, 20 within"

// "time_us 4839.3 beside 4400.8 (+9.96 %), limit 4405.2; EFA: ..."
std::string sentence_of(const Judgement& judgement);
std::string figure(const std::optional<double>& value);

// Cut to at most so many bytes, between two characters.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace fmsim
