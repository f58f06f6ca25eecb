#include "cli/child.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <stdexcept>

#include "support/golden.hpp"

namespace fmsim::test {
namespace {

// Only what is safe between fork and exec.
[[noreturn]] void become(const Child& child, int in, int out, int err, char* const* arguments) {
    std::signal(SIGPIPE, SIG_DFL);
    if (child.no_room) {
        const rlimit nothing{0, 0};
        std::signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &nothing);
    }
    dup2(in, STDIN_FILENO);
    if (child.out == Stdout::closed)
        close(STDOUT_FILENO);
    else
        dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    for (const auto& [name, value] : child.environment) setenv(name.c_str(), value.c_str(), 1);
    if (!child.folder.empty() && chdir(child.folder.c_str()) != 0) _exit(126);
    execv(FMSIM_PROGRAM, arguments);
    _exit(127);
}

int must(int descriptor) {
    if (descriptor < 0) throw std::runtime_error("cannot open what the child needs");
    return descriptor;
}

int open_stdout(Stdout kind, const std::string& captured) {
    if (kind == Stdout::full_disk) return must(open("/dev/full", O_WRONLY));
    if (kind != Stdout::closed_pipe) return must(open(captured.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    int ends[2];
    must(pipe(ends));
    close(ends[0]);
    return ends[1];
}

// The far end of a terminal whose near end is `near`.
int open_terminal(int near) {
    must(grantpt(near));
    must(unlockpt(near));
    return must(open(ptsname(near), O_RDWR | O_NOCTTY));
}

std::string read_all(int descriptor) {
    std::string text;
    char block[4096];
    for (ssize_t got = 0; (got = read(descriptor, block, sizeof block)) > 0;)
        text.append(block, static_cast<std::size_t>(got));
    return text;
}

}  // namespace

Ended run_program(const Child& child) {
    const TemporaryFolder folder;
    const std::string out_path = folder.path() / "out";
    const std::string err_path = folder.path() / "err";
    const int in = must(open(folder.file("in", child.input).c_str(), O_RDONLY));
    const int out = open_stdout(child.out, out_path);
    const int terminal = child.err == Stderr::terminal ? must(posix_openpt(O_RDWR | O_NOCTTY)) : -1;
    const int err =
        terminal >= 0 ? open_terminal(terminal) : must(open(err_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));

    std::vector<char*> arguments{const_cast<char*>("fmsim")};
    for (const std::string& argument : child.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const pid_t pid = must(fork());
    if (pid == 0) become(child, in, out, err, arguments.data());
    for (const int descriptor : {in, out, err}) close(descriptor);

    Ended ended;
    if (terminal >= 0) {
        ended.errors = read_all(terminal);
        close(terminal);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
    ended.output = read_whole(out_path);
    if (terminal < 0) ended.errors = read_whole(err_path);
    return ended;
}

Ended fmsim(const std::vector<std::string>& arguments) { return run_program({.arguments = arguments}); }

TemporaryFolder::TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "fmsim_test_XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
}

std::vector<std::string> TemporaryFolder::names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace fmsim::test
