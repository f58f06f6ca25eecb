// The data files that are compiled in, by path: "topologies/gpus/...", "schemas/...". Made by cmake/embed.cmake.
#pragma once

#include <map>
#include <string>

namespace fmsim {

const std::map<std::string, std::string>& embedded_files();

}  // namespace fmsim
