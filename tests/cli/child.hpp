// The program as a shell would run it: arguments, standard input and environment in; exit code and both outputs out.
//
//   const Ended ended = run_program({.arguments = {"solve", "-"}, .input = "{}"});
//   ended.code;    // 3
//   ended.errors;  // "fmsim: error: ..."
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace fmsim::test {

enum class Stdout { captured, closed_pipe, closed, full_disk };  // a closed pipe is one that nobody reads any more
enum class Stderr { captured, terminal };

struct Child {
    std::vector<std::string> arguments;
    std::string input;
    std::vector<std::pair<std::string, std::string>> environment;  // beside what the test itself has
    std::filesystem::path folder;                                  // to run in
    Stdout out = Stdout::captured;
    Stderr err = Stderr::captured;
    bool no_room = false;  // no regular file may grow, as on a full disk
};
struct Ended {
    int code = -1;   // -1 when a signal ended it
    int signal = 0;  // 0 when none did
    std::string output;
    std::string errors;
};
Ended run_program(const Child& child);

// Runs with arguments only.
Ended fmsim(const std::vector<std::string>& arguments);

// A folder of its own for a test, gone with it.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // Writes a file into it and returns its path.
    std::string file(const std::string& name, const std::string& content) const;
    // Names of what is in it, in order.
    std::vector<std::string> names() const;

private:
    std::filesystem::path path_;
};

}  // namespace fmsim::test
