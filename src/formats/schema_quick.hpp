// Whether a JSON value follows a schema, for the many that do: without a parse of the schema or words for what is
// wrong.
#pragma once

#include <nlohmann/json.hpp>

namespace fmsim {

// True: `value` follows `root`, one of our schemas with its definitions. False: it does not, or has something that only
// the full check (schema_check.cpp) knows: intricate patterns, numbers beyond 2^53, keywords that our schemas did not
// have.
bool surely_follows(const nlohmann::json& value, const nlohmann::json& root);

}  // namespace fmsim
