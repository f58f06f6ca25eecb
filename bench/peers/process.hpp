// A program run as a fresh process: what it printed, its user time and its largest memory.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace peers {

struct Ran {
    bool well{};  // exit code 0
    std::string printed;
    double user{};  // seconds
    double megabytes{};
};

inline Ran ran(std::vector<std::string> words) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process");
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(ends[1], 1);
        dup2(nowhere, 2);
        close(ends[0]);
        close(ends[1]);
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        _exit(127);
    }
    close(ends[1]);
    Ran result;
    std::array<char, 4096> block{};
    for (ssize_t n = 0; (n = read(ends[0], block.data(), block.size())) > 0;)
        result.printed.append(block.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    result.well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    result.user = static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
    result.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
    return result;
}

// The least user time of several runs, which on a shared machine is the one least disturbed.
inline Ran least(const std::vector<std::string>& words, int times) {
    Ran best = ran(words);
    for (int i = 1; i < times; ++i) {
        const Ran next = ran(words);
        if (next.well && next.user < best.user) best = next;
    }
    return best;
}

}  // namespace peers
