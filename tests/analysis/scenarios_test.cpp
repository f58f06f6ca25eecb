// Six scenarios whose bottleneck a hand calculation names: the reasons must name the same.
#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "fmsim/analysis.hpp"
#include "fmsim/formats.hpp"
#include "support/golden.hpp"

namespace fmsim {
namespace {

std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(FMSIM_SOURCE_DIR "/" + file).rdbuf();
    return text.str();
}

// A tree as it stands, two levels deep, for the golden files: titles and shares.
void add(const WhyNode& node, double whole, std::size_t depth, std::string& text) {
    text += fmt::format("{}{:5.1f} %  {}\n", std::string(2 * depth, ' '), 100 * node.seconds / whole, node.title);
    for (const WhyNode& child : node.children)
        if (depth < 3 && child.seconds > 0.01 * whole) add(child, whole, depth + 1, text);
}
std::string shown(const WhyNode& tree, const std::vector<Lever>& levers) {
    std::string text;
    add(tree, tree.seconds, 0, text);
    for (const Lever& lever : levers)
        if (lever.slope > 0.005 * tree.seconds)
            text += fmt::format(
                "{}: {:.1f} % of the run{}{}\n", name(lever.cause), 100 * lever.slope / tree.seconds,
                lever.kink ? ", at a kink" : "",
                lever.then ? fmt::format(", up to {:.2f} times, then {}", lever.room, name(*lever.then)) : "");
    return text;
}

struct Explained {
    Topology net;
    Prediction prediction;
    Reasons reasons;
    WhyNode tree;
};
Explained explained(const Cluster& cluster, const Workload& work) {
    const Catalogue catalogue = Catalogue::shipped();
    Explained all{.net = build_topology(cluster), .prediction = {}, .reasons = {}, .tree = {}};
    all.prediction = predict(all.net, linear_placement(all.net, 0, 0), work, catalogue.nccl(), {});
    all.reasons = reasons_of(all.net, all.prediction);
    all.tree = why_tree(all.net, all.prediction, all.reasons, {});
    return all;
}

struct ExplainedStep {
    TrainingFile file;
    StepPrediction step;
    WhyNode tree;
    std::vector<Lever> levers;
};
ExplainedStep explained_step(TrainingFile file) {
    const Catalogue catalogue = Catalogue::shipped();
    const Cluster cluster = catalogue.cluster(file.cluster);
    const Gpu gpu = cluster.blocks.front().type.instance.gpu;
    if (file.plan.gpus == 0) file.plan.gpus = cluster.blocks.front().count * cluster.blocks.front().type.gpus();
    const Trainer trainer{gpu, catalogue.kernels(gpu), catalogue.training()};
    Exchanges exchanges(cluster, file.per_domain, catalogue.nccl());
    ExplainedStep all{.file = file, .step = {}, .tree = {}, .levers = {}};
    all.step = predict_step(file.plan, trainer, exchanges, {.must_fit = false});
    all.tree = why_step(file.plan, trainer, exchanges, all.step, {});
    all.levers = step_levers(file.plan, trainer, exchanges, all.step);
    return all;
}

double slope(const std::vector<Lever>& levers, Cause cause) {
    for (const Lever& lever : levers)
        if (lever.cause == cause) return lever.slope;
    return 0;
}

// Children add up to their parents.
void check_sums(const WhyNode& node) {
    if (node.children.empty()) return;
    double sum = 0;
    for (const WhyNode& child : node.children) {
        sum += child.seconds;
        check_sums(child);
    }
    INFO(node.id << " " << node.title);
    CHECK(sum == Approx(node.seconds).epsilon(1e-5));
}

}  // namespace

TEST_CASE("two p5, 16 GiB: NVLink, which switches use at 312 GB/s") {
    // NVLS trees: each GPU's data go up for all 8 heads, its head's sum comes once more: 1 + 1/8 of the size each way
    // over NVLink, at 450 x 0.6924 GB/s: 62.0 ms. Each machine sends it all once over 32 NICs of 11.15 GB/s: 48.2 ms.
    // So NVLink binds, until it is 1.29 times as fast.
    const Explained run = explained(Catalogue::shipped().cluster("p5.48xlarge:2"),
                                    in_turn({{"16 GiB", Collective::all_reduce, Bytes{std::int64_t{16} << 30}}}));
    const InstanceType& type = run.net.cluster.blocks[0].type.instance;
    const double size = 16.0 * (1 << 30), nvlink = size * 1.125 / (450e9 * type.nvlink->switch_efficiency),
                 efa = size / (32 * type.nic->carries.value);
    CHECK(run.prediction.calls[0].algorithm == "NVLSTree");
    CHECK(nvlink > efa);
    // The pace of a tree is told from n and 2 n of its loops, whose phase moves the slope at one point by some percent:
    // so how far NVLink helps is asked of runs.
    CHECK(run.reasons.spent[Cause::nvlink] == Approx(nvlink).epsilon(0.06));
    CHECK(run.reasons.levers.front().cause == Cause::nvlink);
    CHECK(run.reasons.levers.front().then == Cause::network);
    const auto with_nvlink = [&](double factor) {
        Cluster cluster = run.net.cluster;
        cluster.blocks[0].type.instance.nvlink->rate.value *= factor;
        const Topology net = build_topology(cluster);
        const Workload work = in_turn({{"16 GiB", Collective::all_reduce, Bytes{std::int64_t{16} << 30}}});
        return seconds(
            predict(net, linear_placement(net, 0, 0), work, Catalogue::shipped().nccl(), {}).calls.front().time());
    };
    CHECK(with_nvlink(1.2) == Approx(nvlink / 1.2).epsilon(0.03));
    CHECK(with_nvlink(1.5) == Approx(efa).epsilon(0.03));
    CHECK_THAT(plain_name(run.net, run.reasons.saturated.front().resource), Catch::Contains("NVLink"));
    CHECK(run.reasons.saturated.front().busy > 0.95);
    check_sums(run.tree);
    test::check_golden("analysis/two_p5.txt", shown(run.tree, run.reasons.levers));
}

TEST_CASE("one slow NIC: the ring waits for it") {
    // 16 p5en, NIC 5 of machine 3 at half its rate. A ring over 128 GPUs puts 2 x 127/128 of the size on the 16 NICs of
    // every machine: 1.065 GB each, 44 ms at 24.2 GB/s and 88 ms on the slow one. All channels end with the slowest's
    // bytes only on its own NICs; the others are idle half of the time. Its PCIe link is at half of 31.5 GB/s too:
    // from 1.3 times the bandwidth on it is what binds.
    const Catalogue catalogue = Catalogue::shipped();
    Cluster cluster = parse_cluster(read("topologies/clusters/one_slow_nic.json"), "one_slow_nic.json", catalogue);
    Workload work = in_turn({{"8 GiB", Collective::all_reduce, Bytes{std::int64_t{8} << 30}}});
    std::get<CollectiveCall>(work.jobs[0].programs[0].operations[0].action).algorithm = "Ring";
    const Explained run = explained(cluster, work);
    const std::string named = plain_name(run.net, run.reasons.saturated.front().resource);
    CHECK_THAT(named, Catch::Contains("p5en.48xlarge #3, NIC 5"));
    CHECK(run.reasons.saturated.front().alike <= 2);  // both ways
    const double nic = catalogue.cluster("p5en.48xlarge:1").blocks[0].type.instance.nic->carries.value;
    const double bytes = 8.0 * (1 << 30) * 2 * 127 / 128 / 16;  // on each NIC
    CHECK(run.reasons.spent[Cause::network] == Approx(bytes / (nic / 2)).epsilon(0.02));
    CHECK(run.reasons.levers.front().cause == Cause::network);
    check_sums(run.tree);
    test::check_golden("analysis/one_slow_nic.txt", shown(run.tree, run.reasons.levers));
}

TEST_CASE("one slow GPU: all wait for the rank that computes longest") {
    // 2 p5en compute 10 ms, GPU 12 takes 12.5 (0.8 of the speed), then sum 64 MiB: 2.5 ms of the step is its lateness.
    const Catalogue catalogue = Catalogue::shipped();
    Job job{.name = "job"};
    job.groups.push_back({.name = "all"});
    const auto program = [](const char* role, std::vector<std::uint32_t> ranks, std::int64_t us) {
        Program one{.role = role, .ranks = std::move(ranks), .operations = {}};
        one.operations.push_back({.name = "backward", .action = Compute{.duration = SimTime{us * 1'000'000'000}}});
        one.operations.push_back(
            {.name = "gradients",
             .action = CollectiveCall{.collective = Collective::all_reduce, .size = Bytes{64 << 20}, .group = 0}});
        return one;
    };
    std::vector<std::uint32_t> others;
    for (std::uint32_t rank = 0; rank < 16; ++rank)
        if (rank != 12) others.push_back(rank);
    job.programs = {program("healthy", others, 10000), program("slow", {12}, 12500)};
    Workload work;
    work.jobs = {job};
    const Explained run = explained(catalogue.cluster("p5en.48xlarge:2"), work);
    CHECK(seconds(run.reasons.path.front().to) == Approx(12.5e-3));
    CHECK(run.prediction.calls[run.prediction.made.call[run.reasons.path.front().step]].role == "slow");
    bool late = false;
    for (const CriticalPart& one : run.reasons.path)
        if (one.late_rank) {
            late = true;
            CHECK(*one.late_rank == 12);
            CHECK(seconds(one.waited) == Approx(2.5e-3));
        }
    CHECK(late);
    CHECK(run.reasons.levers.front().cause == Cause::compute);
    CHECK(run.reasons.levers.front().slope == Approx(12.5e-3));
    check_sums(run.tree);
    test::check_golden("analysis/one_slow_gpu.txt", shown(run.tree, run.reasons.levers));
}

TEST_CASE("Llama 3.1 405B on 2,048 p5en GPUs: products of matrices, at the units of the GPU", "[.plans]") {
    // 6 x 405e9 FLOPs a token of products, 2048 sequences of 8192, 2048 GPUs of 989 TFLOP/s: 20.2 s at the peak. All
    // that is summed, 2 bytes x 405e9 / (8 x 16) of parameters, takes 6.3 GB x 2 / 25 GB/s... well below a tenth of it.
    TrainingFile file = parse_training(read("workloads/llama3-405b-p5en-2048.json"),
                                       FMSIM_SOURCE_DIR "/workloads/llama3-405b-p5en-2048.json");
    file.cluster = "p5en.48xlarge:256";
    file.plan.global_batch = 2048;
    const ExplainedStep run = explained_step(file);
    const double at_peak = 6 * 405e9 * 2048.0 * 8192 / (2048 * 989e12);
    CHECK(run.tree.children.front().title == "products");
    CHECK(run.tree.children.front().seconds > 0.5 * run.step.seconds);
    CHECK(*run.tree.children.front().bound_s == Approx(at_peak).epsilon(0.1));
    CHECK_THAT(run.tree.children.front().children.front().title, Catch::Contains("held by FLOPs"));
    CHECK(run.levers.front().cause == Cause::compute);
    CHECK(slope(run.levers, Cause::compute) > 0.5 * run.step.seconds);
    check_sums(run.tree);
    test::check_golden("analysis/405b_p5en.txt", shown(run.tree, run.levers));
}

TEST_CASE("DeepSeek-V3 on p6-b300: experts' tokens cross EFA, and layers wait for hosts and proxies", "[.plans]") {
    // Tokens cross EFA to 64 experts' ranks on 8 machines. Of one rank's 308 MB back 56 of 64 parts leave the machine
    // over its two NICs, and half as many bytes go out: 960 times on each stage (4 layers x 2 passes x 120
    // micro-batches). As often a GPU waits for hosts and proxies, which takes less.
    TrainingFile file = parse_training(read("workloads/deepseek-v3-p5en-256.json"),
                                       FMSIM_SOURCE_DIR "/workloads/deepseek-v3-p5en-256.json");
    file.cluster = "p6-b300.48xlarge:256";
    const ExplainedStep run = explained_step(file);
    const Catalogue catalogue = Catalogue::shipped();
    const double gap = seconds(catalogue.training().experts_gap.at("EFA/once_a_domain"));
    CHECK(run.tree.children[0].title == "expert exchange");
    CHECK(run.tree.children[1].title == "host");
    CHECK(run.tree.children[1].seconds == Approx(960 * gap).epsilon(0.1));
    const Nic nic = *catalogue.cluster("p6-b300.48xlarge:1").blocks[0].type.instance.nic;
    const double bytes = 4096 * 8 * 7168 * 2 * (1 - std::pow(7.0 / 8, 8)) * 8 / 8;  // to the 8 machines, each once
    bool back = false;
    for (const ExchangeUse& use : run.step.exchanges)
        if (use.name == "experts all_to_all" && use.family.size == 64 && use.bytes > 2e8) {
            back = true;
            CHECK(use.bytes == Approx(bytes).epsilon(0.01));
            CHECK(use.seconds == Approx(bytes * 56 / 64 / (2 * nic.carries.value)).epsilon(0.15));
        }
    CHECK(back);
    // The proxies post as long as the NICs send, where chunks are short.
    CHECK(slope(run.levers, Cause::network) + slope(run.levers, Cause::messages) > slope(run.levers, Cause::host));
    CHECK(slope(run.levers, Cause::host) > 0.1 * run.step.seconds);
    check_sums(run.tree);
    test::check_golden("analysis/deepseek_p6.txt", shown(run.tree, run.levers));
}

TEST_CASE("the same in UltraServers: experts in one NVLink domain, and what is left", "[.plans]") {
    TrainingFile file = parse_training(read("workloads/deepseek-v3-p5en-256.json"),
                                       FMSIM_SOURCE_DIR "/workloads/deepseek-v3-p5en-256.json");
    file.cluster = "u-p6e-gb300x72:32";
    file.per_domain = 64;
    file.plan.gpus = 2048;
    // 64 ranks of experts are one NVLink domain: nothing of theirs crosses EFA. The last stage has the output layer
    // twice (multi-token prediction), for half of 120 micro-batches: 6 x 129280 x 7168 FLOPs a token at the units'
    // peak.
    const ExplainedStep run = explained_step(file);
    const Gpu gpu = Catalogue::shipped().cluster(file.cluster).blocks[0].type.instance.gpu;
    const double output = 6.0 * 129280 * 7168 * 4096 * 120 / gpu.peak.at("bf16").value;
    CHECK(run.tree.children.front().title == "products");
    double least = 0;
    for (const WhyNode& kernel : run.tree.children.front().children)
        if (kernel.title.find("129280") != std::string::npos) least += *kernel.bound_s;
    CHECK(least == Approx(output).epsilon(0.01));
    CHECK(run.levers.front().cause == Cause::compute);
    CHECK(slope(run.levers, Cause::network) < 0.02 * run.step.seconds);
    CHECK(run.step.parts()[StepPart::expert_exchange] < 0.05 * run.step.seconds);
    check_sums(run.tree);
    test::check_golden("analysis/deepseek_ultra.txt", shown(run.tree, run.levers));
}

}  // namespace fmsim
