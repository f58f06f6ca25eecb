// How user time and memory grow with the work, in both programs: a table, and a drawing of it.
//
//   build/release/bench/peers/growth run > bench/results/growth.csv      some four minutes
//   build/release/bench/peers/growth draw bench/results/growth.csv > docs/growth.svg
#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "process.hpp"

namespace {

using namespace peers;

struct Point {
    double transfers;
    double seconds;
};
struct Series {
    std::string work;
    const char* program;
    const char* colour;
    std::vector<int> ranks;
    std::vector<Point> points;
};

std::vector<Series> all_series() {
    return {{"ring", "fmsim_peer", "#0072b2", {64, 128, 256, 512, 1024, 2048}, {}},
            {"ring", "simgrid_peer", "#7fb8d9", {64, 128, 256, 512, 1024}, {}},
            {"equal", "fmsim_peer", "#009e73", {64, 128, 256, 512, 1024, 2048}, {}},
            {"equal", "simgrid_peer", "#80cfb9", {64, 128, 256, 512}, {}},
            {"unequal", "fmsim_peer", "#d55e00", {16, 32, 64, 128, 192}, {}},
            {"unequal", "simgrid_peer", "#eaaf80", {16, 32, 64, 128}, {}}};
}

constexpr double kWidth = 640, kHeight = 420, kLeft = 60, kRight = 470, kTop = 28, kBottom = 370;
constexpr double kLeast = 1e2, kMost = 1e7, kShortest = 1e-3, kLongest = 1e2;

double along(double transfers) {
    return kLeft + (kRight - kLeft) * std::log(transfers / kLeast) / std::log(kMost / kLeast);
}
double up(double seconds) {
    return kBottom - (kBottom - kTop) * std::log(seconds / kShortest) / std::log(kLongest / kShortest);
}

std::string drawn(const std::vector<Series>& all) {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        kWidth, kHeight);
    for (int power = -3; power <= 2; ++power) {
        const double y = up(std::pow(10, power));
        svg += fmt::format(
            "<path d=\"M{} {:.1f}H{}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}"
            "</text>\n",
            kLeft, y, kRight, kLeft - 6, y + 4, std::pow(10, power));
    }
    for (int power = 2; power <= 7; ++power) {
        const double x = along(std::pow(10, power));
        svg += fmt::format(
            "<path d=\"M{:.1f} {}V{}\" stroke=\"#ddd\"/><text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">1e{}"
            "</text>\n",
            x, kTop, kBottom, x, kBottom + 18, power);
    }
    svg += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">transfers</text>\n<text x=\"{}\" y=\"{}\">user s</text>\n",
        (kLeft + kRight) / 2, kBottom + 38, 8, kTop - 12);
    double row = kTop + 20;
    for (const Series& one : all) {
        std::string path;
        for (const Point& point : one.points) {
            const double x = along(point.transfers), y = up(std::max(point.seconds, kShortest));
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
            svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", x, y, one.colour);
        }
        svg += fmt::format(
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n<text x=\"{}\" y=\"{}\" "
            "fill=\"{}\">{}, {}</text>\n",
            path, one.colour, kRight + 12, row, one.colour, one.work,
            std::string(one.program) == "fmsim_peer" ? "fmsim" : "SimGrid");
        row += 18;
    }
    return svg + "</svg>\n";
}

int run_all(const std::string& folder) {
    fmt::print("work,program,ranks,transfers,user_s,peak_MB\n");
    for (const Series& one : all_series())
        for (const int ranks : one.ranks) {
            const Ran run = ran({folder + one.program, one.work, std::to_string(ranks)});
            if (!run.well) continue;
            const double transfers = one.work == "ring" ? 2.0 * (ranks - 1) * ranks : 1.0 * ranks * (ranks - 1);
            fmt::print("{},{},{},{},{:.3f},{:.0f}\n", one.work, one.program, ranks, transfers, run.user, run.megabytes);
            std::fflush(stdout);
        }
    return 0;
}

int draw(const char* table) {
    std::vector<Series> all = all_series();
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> row;
        std::istringstream text(line);
        for (std::string field; std::getline(text, field, ',');) row.push_back(field);
        for (Series& one : all)
            if (row.size() == 6 && row[0] == one.work && row[1] == one.program)
                one.points.push_back({std::atof(row[3].c_str()), std::atof(row[4].c_str())});
    }
    fmt::print("{}", drawn(all));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "", program = argv[0];
    if (what == "run" && argc == 2) return run_all(program.substr(0, program.rfind('/') + 1));
    if (what == "draw" && argc == 3) return draw(argv[2]);
    fmt::print("usage: growth run | growth draw TABLE.csv\n");
    return 3;
}
