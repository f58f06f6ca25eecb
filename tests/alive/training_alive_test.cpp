// Every constant of training steps is alive: changed by a tenth, the time or the memory of some step changes.
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"

namespace fmsim {
namespace {

using nlohmann::json;

constexpr const char* kFile = "training.json";

struct Tried {
    TrainingPlan plan;
    Gpu gpu;
    KernelFacts kernels;
    std::shared_ptr<Exchanges> exchanges;
};

Tried step_on(const std::string& machine, const std::string& model, std::uint32_t gpus) {
    const Catalogue catalogue = Catalogue::shipped();
    const Cluster cluster = catalogue.cluster(machine);
    Tried step{.plan = {}, .gpu = cluster.blocks.front().type.instance.gpu};
    step.kernels = catalogue.kernels(step.gpu);
    step.exchanges = std::make_shared<Exchanges>(cluster, 0, catalogue.nccl());
    step.plan.model = model_preset(model);
    step.plan.gpus = gpus;
    step.plan.sequence = 2048;
    step.plan.global_batch = 4 * gpus;
    return step;
}

// Each GPU, each attention, dense and with experts, with and without graphs, fused and not.
std::vector<Tried> steps() {
    std::vector<Tried> all;
    for (const char* machine : {"p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge", "hgx-h100-500w", "p5en.48xlarge",
                                "hgx-h800", "p6-b200.48xlarge", "p6-b300.48xlarge", "gb200-nvl72", "gb300-nvl72"})
        for (const bool graph : {false, true}) {
            all.push_back(step_on(machine, "llama3-8b", 8));
            all.back().plan.graph = graph;
            all.back().plan.tensor = 2;
            all.back().plan.overlap.tensor = true;
        }
    for (const char* attention : {"flash_attention_2", "cudnn", "unfused"}) {
        all.push_back(step_on(std::string(attention) == "unfused" ? "p4de.24xlarge" : "p5.48xlarge", "llama3-8b", 8));
        all.back().plan.attention = attention;
        all.back().plan.fused = false;
        all.back().plan.pipeline = 2;
    }
    for (const char* machine : {"p5en.48xlarge:2", "hgx-h100-8x400:2"})
        for (const Dispatch dispatch : {Dispatch::all_to_all, Dispatch::once_a_domain}) {
            all.push_back(step_on(machine, "qwen3-30b-a3b", 16));
            all.back().plan.experts = 16;
            all.back().plan.dispatch = dispatch;
            all.back().plan.micro_batch = 4;
        }
    // Experts with a bias; experts whose exchange hides; experts in FP8 that wait for the host.
    all.push_back(step_on("p5en.48xlarge", "gpt-oss-20b", 8));
    all.back().plan.experts = 8;
    all.push_back(step_on("p5en.48xlarge", "mixtral-8x7b", 8));
    all.back().plan.experts = 8;
    all.back().plan.overlap.experts = true;
    all.push_back(step_on("p5en.48xlarge", "qwen3-30b-a3b", 8));
    all.back().plan.experts = 8;
    all.back().plan.sequence = 64;
    all.back().plan.precision = Precision::fp8;
    for (const std::int64_t few : {1, 2}) {  // too little work for the host
        all.push_back(step_on("p5en.48xlarge", "qwen3-30b-a3b", 8));
        all.back().plan.experts = 8;
        all.back().plan.sequence = 64 * few;
        all.push_back(step_on("p5en.48xlarge", "gpt3-5b", 8));
        all.back().plan.graph = true;
        all.back().plan.sequence = few;
        all.push_back(step_on("p5en.48xlarge", "gpt3-5b", 8));
        all.back().plan.attention = "flash_attention_3";
    }
    return all;
}

std::string result(const std::vector<Tried>& steps, const TrainingConstants& constants) {
    std::string all;
    for (const Tried& step : steps) {
        const StepPrediction made =
            predict_step(step.plan, {step.gpu, step.kernels, constants}, *step.exchanges, {.must_fit = false});
        all += std::to_string(made.seconds * 1e9) + " " + std::to_string(made.stages[0].memory.all()) + "\n";
    }
    return all;
}

void leaves(const json& at, const std::string& pointer, std::vector<std::string>& found) {
    if (!at.is_object()) return;
    if (at.contains("value"))
        found.push_back(pointer + "/value");
    else
        for (const auto& [key, child] : at.items()) {
            std::string escaped;
            for (const char c : key) escaped += c == '/' ? std::string("~1") : std::string(1, c);
            leaves(child, pointer + "/" + escaped, found);
        }
}

// A tenth away, to where the schema allows it.
json changed(const json& value) {
    if (value.is_number()) return value.get<double>() * (value.get<double>() < 1 ? 0.9 : 1.1);
    const auto text = value.get<std::string>();
    return std::to_string(std::lround(std::stod(text) * 1.1) + 1) + text.substr(text.find(' '));
}

}  // namespace

TEST_CASE("every constant of training steps is alive") {
    const Catalogue shipped = Catalogue::shipped();
    const std::vector<Tried> all = steps();
    const std::string before = result(all, shipped.training());
    json root = json::parse(shipped.files().at(kFile));
    std::vector<std::string> pointers;
    leaves(root, "", pointers);
    CHECK(pointers.size() > 30);
    for (const std::string& pointer : pointers) {
        INFO(pointer);
        json other = root;
        json& value = other[json::json_pointer(pointer)];
        value = changed(value);
        CHECK(result(all, Catalogue({{kFile, other.dump()}}).training()) != before);
    }
}

}  // namespace fmsim
