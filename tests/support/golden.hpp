// What users see, compared with the files in tests/golden/.
//
// FMSIM_UPDATE_GOLDEN=1 ctest rewrites them and fails; git diff is the review.
#pragma once

#include <filesystem>
#include <string>

namespace fmsim::test {

std::filesystem::path golden_folder();

std::string read_whole(const std::filesystem::path& path);

// `name` is a path in the golden folder.
void check_golden(const std::string& name, const std::string& actual);

}  // namespace fmsim::test
