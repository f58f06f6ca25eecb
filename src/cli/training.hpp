// What predictions of training plans rest on; validation says it too.
#pragma once

#include <string>

#include "scenario.hpp"

namespace fmsim::cli {

Provenance training_provenance(const std::string& inputs, const Catalogue& catalogue);

}  // namespace fmsim::cli
