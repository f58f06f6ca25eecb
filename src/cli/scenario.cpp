#include "scenario.hpp"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "version.hpp"

namespace fmsim::cli {

void add_options(CLI::App& command, ScenarioOptions& options) {
    static const std::map<std::string, Fidelity> kFidelities{{"stream", Fidelity::stream}, {"chunk", Fidelity::chunk}};
    command
        .add_option("--cluster", options.cluster,
                    "such as p5en.48xlarge:16, u-p6e-gb200x72:4, hgx-h100-8x400:2, or a JSON file")
        ->required()
        ->option_text("CLUSTER");
    command
        .add_option("--fidelity", options.fidelity,
                    "stream (default): one activity a channel; chunk: every transfer of every step")
        ->transform(CLI::CheckedTransformer(kFidelities))
        ->option_text("FIDELITY");
    add_group_options(command, options);
}

void add_group_options(CLI::App& command, ScenarioOptions& options) {
    command.add_option("--gpus", options.gpus, "use N GPUs, filling the domains in order")
        ->check(CLI::Range(2, 1'000'000))
        ->option_text("N");
    command.add_option("--per-domain", options.per_domain, "use N GPUs of each NVLink domain")
        ->check(CLI::Range(1, 1'000))
        ->option_text("N");
    command
        .add_option("--placement", options.placement,
                    "linear (default), packed or spread over leaves, random:SEED, hosts:FILE with a host a line, or list:FILE "
                    "with a rank a line: a host and its GPU's number")
        ->option_text("PLACEMENT");
    command.add_option("--algo", options.algorithm, "pin the algorithm, such as Ring (NCCL_ALGO)")->option_text("NAME");
    command.add_option("--proto", options.protocol, "pin the protocol: LL, LL128 or Simple (NCCL_PROTO)")
        ->option_text("NAME");
    command.add_option("--max-channels", options.most_channels, "use at most N channels (NCCL_MAX_NCHANNELS)")
        ->check(CLI::Range(1, 64))
        ->option_text("N");
}

namespace {

Placement placement_of(const Topology& topology, const ScenarioOptions& options) {
    static constexpr std::string_view kRandom = "random:", kHosts = "hosts:", kList = "list:";
    if (options.placement == "linear") return linear_placement(topology, options.gpus, options.per_domain);
    if (options.placement == "packed") return packed_placement(topology, options.gpus, options.per_domain);
    if (options.placement == "spread") return spread_placement(topology, options.gpus, options.per_domain);
    if (options.placement.starts_with(kHosts)) {
        const std::string file = options.placement.substr(kHosts.size());
        return placement_on(topology, parse_hosts(read_file(file), file, topology));
    }
    if (options.placement.starts_with(kList)) {
        const std::string file = options.placement.substr(kList.size());
        return parse_placement(read_file(file), file, topology);
    }
    std::uint64_t seed{};
    const char* const end = options.placement.data() + options.placement.size();
    const bool random = options.placement.starts_with(kRandom);
    if (random && std::from_chars(options.placement.data() + kRandom.size(), end, seed).ptr == end &&
        options.placement.size() > kRandom.size())
        return random_placement(topology, options.gpus, options.per_domain, seed);
    throw InputError({{.file = "--placement",
                       .line = 0,
                       .pointer = "",
                       .expected = "expected linear, packed, spread, random:SEED, hosts:FILE or list:FILE",
                       .found = options.placement}});
}

}  // namespace

Cluster cluster_of(const std::string& words) {
    const Catalogue catalogue = Catalogue::shipped();
    if (words.ends_with(".json")) return parse_cluster(read_file(words), words, catalogue);
    return catalogue.cluster(words);
}

Scenario make_scenario(const ScenarioOptions& options) {
    const Catalogue catalogue = Catalogue::shipped();
    Scenario scenario{.topology = build_topology(cluster_of(options.cluster)),
                      .group = {},
                      .nccl = catalogue.nccl(),
                      .predict = {},
                      .constants_hash = catalogue.hash(),
                      .words = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", options.cluster,
                                           options.fidelity == Fidelity::stream ? "stream" : "chunk", options.algorithm,
                                           options.protocol, options.most_channels, options.gpus, options.per_domain,
                                           options.placement)};
    scenario.group = group_of(scenario.topology, placement_of(scenario.topology, options));
    scenario.predict.fidelity = options.fidelity;
    if (!options.algorithm.empty()) scenario.predict.pins.algorithm = options.algorithm;
    if (!options.protocol.empty()) scenario.predict.pins.protocol = parse_protocol(options.protocol);
    if (options.most_channels != 0) scenario.predict.pins.most_channels = options.most_channels;
    return scenario;
}

ReportedCall report_call(const CallPrediction& predicted, const CallFinding& finding) {
    return {.predicted = predicted, .finding = finding, .measured_us = {}};
}

Provenance provenance(const Scenario& scenario, const std::string& inputs) {
    return {.fmsim_version = kVersion,
            .constants_hash = scenario.constants_hash,
            .inputs_hash = hash_of(scenario.words + inputs),
            .assumptions = {"nothing else runs on the cluster",
                            "all-reduce runs as a ring; NCCL also has trees and NVLS, which are faster for small "
                            "sizes and on few domains",
                            "chunks are equal: what a size leaves over when divided is spread over all ranks",
                            "times are of operations back to back, as nccl-tests measures them"},
            .warnings = {}};
}

}  // namespace fmsim::cli
