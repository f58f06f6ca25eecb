// Bars that are not about speed: the same bytes each time (B9); times that are never 0, and never fall as bytes grow
// nor jump without a change of algorithm, protocol or channels that the output shows (B10); an answer or a refusal
// (B11).
//
//   build/release/bench/peers/bars
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "process.hpp"

namespace {

using namespace peers;

std::vector<std::string> cli(std::vector<std::string> words) {
    words.insert(words.begin(), FMSIM_PROGRAM);
    return words;
}

std::vector<std::string> fields(const std::string& line) {
    std::vector<std::string> all;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, ',');) all.push_back(field);
    return all;
}

int same_bytes() {
    const auto words = cli({"collective", "all_to_all", "--cluster", "p5en.48xlarge:8", "--sizes", "1KiB,1MiB,1GiB"});
    const std::string first = ran(words).printed;
    int wrong = first.empty() ? 1 : 0;
    for (int i = 1; i < 10; ++i) wrong += ran(words).printed != first ? 1 : 0;
    fmt::print("B9: ten runs of one command: {} differ\n", wrong);
    return wrong;
}

// Of one collective on so many ranks, from 1 byte to 64 GiB: what is wrong.
struct Sweep {
    int rows{}, zero{}, falling{}, jumps{};
    bool refused{};
};
Sweep sweep(const std::string& collective, int machines, int per_domain) {
    Sweep result;
    const Ran run =
        ran(cli({"collective", collective, "--cluster", fmt::format("hgx-h100-8x400:{}", machines), "--per-domain",
                 std::to_string(per_domain), "--sizes", "1..64GiB", "--factor", "2", "--format", "csv"}));
    result.refused = !run.well;
    std::istringstream lines(run.printed);
    std::string line;
    std::map<std::string, std::size_t> column;
    double before = 0;
    std::string chosen_before;
    while (std::getline(lines, line)) {
        const std::vector<std::string> row = fields(line);
        if (column.empty()) {
            for (std::size_t i = 0; i < row.size(); ++i) column[row[i]] = i;
            continue;
        }
        const double time = std::atof(row.at(column.at("time_us")).c_str());
        const std::string chosen =
            row.at(column.at("algorithm")) + row.at(column.at("protocol")) + row.at(column.at("channels"));
        ++result.rows;
        result.zero += time <= 0 ? 1 : 0;
        const bool same = chosen == chosen_before;
        result.falling += same && time < before ? 1 : 0;
        result.jumps += same && before > 0 && time > 2.05 * before ? 1 : 0;  // twice the bytes: at most twice the time
        before = time;
        chosen_before = chosen;
    }
    return result;
}

int sizes() {
    int wrong = 0, sweeps = 0;
    for (const char* collective :
         {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "send_recv"})
        for (const auto& [machines, per_domain] : {std::pair{1, 2}, std::pair{1, 6}, std::pair{3, 8}, std::pair{8, 8},
                                                   std::pair{64, 8}, std::pair{512, 8}}) {
            // 16.8 million messages for each of 37 sizes would take minutes and say nothing new.
            if (machines == 512 && std::string(collective) == "all_to_all") continue;
            ++sweeps;
            const Sweep found = sweep(collective, machines, per_domain);
            const int bad = found.zero + found.falling + found.jumps + (found.refused || found.rows == 0 ? 1 : 0);
            if (bad > 0)
                fmt::print("B10: {} on {} x {}: {} rows, {} zero, {} falling, {} jumps{}\n", collective, machines,
                           per_domain, found.rows, found.zero, found.falling, found.jumps,
                           found.refused ? ", refused" : "");
            wrong += bad > 0 ? 1 : 0;
        }
    fmt::print("B10: {} of {} sweeps of 37 sizes with a fault\n", wrong, sweeps);
    return wrong;
}

// Inputs on which others crash, hang or print nothing: a result with exit 0, or words with another.
int answers() {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("bars-{}.json", getpid());
    int wrong = 0;
    const auto file = [&](const char* name, const char* text, bool wanted) {
        std::ofstream(path) << text;
        const Ran run = ran(cli({"run", "--cluster", "hgx-h100-8x400:8", path}));
        const bool good = run.well == wanted && run.printed.empty() != wanted;
        if (!good) fmt::print("B11: {}: exit {}, {} bytes\n", name, run.well ? 0 : 1, run.printed.size());
        wrong += good ? 0 : 1;
    };
    file("zero bytes", R"({"operations": [{"collective": "reduce_scatter", "size": 0}]})", true);
    file("word unknown", R"({"operations": [{"collective": "all_reduces", "size": 8}]})", false);
    file(
        "group over two machines",
        R"({"groups": {"tp": {"size": 16}}, "operations": [{"collective": "all_reduce", "size": "16 MiB", "group": "tp"}]})",
        true);
    file("10 s of computing", R"({"operations": [{"compute": {"duration": "10 s"}}]})", true);
    file("32 GiB", R"({"operations": [{"collective": "all_gather", "size": "32 GiB"}]})", true);
    file("a rank that never comes", R"({"programs": [{"ranks": "0-62", "operations": [{"collective": "barrier"}]}]})",
         false);
    file("sizes that differ",
         R"({"programs": [{"ranks": "0", "operations": [{"send": {"to": 1, "size": 8}}]},
                          {"ranks": "1", "operations": [{"receive": {"from": 0, "size": 4}}]}]})",
         false);
    file(
        "a circle",
        R"({"operations": [{"name": "a", "after": ["b"], "delay": "1 us"}, {"name": "b", "after": ["a"], "delay": "1 us"}]})",
        false);
    file("no JSON", "", false);
    std::filesystem::remove(path);
    fmt::print("B11: {} of 9 inputs answered wrongly\n", wrong);
    return wrong;
}

}  // namespace

int main() {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return same_bytes() + sizes() + answers() == 0 ? 0 : 1;
}
