// The table of predicted calls that `collective` and `run` share, so that both say the same of the same call.
#pragma once

#include "fmsim/report.hpp"
#include "table.hpp"

namespace fmsim {

// nccl-tests' columns, then ours. In front of them the operation's name where `named`.
Table calls_table(const std::vector<ReportedCall>& calls, bool named);

// Prediction, measurement and closed form side by side, for sizes that were measured.
Table comparison_table(const std::vector<ReportedCall>& calls);

std::string_view fidelity_name(Fidelity fidelity);

// "# warning: ..." a line each.
std::string warning_lines(const Provenance& provenance);

// A report as a document: what it rests on in front and behind what it says.
std::string json_document(const Provenance& provenance, const nlohmann::ordered_json& says);

}  // namespace fmsim
