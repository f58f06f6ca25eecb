// YAML documents as JSON values: mappings, lists and scalars. Scalars stay texts as they stand, since "010" is a name
// in one place and a number in another; null is null.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "fmsim/base.hpp"

namespace fmsim {

// Throws InputError for what is no YAML, for a key twice, and for aliases that lead in a circle or to more values than
// memory should hold.
std::vector<nlohmann::json> yaml_documents(std::string_view text, const std::string& file);

// Gives each problem the line of the value that its pointer names, or of the closest one around it. `documents` says
// for each problem in which document that is.
void add_yaml_lines(std::vector<Problem>& problems, const std::vector<std::size_t>& documents, std::string_view text);

}  // namespace fmsim
