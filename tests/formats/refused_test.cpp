// Every file in golden/refused is refused with the message beside it.
//
// The first word of a file's name says which reader it is for. A message has the file, a line, the JSON pointer where
// there is one, what was expected and what was found; nothing else may be thrown.
#include <algorithm>
#include <regex>

#include <catch2/catch.hpp>

#include "fmsim/formats.hpp"
#include "formats/refusal.hpp"
#include "support/golden.hpp"

namespace fmsim::test {
namespace {

std::vector<std::filesystem::path> refused_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(golden_folder() / "refused"))
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

// A workload is taken as far as its tasks, on 16 ranks.
void read_workload(const std::string& text, const std::string& name) {
    const Workload work = parse_workload(text, name);
    try {
        for (const Job& job : work.jobs) tasks_of(job, 16);
    } catch (const InputError& error) {
        throw in_file(error, text, name);
    }
}

std::string message_of(const std::filesystem::path& path) {
    const std::string name = path.filename();
    const std::string text = read_whole(path);
    return refusal([&] {
        if (name.starts_with("workload_")) read_workload(text, name);
        if (name.starts_with("system_")) parse_solve(text, name);
        if (name.starts_with("cluster_")) parse_cluster(text, name, Catalogue::shipped());
        if (name.starts_with("measurements_")) parse_measurements(text, name);
    });
}

TEST_CASE("each refused file gives the message beside it") {
    const auto files = refused_files();
    CHECK(files.size() >= 90);
    for (const auto& path : files) check_golden("refused/" + path.stem().string() + ".txt", message_of(path) + "\n");
}

TEST_CASE("each line of each message names file and line, and no terminal would obey it") {
    const std::regex sound("[a-z0-9_]+\\.json:[0-9]+: (/[^:]*: )?(expected |no such ).*");
    for (const auto& path : refused_files()) {
        CAPTURE(path.filename());
        std::istringstream lines(message_of(path));
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK((std::regex_match(line, sound) || line.ends_with("there may be more problems than these")));
            CHECK(std::none_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
            CHECK(line.find("\xc2\x9b") == std::string::npos);
        }
    }
}

}  // namespace
}  // namespace fmsim::test
