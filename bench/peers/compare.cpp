// SimGrid and fmsim's engine on the same work, one after the other in one run: user time, memory, ratios.
//
//   build/release/bench/peers/compare [times]          some four minutes
//
// `times` (3) is how often each short run is repeated; the least is taken. Both must predict the same time to 1e-6.
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "process.hpp"

namespace {

using namespace peers;

struct Case {
    const char* name;
    std::vector<std::string> words;
    double transfers;
    double faster;     // at least, as SimGrid's user time over ours
    double of_memory;  // at most, as our memory over SimGrid's; 0: not asked
    bool is_long;      // run once
};

std::vector<Case> cases() {
    const auto ring = [](double ranks, double steps) { return ranks * steps; };
    const auto pairs = [](double ranks) { return ranks * (ranks - 1); };
    return {{"ring of 512, every step", {"ring", "512"}, ring(512, 1022), 8, 0, false},
            {"ring of 4,096, first tenth", {"ring", "4096", "819"}, ring(4096, 819), 10, 0, true},
            {"equal all-to-all of 512", {"equal", "512"}, pairs(512), 0, 0, true},
            {"equal all-to-all of 1,024", {"equal", "1024"}, pairs(1024), 6, 0.2, true},
            {"unequal all-to-all of 64", {"unequal", "64"}, pairs(64), 0, 0, false},
            {"unequal all-to-all of 128", {"unequal", "128"}, pairs(128), 5, 0, true}};
}

}  // namespace

int main(int argc, char** argv) {
    const int times = argc > 1 ? std::atoi(argv[1]) : 3;
    const std::string folder = std::string(argv[0]).substr(0, std::string(argv[0]).rfind('/') + 1);
    fmt::print(
        "| work | transfers | SimGrid (s) | (MB) | fmsim (s) | (MB) | us a transfer | times faster | of the memory "
        "| asked for |\n|---|---|---|---|---|---|---|---|---|---|\n");
    bool met = true;
    for (const Case& one : cases()) {
        const auto side = [&](const char* program, int runs) {
            std::vector<std::string> words{folder + program};
            words.insert(words.end(), one.words.begin(), one.words.end());
            return least(words, runs);
        };
        const Ran theirs = side("simgrid_peer", one.is_long ? 1 : times), ours = side("fmsim_peer", times);
        const double predicted = std::atof(theirs.printed.c_str()), own = std::atof(ours.printed.c_str());
        const double faster = theirs.user / ours.user, memory = ours.megabytes / theirs.megabytes;
        const bool agree = theirs.well && ours.well && std::abs(own / predicted - 1) < 1e-6;
        const bool good = agree && faster >= one.faster && (one.of_memory == 0 || memory <= one.of_memory);
        met = met && good;
        const std::string asked =
            one.faster == 0
                ? ""
                : fmt::format("{}{}", one.faster, one.of_memory > 0 ? fmt::format(", {}", one.of_memory) : "");
        fmt::print("| {} | {} | {:.3f} | {:.0f} | {:.3f} | {:.0f} | {:.3f} / {:.3f} | {:.1f} | {:.2f} | {}{} |\n",
                   one.name, one.transfers, theirs.user, theirs.megabytes, ours.user, ours.megabytes,
                   theirs.user / one.transfers * 1e6, ours.user / one.transfers * 1e6, faster, memory, asked,
                   agree ? good ? "" : " MISSED" : " DIFFERENT RESULT");
        std::fflush(stdout);
    }
    return met ? 0 : 1;
}
