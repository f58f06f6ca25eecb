// The catalogue's constants of training steps (topologies/training.json).
#include "fmsim/formats.hpp"
#include "fmsim/training.hpp"
#include "leaves.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr const char* kFile = "training.json";

}  // namespace

TrainingConstants Catalogue::training() const {
    Document document(text_of(files_, kFile, kFile), kFile, "training_constants");
    const Spot root = document.root();
    const auto number = [&](const char* key) { return value(root[key]).number(); };
    const auto span = [&](const char* key) { return value(root[key]).span(); };
    TrainingConstants constants{.products = number("products"),
                                .attention = {},
                                .streams = number("streams"),
                                .grouped = number("grouped"),
                                .unfused = number("unfused"),
                                .loss_passes = number("loss_passes"),
                                .tensor_hidden = number("tensor_hidden"),
                                .overlap_slows = number("overlap_slows"),
                                .layer_host = span("layer_host"),
                                .experts_host = span("experts_host"),
                                .expert_host = span("expert_host"),
                                .expert_host_low = span("expert_host_low"),
                                .host_slower = {},
                                .experts_gap = {},
                                .experts_wire = {},
                                .experts_hidden = number("experts_hidden"),
                                .bias_passes = number("bias_passes"),
                                .exchange_host = span("exchange_host"),
                                .chunk_gap = span("chunk_gap"),
                                .step_gap = span("step_gap"),
                                .step_graph = span("step_graph"),
                                .straggler = number("straggler"),
                                .imbalance = number("imbalance"),
                                .reserved = value(root["reserved"]).bytes(),
                                .fragmentation = number("fragmentation")};
    const auto shares = [&](const char* key, std::map<std::string, double>& all) {
        const Spot list = root[key];
        for (const auto& [name, leaf] : list.json().items())
            if (!name.starts_with("x-")) all[name] = value(list[name]).number();
    };
    shares("power", constants.power);
    shares("attention", constants.attention);
    shares("host_slower", constants.host_slower);
    shares("experts_wire", constants.experts_wire);
    const Spot gaps = root["experts_gap"];
    for (const auto& [fabric, leaf] : gaps.json().items())
        if (!fabric.starts_with("x-")) constants.experts_gap[fabric] = value(gaps[fabric]).span();
    document.finish();
    return constants;
}

}  // namespace fmsim
