// What other simulators took for the same work, beside what fmsim takes for it now: the anchors A1 to A12 of ASTRA-sim
// and the bars B1 to B8 of SimAI, LogGOPSim, htsim and ATLAHS (B9 to B11: bars.cpp).
//
//   build/release/bench/peers/anchors [times]
//
// Theirs were measured once, each with its own build, as user seconds of a process on a core of this class (March
// 2026). Works on the flat network of works.hpp run in the engine, every message an activity; the others are `fmsim` on
// hgx-h100-8x400, whose NVLink of 450 GB/s and NICs of 50 GB/s are those of the peers' networks; "flat" takes one GPU
// of each machine. ASTRA-sim's direct all-reduce is two all-to-alls of the same size.
//
// What is asked for is time and memory. "predicted" is each program's own answer: of `fmsim` NCCL's, with launch,
// latency and protocol; of the engine's rows ("every message") that of the bytes and the flight alone, which is what
// the peers' closed forms count, so those are equal to them.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "process.hpp"

namespace {

using namespace peers;
using nlohmann::json;

struct Anchor {
    const char* id;
    const char* work;
    const char* peer;
    double seconds, megabytes;            // theirs; 0: not finished or not known
    double most_seconds, most_megabytes;  // asked for; 0: not asked
    std::vector<std::string> words;
};

class Folder {
public:
    Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("anchors-{}", getpid())) {
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file(const std::string& name, const json& value) const {
        std::ofstream(path_ / name) << value.dump(1);
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

json call(const char* collective, const char* size) { return {{"collective", collective}, {"size", size}}; }

json workload(const json& operations) { return {{"operations", operations}}; }

// 32 layers: 2 ms forward, 4 ms backward, each with an all-reduce behind it on a stream of its own; 2 ms after all.
json ddp() {
    json operations = json::array();
    for (int i = 0; i < 32; ++i)
        operations.push_back({{"name", fmt::format("f{}", i)}, {"compute", {{"duration", "2 ms"}}}});
    json sums = json::array();
    for (int i = 0; i < 32; ++i) {
        operations.push_back({{"name", fmt::format("b{}", i)}, {"compute", {{"duration", "4 ms"}}}});
        json sum = call("all_reduce", "64 MiB");
        sum.update({{"name", fmt::format("s{}", i)}, {"stream", "net"}, {"after", {fmt::format("b{}", i)}}});
        operations.push_back(sum);
        sums.push_back(fmt::format("s{}", i));
    }
    operations.push_back({{"name", "end"}, {"compute", {{"duration", "2 ms"}}}, {"after", sums}});
    return workload(operations);
}

json moe() {
    json operations = json::array();
    for (const char* pass : {"1 ms", "2 ms"})
        for (int layer = 0; layer < 32; ++layer)
            for (int half = 0; half < 2; ++half) {
                operations.push_back({{"compute", {{"duration", pass}}}});
                operations.push_back(call("all_to_all", "32 MiB"));
            }
    return workload(operations);
}

json independent(int count) {
    json operations = json::array();
    for (int i = 0; i < count; ++i) {
        json one = call("all_reduce", "8 KiB");
        one["stream"] = fmt::format("s{}", i);
        operations.push_back(one);
    }
    return workload(operations);
}

// Rows of AICB's shape: a layer's attention and its MLP forward, then backward, each some computing and then a gather
// or a scatter of its sequence-parallel group; at the end the gradients of all layers over the data-parallel groups.
json llama_rows(int rows, int data_ranks) {
    json operations = json::array();
    const int layers = 32;
    const auto row = [&](const char* duration, const char* collective, const char* size, const char* group) {
        operations.push_back({{"compute", {{"duration", duration}}}});
        json one = call(collective, size);
        one["group"] = group;
        operations.push_back(one);
    };
    for (int i = 0; i + layers < rows; ++i)
        row(i % 2 == 0 ? "900 us" : "1100 us", i % 2 == 0 ? "all_gather" : "reduce_scatter", "32 MiB", "tensor");
    for (int i = 0; i < layers && i < rows; ++i) row("200 us", "reduce_scatter", "96 MiB", "data");
    json document = workload(operations);
    document["groups"] = {{"tensor", {{"size", 8}}}, {"data", {{"size", data_ranks}, {"stride", 8}}}};
    return document;
}

json repeated(const char* collective, const char* size, int times) {
    json one = call(collective, size);
    one["repeat"] = times;
    return workload(json::array({one}));
}

std::vector<Anchor> anchors(const Folder& folder, const std::string& engine) {
    const auto cli = [](std::vector<std::string> words) {
        words.insert(words.begin(), FMSIM_PROGRAM);
        return words;
    };
    const auto collective = [&](const char* what, const char* size, int machines, bool flat = false) {
        std::vector<std::string> words{"collective", what, "--cluster", fmt::format("hgx-h100-8x400:{}", machines),
                                       "--sizes",    size};
        if (std::string(what) == "all_reduce") words.insert(words.end(), {"--algo", "Ring"});
        if (flat) words.insert(words.end(), {"--per-domain", "1"});
        return cli(words);
    };
    const auto run = [&](const std::string& file, int machines, bool flat = false) {
        std::vector<std::string> words{"run", "--cluster", fmt::format("hgx-h100-8x400:{}", machines)};
        if (flat) words.insert(words.end(), {"--per-domain", "1"});
        words.push_back(file);
        return cli(words);
    };
    const auto flat = [&](const char* work, int ranks, const char* bytes) {
        return std::vector<std::string>{engine, work, std::to_string(ranks), "0", bytes};
    };
    const char* const gib = "1073741824";
    const char* const mib16 = "16777216";
    const auto direct = folder.file("direct.json", repeated("all_to_all", "1 GiB", 2));
    const auto chain = folder.file("chain.json", repeated("all_reduce", "1 MiB", 1000));
    const auto chained = folder.file("chained.json", repeated("all_reduce", "8 KiB", 3000));
    const auto free = folder.file("free.json", independent(3000));
    const auto nothing = folder.file("nop.json", workload(json::array({{{"compute", {{"duration", "1 us"}}}}})));
    const auto layers = folder.file("ddp.json", ddp());
    const auto experts = folder.file("moe.json", moe());
    const auto rows = folder.file("rows.json", llama_rows(1053, 8));
    const auto more_rows = folder.file("more_rows.json", llama_rows(1789, 1152));
    const auto few_rows = folder.file("few_rows.json", llama_rows(143, 2));
    std::vector<std::string> as_flows = run(few_rows, 2);
    as_flows.insert(as_flows.end(), {"--fidelity", "chunk"});
    const std::string source = FMSIM_SOURCE;
    const auto large = folder.file(
        "large.json", {{"kind", "training"},
                       {"cluster", "p5en.48xlarge:12800"},
                       {"model", "llama3-405b"},
                       {"sequence", 8192},
                       {"global_batch", 51200},
                       {"attention", "cudnn"},
                       {"recompute", "selective"},
                       {"overlap", {{"tensor", true}}},
                       {"parallel", {{"tensor", 8}, {"pipeline", 16}, {"chunks", 4}, {"ends_count", true}}}});
    const auto llama = folder.file("llama.json", {{"kind", "training"},
                                                  {"cluster", "hgx-h100-8x400:8"},
                                                  {"model", "llama3-70b"},
                                                  {"sequence", 1024},
                                                  {"global_batch", 64},
                                                  {"micro_batch", 8},
                                                  {"recompute", "full"},
                                                  {"data", {{"sharding", "zero3"}}},
                                                  {"parallel", {{"tensor", 8}}}});
    return {
        {"A1", "all-reduce 1 GiB, 64 x 8", "ASTRA-sim, no sharing", 0.33, 37, 0.05, 0,
         collective("all_reduce", "1GiB", 64)},
        {"A2", "all-reduce 1 GiB, flat ring of 512", "ASTRA-sim", 2.5, 102, 0.1, 0,
         collective("all_reduce", "1GiB", 512, true)},
        {"A3", "all-reduce 1 GiB, flat ring of 4,096", "ASTRA-sim, no sharing", 438, 5500, 2, 200,
         collective("all_reduce", "1GiB", 4096, true)},
        {"A4", "direct all-reduce 1 GiB, flat 512", "ASTRA-sim", 20, 444, 1, 100, run(direct, 512, true)},
        {"A4", "direct all-reduce 1 GiB, flat 1,024", "ASTRA-sim", 158, 1728, 1, 100, run(direct, 1024, true)},
        {"A5", "all-to-all 1 GiB, flat 512", "ASTRA-sim", 12.6, 0, 1, 0, collective("all_to_all", "1GiB", 512, true)},
        {"A5", "all-to-all 1 GiB, 512 x 8", "ASTRA-sim, no sharing", 122, 3100, 10, 500,
         collective("all_to_all", "1GiB", 512)},
        {"A6", "all-reduce 1 GiB, 512 x 8", "ASTRA-sim, no sharing", 74, 770, 1, 200,
         collective("all_reduce", "1GiB", 512)},
        {"A7", "start-up, 4,096 ranks flat", "ASTRA-sim", 7.8, 5400, 0.1, 50, run(nothing, 4096, true)},
        {"A7", "start-up, 512 x 8", "ASTRA-sim", 1.4, 740, 0.1, 50, run(nothing, 512)},
        {"A8", "32 layers, gradients of 64 MiB, 64 x 8", "ASTRA-sim, no sharing", 16, 96, 0.5, 0, run(layers, 64)},
        {"A8", "the same, flat 512", "ASTRA-sim", 115, 163, 0.5, 0, run(layers, 512, true)},
        {"A9", "32 layers of experts, 64 x 8", "ASTRA-sim, no sharing", 177, 1785, 3, 200, run(experts, 64)},
        {"A10", "1,000 all-reduces in a row, 64", "ASTRA-sim", 34.7, 94, 0.5, 0, run(chain, 64, true)},
        {"A11", "3,000 all-reduces in a row, 8", "ASTRA-sim", 1.47, 46, 0, 0, run(chained, 1)},
        {"A11", "3,000 independent ones, 8", "ASTRA-sim", 41, 42, 0, 0, run(free, 1)},
        {"A12", "step of a 70B, 64", "ASTRA-sim", 8.8, 294, 0.5, 0, cli({"run", llama})},
        {"B1", "flat ring of 512, 16 MiB, every message", "LogGOPSim", 1.77, 147, 0.9, 150,
         flat("flat_ring", 512, mib16)},
        {"B1", "flat ring of 512, 1 GiB, every message", "LogGOPSim", 1.87, 147, 0.9, 150, flat("flat_ring", 512, gib)},
        {"B2", "flat ring of 1,024, 1 GiB, every message", "LogGOPSim", 9.8, 576, 4.5, 580,
         flat("flat_ring", 1024, gib)},
        {"B3", "flat all-to-all of 512, 1 GiB", "ATLAHS LogGOPSim", 3.9, 293, 1, 0, flat("flat_all", 512, gib)},
        {"B3", "flat all-to-all of 1,024, 1 GiB", "ATLAHS LogGOPSim", 30.7, 1164, 5, 0, flat("flat_all", 1024, gib)},
        {"B4", "ring, 8 x 8, 1 GiB", "SimAI with ns-3", 126, 972, 0.1, 50, collective("all_reduce", "1GiB", 8)},
        {"B4", "the same, every message, bytes alone", "bound 5.2848 ms", 0, 0, 0.1, 50, {engine, "rails", "64"}},
        {"B4", "all-to-all, 8 x 8, 1 GiB", "SimAI with ns-3: crash", 114, 921, 0.1, 50,
         collective("all_to_all", "1GiB", 8)},
        {"B5", "ring, 512 x 8, 1 GiB", "none finishes", 0, 0, 10, 2048, collective("all_reduce", "1GiB", 512)},
        {"B5", "ring, 512 x 8, 16 MiB", "none finishes", 0, 0, 10, 2048, collective("all_reduce", "16MiB", 512)},
        {"B6", "flat ring of 64, 1 GiB, every message", "htsim RoCE, packets", 87.9, 25, 40, 0,
         flat("flat_ring", 64, gib)},
        {"B7", "step of 1,053 rows, 8 x 8", "SimAI, closed form", 1.03, 0, 0.05, 0, run(rows, 8)},
        {"B7", "step of 1,789 rows, 1,152 x 8", "SimAI, closed form", 1.4, 7, 0.05, 0, run(more_rows, 1152)},
        {"B8", "step of 143 rows, 2 x 8, every transfer", "SimAI with ns-3", 71.5, 668, 0.5, 0, as_flows},
        {"-", "step of the 405B, 16,384 GPUs", "none", 0, 0, 0.3, 0,
         cli({"run", source + "/workloads/llama3-405b-p5en-2048.json"})},
        {"-", "the same, 102,400 GPUs", "none", 0, 0, 1, 500, cli({"run", large})},
        {"-", "1,000 plans of the 405B, ranked", "none", 0, 0, 60, 0, cli({"run", source + "/bench/plans_405b.json"})},
        {"-", "the same without memo", "none", 0, 0, 0, 0,
         cli({"run", "--no-memo", source + "/bench/plans_405b.json"})},
    };
}

// The predicted milliseconds: the engine prints seconds, `fmsim` a document.
double predicted(const Anchor& anchor, const std::string& printed) {
    if (anchor.words.front() != FMSIM_PROGRAM) return std::atof(printed.c_str()) * 1e3;
    const json document = json::parse(printed, nullptr, false);
    if (!document.is_object()) return 0;
    if (document.contains("time_s")) return document["time_s"].get<double>() * 1e3;
    if (document.contains("plans")) return document["plans"][0]["time_s"].get<double>() * 1e3;
    return document["rows"][0]["time_us"].get<double>() * 1e-3;
}

}  // namespace

int main(int argc, char** argv) {
    const int times = argc > 1 ? std::atoi(argv[1]) : 3;
    const std::string here = argv[0];
    const Folder folder;
    fmt::print(
        "| anchor | work | peer | theirs (s) | (MB) | fmsim (s) | (MB) | times faster | predicted (ms) | asked: at "
        "most (s) | (MB) | met |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    bool all_met = true;
    const auto or_dash = [](double value) { return value > 0 ? fmt::format("{}", value) : std::string("-"); };
    for (Anchor& anchor : anchors(folder, here.substr(0, here.rfind('/') + 1) + "fmsim_peer")) {
        if (anchor.words.front() == FMSIM_PROGRAM) anchor.words.insert(anchor.words.end(), {"--format", "json"});
        const Ran ours = least(anchor.words, times);
        const double time = ours.well ? predicted(anchor, ours.printed) : 0;
        const bool met = time > 0 && (anchor.most_seconds == 0 || ours.user <= anchor.most_seconds) &&
                         (anchor.most_megabytes == 0 || ours.megabytes <= anchor.most_megabytes);
        all_met = all_met && met;
        fmt::print("| {} | {} | {} | {} | {} | {:.3f} | {:.0f} | {} | {:.6g} | {} | {} | {} |\n", anchor.id,
                   anchor.work, anchor.peer, or_dash(anchor.seconds), or_dash(anchor.megabytes), ours.user,
                   ours.megabytes,
                   anchor.seconds > 0 ? fmt::format("{:.0f}", anchor.seconds / std::max(ours.user, 1e-4)) : "-", time,
                   or_dash(anchor.most_seconds), or_dash(anchor.most_megabytes),
                   !ours.well ? "FAILED"
                   : met      ? "yes"
                              : "NO");
        std::fflush(stdout);
    }
    return all_met ? 0 : 1;
}
