// Fits the constants of topologies/training.json to measured steps, and says how well: a pattern search on the mean of
// a bounded |log(predicted / measured)|, one constant at a time, over rows of confidence high. "leave": how well each
// source comes out with constants fitted to the others.
//
//   build/release/bench/training/training_fit DIR [rounds [part of a file's name [experts|leave]]]
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"

namespace {

using namespace fmsim;

struct Case {
    MeasuredStep measured;
    Gpu gpu;
    KernelFacts kernels;
    Exchanges* exchanges{};
};

struct Constant {
    std::string name;
    std::function<double(const TrainingConstants&)> get;
    std::function<void(TrainingConstants&, double)> set;
    double least, most;
    bool of_experts = false;
};

std::vector<Constant> constants() {
    const auto number = [](const char* name, double TrainingConstants::*at, double least, double most) {
        return Constant{name, [=](const TrainingConstants& c) { return c.*at; },
                        [=](TrainingConstants& c, double v) { c.*at = v; }, least, most};
    };
    const auto span = [](const char* name, SimTime TrainingConstants::*at, double least, double most) {
        return Constant{name, [=](const TrainingConstants& c) { return seconds(c.*at); },
                        [=](TrainingConstants& c, double v) { c.*at = from_seconds(v); }, least, most};
    };
    using C = TrainingConstants;
    const auto power = [](const char* gpu) {
        return Constant{fmt::format("power/{}", gpu), [=](const C& c) { return c.power.at(gpu); },
                        [=](C& c, double v) { c.power[gpu] = v; }, .5, 1.3};
    };
    const auto attention = [](const char* kind) {
        return Constant{fmt::format("attention/{}", kind), [=](const C& c) { return c.attention.at(kind); },
                        [=](C& c, double v) { c.attention[kind] = v; }, .4, 1.3};
    };
    const auto slower = [](const char* instance) {
        return Constant{fmt::format("host_slower/{}", instance), [=](const C& c) { return c.host_slower.at(instance); },
                        [=](C& c, double v) { c.host_slower[instance] = v; }, .5, 4};
    };
    const auto wire = [](const char* fabric) {
        return Constant{fmt::format("experts_wire/{}", fabric), [=](const C& c) { return c.experts_wire.at(fabric); },
                        [=](C& c, double v) { c.experts_wire[fabric] = v; }, .1, 1.5};
    };
    const auto gap = [](const char* fabric) {
        return Constant{fmt::format("experts_gap/{}", fabric),
                        [=](const C& c) { return seconds(c.experts_gap.at(fabric)); },
                        [=](C& c, double v) { c.experts_gap[fabric] = from_seconds(v); }, 1e-5, 2e-2};
    };
    std::vector<Constant> all{power("h100-sxm5-96gb-500w"),
                              power("h200-sxm5-141gb"),
                              power("b200-hgx"),
                              power("b200-gb200"),
                              power("b300-gb300"),
                              number("products", &C::products, .6, 1),
                              attention("ampere/flash_attention_2"),
                              attention("ampere/unfused"),
                              attention("hopper/flash_attention_2"),
                              attention("hopper/cudnn"),
                              attention("blackwell/cudnn"),
                              number("streams", &C::streams, .3, 1),
                              number("grouped", &C::grouped, .2, 1),
                              number("unfused", &C::unfused, 1, 8),
                              number("loss_passes", &C::loss_passes, 2, 30),
                              number("tensor_hidden", &C::tensor_hidden, .1, 1),
                              number("overlap_slows", &C::overlap_slows, .02, .6),
                              span("layer_host", &C::layer_host, 20e-6, 3e-3),
                              span("experts_host", &C::experts_host, 10e-6, 8e-3),
                              span("exchange_host", &C::exchange_host, 1e-5, 3e-3),
                              span("expert_host", &C::expert_host, 5e-6, 1e-3),
                              span("expert_host_low", &C::expert_host_low, 5e-6, 1e-3),
                              number("experts_hidden", &C::experts_hidden, .1, 1),
                              number("bias_passes", &C::bias_passes, 1, 100),
                              slower("p5.48xlarge"),
                              wire("EFA"),
                              wire("EFA/once_a_domain"),
                              wire("InfiniBand"),
                              wire("InfiniBand/once_a_domain"),
                              gap("InfiniBand/once_a_domain"),
                              gap("EFA"),
                              gap("EFA/once_a_domain"),
                              gap("InfiniBand"),
                              span("chunk_gap", &C::chunk_gap, 10e-6, 5e-3),
                              span("step_gap", &C::step_gap, 1e-3, .3),
                              span("step_graph", &C::step_graph, 1e-4, .1),
                              number("straggler", &C::straggler, .0005, .03),
                              number("imbalance", &C::imbalance, .01, .6)};
    for (Constant& one : all)
        one.of_experts = one.name.starts_with("expert") || one.name.starts_with("host_slower") ||
                         one.name == "grouped" || one.name == "bias_passes" || one.name == "imbalance";
    return all;
}

double predicted(const Case& one, const TrainingConstants& c, ComparedStep* out = nullptr) {
    ComparedStep row = compare(one.measured, Trainer{one.gpu, one.kernels, c}, *one.exchanges);
    const double seconds = row.predicted;
    if (out != nullptr) *out = std::move(row);
    return seconds;
}

double cost(const std::vector<Case>& cases, const TrainingConstants& c) {
    std::map<std::string, std::pair<double, double>> sources;  // each source counts by the root of its rows
    for (const Case& one : cases) {
        const double p = predicted(one, c);
        if (p <= 0) continue;
        const double e = std::abs(std::log(p / one.measured.seconds));
        auto& [sum, n] = sources[one.measured.source + (one.measured.experts ? "/moe" : "")];
        sum += std::min(e, .1) + .3 * std::min(std::max(e - .1, 0.0), .5);
        n += 1;
    }
    double sum = 0, weights = 0;
    for (const auto& [name, one] : sources) {
        sum += one.first / one.second * std::sqrt(one.second);
        weights += std::sqrt(one.second);
    }
    return sum / weights;
}

void print(const std::map<std::string, std::vector<double>>& errors) {
    for (const auto& [name, list] : errors) {
        const ErrorsOfSteps e = errors_of(list);
        fmt::print("{:45} n {:4} median {:5.1f} p90 {:5.1f} mean {:5.1f} worst {:6.1f} bias {:+6.1f}\n", name, e.rows,
                   e.median * 100, e.p90 * 100, e.mean * 100, e.worst * 100, e.bias * 100);
    }
}

void show(const std::vector<Case>& cases, const TrainingConstants& c) {
    std::map<std::string, std::vector<double>> errors;
    for (const Case& one : cases) {
        const double p = predicted(one, c);
        if (p <= 0) continue;
        const double e = p / one.measured.seconds - 1;
        const std::string kind = one.measured.experts ? "moe" : "dense";
        errors["all " + kind].push_back(e);
        if (one.measured.recompute_known) errors["known recompute " + kind].push_back(e);
        errors[kind + " " + one.measured.source].push_back(e);
        errors["gpu " + one.measured.gpu + " " + kind].push_back(e);
        errors["type " + one.measured.precision + " " + kind].push_back(e);
    }
    print(errors);
}

TrainingConstants search(const std::vector<Case>& cases, const std::vector<Constant>& all, TrainingConstants c,
                         int rounds, bool loud) {
    std::vector<double> strides(all.size(), 1.25);
    double best = cost(cases, c);
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            bool moved = false;
            for (const double factor : {strides[i], 1 / strides[i]}) {
                TrainingConstants next = c;
                all[i].set(next, std::clamp(all[i].get(c) * factor, all[i].least, all[i].most));
                const double now = cost(cases, next);
                if (now < best - 1e-7) {
                    best = now, c = next, moved = true;
                    break;
                }
            }
            strides[i] = moved ? std::min(strides[i] * 1.1, 2.0) : 1 + (strides[i] - 1) / 2;
        }
        if (loud) fmt::print("# round {} cost {:.5f}\n", round, best);
        std::fflush(stdout);
    }
    return c;
}

// Each source predicted with constants of the others. The search starts at the fitted ones; a constant of which the
// others say nothing starts, and stays, in the middle of what it may be.
void leave_one_out(const std::vector<Case>& cases, const std::vector<Constant>& all, const TrainingConstants& fitted,
                   int rounds) {
    std::map<std::string, std::vector<Case>> sources;
    for (const Case& one : cases) sources[one.measured.source].push_back(one);
    std::map<std::string, std::vector<double>> errors;
    for (const auto& [source, held] : sources) {
        std::vector<Case> others;
        for (const Case& one : cases)
            if (one.measured.source != source) others.push_back(one);
        TrainingConstants c = fitted;
        const double before = cost(others, c);
        for (const Constant& one : all) {
            TrainingConstants next = c;
            one.set(next, one.get(c) * 1.1);
            if (cost(others, next) == before) one.set(c, std::sqrt(one.least * one.most));
        }
        c = search(others, all, c, rounds, false);
        for (const Case& one : held) {
            const double p = predicted(one, c);
            if (p <= 0) continue;
            const std::string type = one.measured.experts ? "moe" : "dense";
            errors["all " + type].push_back(p / one.measured.seconds - 1);
            errors[type + " " + source].push_back(p / one.measured.seconds - 1);
            if (one.measured.recompute_known) errors["known recompute " + type].push_back(p / one.measured.seconds - 1);
        }
        std::fflush(stdout);
    }
    print(errors);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string dir = argc > 1 ? argv[1] : ".";
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 0;
    const std::string only = argc > 3 ? argv[3] : "";
    const std::string kind = argc > 4 ? argv[4] : "";  // "experts": those rows, and the constants that only they have
    const Catalogue catalogue = Catalogue::shipped();
    std::map<std::string, Exchanges> exchanges;
    std::vector<Case> cases;
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(dir)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
        if (!only.empty() && file.find(only) == std::string::npos) continue;
        for (MeasuredStep& step : parse_measured_steps(read_file(file), file)) {
            if (!step.why.empty() || step.confidence != "high") continue;
            if (kind == "experts" && !step.experts) continue;
            const std::string key = fmt::format("{}/{}", step.cluster, step.per_domain);
            auto found = exchanges.find(key);
            Cluster cluster = catalogue.cluster(step.cluster);
            if (found == exchanges.end())
                found = exchanges.emplace(key, Exchanges(cluster, step.per_domain, catalogue.nccl())).first;
            const Gpu gpu = cluster.blocks.front().type.instance.gpu;
            cases.push_back({step, gpu, catalogue.kernels(gpu), &found->second});
        }
    }
    TrainingConstants c = catalogue.training();
    if (std::getenv("FMSIM_ROWS") != nullptr)
        for (const Case& one : cases) {
            ComparedStep row;
            predicted(one, c, &row);
            fmt::print("{:60} {:9.4f} {:9.4f} {:+6.1f} {}", row.measured.id, row.measured.seconds, row.predicted,
                       row.error() * 100, row.why);
            if (row.predicted > 0) {
                fmt::print(" mb {} v {} rc {}", row.plan.micro_batch, row.plan.chunks,
                           row.plan.recompute.all     ? "full"
                           : row.plan.recompute.any() ? "some"
                                                      : "no");
                for (std::size_t i = 0; i < kStepParts; ++i)
                    fmt::print(" {}:{:.1f}", name(static_cast<StepPart>(i)),
                               row.step.parts().seconds[i] / row.predicted * 100);
            }
            fmt::print("\n");
            if (std::getenv("FMSIM_EXCHANGES") != nullptr)
                for (const ExchangeUse& use : row.step.exchanges)
                    fmt::print("      {:30} {}x{} {:.3f} MB {:.3f} ms\n", use.name, use.family.size, use.family.stride,
                               use.bytes / 1e6, use.seconds * 1e3);
        }
    std::vector<Constant> all = constants();
    if (kind == "experts") std::erase_if(all, [](const Constant& one) { return !one.of_experts; });
    if (kind == "leave") {
        leave_one_out(cases, all, c, rounds);
        return 0;
    }
    if (rounds > 0) {
        c = search(cases, all, c, rounds, true);
        for (const Constant& one : all) fmt::print("{:16} {:.6g}\n", one.name, one.get(c));
    }
    show(cases, c);
    return 0;
}
