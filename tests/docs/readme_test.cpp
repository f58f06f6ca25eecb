// What the README shows is what the program prints.
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace {

std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string output_of(const std::string& command) {
    std::string text;
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> block{};
    while (const std::size_t n = std::fread(block.data(), 1, block.size(), pipe)) text.append(block.data(), n);
    CHECK(pclose(pipe) == 0);
    return text;
}

}  // namespace

TEST_CASE("the README shows the demo's table as the program prints it") {
    const std::string shown = output_of("cd " FMSIM_SOURCE_DIR " && " FMSIM_PROGRAM
                                        " collective all_reduce --cluster p5.48xlarge:2 --sizes 8..16GiB --factor 2"
                                        " --measured docs/measurements/p5-2node-allreduce-awsome.json");
    CHECK(shown.size() > 1000);
    CHECK(read(FMSIM_SOURCE_DIR "/README.md").find("```\n" + shown + "```") != std::string::npos);
}

TEST_CASE("every command that the README shows runs") {
    std::istringstream lines(read(FMSIM_SOURCE_DIR "/README.md"));
    int commands = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::string program = "build/release/fmsim";
        if (!line.starts_with(program)) continue;
        ++commands;
        INFO(line);
        CHECK_FALSE(output_of("cd " FMSIM_SOURCE_DIR " && " FMSIM_PROGRAM + line.substr(program.size())).empty());
    }
    CHECK(commands == 14);
}
