// Words with which people describe a training run -> fields of a plan.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "fmsim/training.hpp"

namespace fmsim {

// "FP8-delayed", "BF16"; empty for one we do not know.
std::optional<Precision> training_precision(const std::string& words);
// "selective: layernorm+moe_act", "full", "none". Nothing: not said.
std::optional<Recompute> training_recompute(const std::string& words);
// A whole number of `least` to 2^24. Throws std::runtime_error, also where there is none.
std::int64_t count_at(const nlohmann::json& json, const char* key, std::int64_t least);
// A model of measured rows. Throws std::runtime_error with what is missing.
TransformerModel measured_model(const nlohmann::json& model);

}  // namespace fmsim
