#include "support/golden.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

namespace fmsim::test {

std::filesystem::path golden_folder() { return std::filesystem::path(FMSIM_SOURCE_DIR) / "tests" / "golden"; }

std::string read_whole(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void check_golden(const std::string& name, const std::string& actual) {
    const auto path = golden_folder() / name;
    CAPTURE(name);
    if (std::getenv("FMSIM_UPDATE_GOLDEN") == nullptr) {
        REQUIRE(std::filesystem::exists(path));
        CHECK(actual == read_whole(path));
        return;
    }
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
    FAIL_CHECK("rewrote " << name << ": look at git diff, then run without the switch");
}

}  // namespace fmsim::test
