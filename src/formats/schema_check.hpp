// A JSON value against one of our draft-7 schemas, with messages that say what belongs there.
//
// A schema's `description` of a property is worded to follow "expected". An unknown key gets the nearest known one.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "fmsim/base.hpp"

namespace fmsim {

// All violations, without lines. `schema` is a name in schemas/: "workload".
std::vector<Problem> schema_problems(const nlohmann::json& value, const std::string& schema, const std::string& file);

}  // namespace fmsim
