#include "scenario.hpp"

#include <map>

#include <fmt/format.h>

#include "version.hpp"

namespace fmsim::cli {

void add_options(CLI::App& command, ScenarioOptions& options) {
    static const std::map<std::string, Fidelity> kFidelities{{"stream", Fidelity::stream}, {"chunk", Fidelity::chunk}};
    command.add_option("--cluster", options.cluster, "instance type and count, such as p5.48xlarge:2")
        ->required()
        ->option_text("CLUSTER");
    command
        .add_option("--fidelity", options.fidelity,
                    "stream (default): one activity a channel; chunk: every transfer of every step")
        ->transform(CLI::CheckedTransformer(kFidelities))
        ->option_text("FIDELITY");
    command.add_option("--algo", options.algorithm, "pin the algorithm, such as Ring (NCCL_ALGO)")->option_text("NAME");
    command.add_option("--proto", options.protocol, "pin the protocol: LL, LL128 or Simple (NCCL_PROTO)")
        ->option_text("NAME");
    command.add_option("--max-channels", options.most_channels, "use at most N channels (NCCL_MAX_NCHANNELS)")
        ->check(CLI::Range(1, 64))
        ->option_text("N");
}

Scenario make_scenario(const ScenarioOptions& options) {
    const Catalogue catalogue = Catalogue::shipped();
    Scenario scenario{.topology = build_topology(catalogue.cluster(options.cluster)),
                      .nccl = catalogue.nccl(),
                      .predict = {},
                      .constants_hash = catalogue.hash(),
                      .words = fmt::format("{}\n{}\n{}\n{}\n{}\n", options.cluster,
                                           options.fidelity == Fidelity::stream ? "stream" : "chunk", options.algorithm,
                                           options.protocol, options.most_channels)};
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
            .assumptions = {"all GPUs of the cluster take part, and nothing else runs on it",
                            "all-reduce runs as a ring; NCCL also has trees and NVLS, which are faster for small "
                            "sizes and on few domains",
                            "chunks are equal: what a size leaves over when divided is spread over all ranks",
                            "times are of operations back to back, as nccl-tests measures them"},
            .warnings = {}};
}

}  // namespace fmsim::cli
