// The catalogue's facts about kernels: a GPU -> those of its generation.
#include <fmt/format.h>

#include "fmsim/formats.hpp"
#include "leaves.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr std::string_view kFolder = "kernels/";

GemmFacts gemm_of(const Spot& spot) {
    GemmFacts facts{.sustained = {}, .tiles = {}, .feed = value(spot["feed"]).rate()};
    const Spot sustained = spot["sustained"];
    for (const auto& [type, leaf] : sustained.json().items())
        if (!type.starts_with("x-")) facts.sustained[type] = value(sustained[type]).number();
    const Spot tiles = value(spot["tiles"]);
    for (std::size_t i = 0; i < tiles.size(); ++i) facts.tiles.push_back({tiles[i][0].count(), tiles[i][1].count()});
    return facts;
}

AttentionFacts attention_of(const Spot& spot) {
    return {.matmul = value(spot["matmul"]).number(),
            .pairs_a_second = value(spot["giga_pairs_per_second"]).number() * 1e9,
            .ramp = value(spot["ramp"]).span(),
            .backward = value(spot["backward"]).number(),
            .tile = value(spot["tile"]).count()};
}

LaunchFacts launch_of(const Spot& spot) {
    return {.gap = value(spot["gap"]).span(), .host = value(spot["host"]).span()};
}

KernelFacts facts_of(const Spot& root) {
    KernelFacts facts{.name = root["name"].name(),
                      .gemm = gemm_of(root["gemm"]),
                      .ramp = value(root["ramp"]).span(),
                      .read_share = value(root["memory"]["read_share"]).number(),
                      .write_share = value(root["memory"]["write_share"]).number(),
                      .attention = {},
                      .usual_attention = value(root["usual_attention"]).text(),
                      .launch = launch_of(root["launch"]),
                      .graph = launch_of(root["graph"])};
    const Spot attention = root["attention"];
    for (const auto& [name, facts_of_it] : attention.json().items())
        if (!name.starts_with("x-")) facts.attention[name] = attention_of(attention[name]);
    if (!facts.attention.contains(facts.usual_attention))
        value(root["usual_attention"]).refuse("expected one of the implementations under \"attention\"");
    return facts;
}

bool runs_on(const Spot& capabilities, std::uint32_t wanted) {
    for (std::size_t i = 0; i < capabilities.size(); ++i)
        if (capabilities[i].count() == wanted) return true;
    return false;
}

}  // namespace

std::optional<std::string> kernels_file(const Files& files, const Gpu& gpu) {
    for (const auto& [path, text] : files) {
        if (!path.starts_with(kFolder)) continue;
        Document document(text, path, "kernels");
        if (runs_on(value(document.root()["compute_capabilities"]), gpu.compute_capability)) return path;
    }
    return std::nullopt;
}

KernelFacts Catalogue::kernels(const Gpu& gpu) const {
    const auto path = kernels_file(files_, gpu);
    if (!path)
        throw Infeasible(fmt::format("nothing is known about kernels on {}, of compute capability {}", gpu.name,
                                     gpu.compute_capability));
    Document document(files_.at(*path), *path, "kernels");
    KernelFacts facts = facts_of(document.root());
    document.finish();
    return facts;
}

}  // namespace fmsim
