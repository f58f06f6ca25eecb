// Models inside other files.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "fmsim/training.hpp"

namespace fmsim {

// The keys of a config.json that stand at `pointer` of a file.
TransformerModel model_of(const nlohmann::json& value, const std::string& file, const std::string& pointer);

}  // namespace fmsim
