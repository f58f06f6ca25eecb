#include "scenario.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "version.hpp"

namespace fmsim::cli {

void add_options(CLI::App& command, ScenarioOptions& options, bool file_may_say) {
    command
        .add_option("--cluster", options.cluster,
                    "such as p5en.48xlarge:16, u-p6e-gb200x72:4, hgx-h100-8x400:2, or a JSON file")
        ->required(!file_may_say)
        ->option_text("CLUSTER");
    command
        .add_option("--fidelity", options.fidelity,
                    "stream (default): one activity a channel; chunk: every transfer of every step")
        ->check(CLI::IsMember({"stream", "chunk"}))
        ->option_text("FIDELITY");
    add_group_options(command, options);
    command
        .add_option(
            "--what-if", options.what_if,
            "predict with a change too and compare: efa.bandwidth*2, nvlink.latency+1us, nic[3,7].down, "
            "gpu[12].speed=0.8, rail_policy=even, placement=random:7; can be given more than once, all together")
        ->allow_extra_args(false)
        ->option_text("CHANGE");
}

void add_group_options(CLI::App& command, ScenarioOptions& options) {
    command.add_option("--gpus", options.gpus, "use N GPUs, filling the domains in order")
        ->check(CLI::Range(2, 1'000'000))
        ->option_text("N");
    command.add_option("--per-domain", options.per_domain, "use N GPUs of each NVLink domain")
        ->check(CLI::Range(1, 1'000))
        ->option_text("N");
    command
        .add_option(
            "--placement", options.placement,
            "linear (default), packed or spread over leaves, random:SEED, hosts:FILE with a host a line, or list:FILE "
            "with a rank a line: a host and its GPU's number")
        ->option_text("PLACEMENT");
    command
        .add_option("--algo", options.algorithm,
                    "pin the algorithm, such as Ring (NCCL_ALGO), or a file of MSCCL's XML")
        ->option_text("NAME");
    command.add_option("--proto", options.protocol, "pin the protocol: LL, LL128 or Simple (NCCL_PROTO)")
        ->option_text("NAME");
    command.add_option("--max-channels", options.most_channels, "use at most N channels (NCCL_MAX_NCHANNELS)")
        ->check(CLI::Range(1, 64))
        ->option_text("N");
    command
        .add_option("--env,--nccl", options.variables,
                    "set a variable of NCCL, such as NCCL_ALGO=^ring or NCCL_TUNER_CONFIG_FILE=rules.csv; can be given "
                    "more than once")
        ->allow_extra_args(false)
        ->option_text("NAME=VALUE");
}

namespace {

// Each word with the key that a workload file has for it.
struct TextWord {
    const char* key;
    std::string ScenarioOptions::*value;
};
struct CountWord {
    const char* key;
    std::uint32_t ScenarioOptions::*value;
};
constexpr TextWord kTexts[]{{"cluster", &ScenarioOptions::cluster},
                            {"fidelity", &ScenarioOptions::fidelity},
                            {"placement", &ScenarioOptions::placement},
                            {"algorithm", &ScenarioOptions::algorithm},
                            {"protocol", &ScenarioOptions::protocol}};
constexpr CountWord kCounts[]{{"gpus", &ScenarioOptions::gpus},
                              {"per_domain", &ScenarioOptions::per_domain},
                              {"most_channels", &ScenarioOptions::most_channels}};

}  // namespace

std::vector<std::pair<std::string, std::string>> words_of(const ScenarioOptions& options) {
    std::vector<std::pair<std::string, std::string>> words;
    if (options.fidelity.empty()) words.emplace_back("fidelity", "stream");
    for (const auto& [key, value] : kTexts)
        if (!(options.*value).empty()) words.emplace_back(key, options.*value);
    for (const auto& [key, value] : kCounts)
        if (options.*value != 0) words.emplace_back(key, fmt::format("{}", options.*value));
    return words;
}

void add_environment(Workload& workload, const ScenarioOptions& options) {
    for (const std::string& variable : options.variables) {
        const auto equals = variable.find('=');
        const std::string key = variable.substr(0, equals);
        std::erase_if(workload.environment, [&](const auto& known) { return known.first == key; });
        workload.environment.emplace_back(key, equals == std::string::npos ? "" : variable.substr(equals + 1));
    }
}

ScenarioOptions completed(ScenarioOptions options, const Workload& workload) {
    for (const auto& [word, text] : workload.scenario) {
        for (const auto& [key, value] : kTexts)
            if (word == key && (options.*value).empty()) options.*value = text;
        for (const auto& [key, value] : kCounts)
            if (word == key && options.*value == 0)
                std::from_chars(text.data(), text.data() + text.size(), options.*value);
    }
    if (options.cluster.empty())
        throw InputError({{.file = "--cluster",
                           .line = 0,
                           .pointer = "",
                           .expected = "expected a cluster, here or in the scenario of the workload file",
                           .found = ""}});
    return options;
}

ScenarioOptions with_changes(ScenarioOptions options, const std::vector<Change>& changes) {
    for (const Change& change : changes) {
        if (!is_scenario_word(change)) {
            options.changes.push_back(change);
            continue;
        }
        const auto refuse = [&](const char* expected) {
            throw InputError({{"--what-if", 0, "'" + printable(change.text) + "'", expected, ""}});
        };
        bool known = change.thing.starts_with("NCCL_");
        if (known) options.variables.push_back(change.text);
        for (const auto& [key, value] : kTexts)
            if (change.thing == key) {
                options.*value = change.word;
                known = true;
            }
        for (const auto& [key, value] : kCounts)
            if (change.thing == key) {
                const char* const end = change.word.data() + change.word.size();
                const auto [rest, error] = std::from_chars(change.word.data(), end, options.*value);
                if (error != std::errc{} || rest != end) refuse("expected a whole number");
                known = true;
            }
        if (!known) refuse("no such word of the command line");
        if (change.thing == "fidelity" && change.word != "stream" && change.word != "chunk")
            refuse("expected stream or chunk");
    }
    return options;
}

Fidelity fidelity_of(const ScenarioOptions& options) {
    return options.fidelity == "chunk" ? Fidelity::chunk : Fidelity::stream;
}

Placement placement_of(const Topology& topology, const ScenarioOptions& options) {
    static constexpr std::string_view kRandom = "random:", kHosts = "hosts:", kList = "list:";
    if (options.placement.empty() || options.placement == "linear")
        return linear_placement(topology, options.gpus, options.per_domain);
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

Cluster cluster_of(const ScenarioOptions& options) {
    const std::string& words = options.cluster;
    return changed(words.ends_with(".json") ? parse_cluster(read_file(words), words, *options.catalogue)
                                            : options.catalogue->cluster(words),
                   options.changes);
}
Cluster cluster_of(const std::string& words) {
    ScenarioOptions options;
    options.cluster = words;
    return cluster_of(options);
}

namespace {

// A variable that the model knows nothing of changes nothing, and the user is told so.
void set_variable(const std::string& assignment, Pins& pins) {
    if (assignment.starts_with("NCCL_") && assignment.find('=') != std::string::npos && !has_nccl_knob(assignment))
        spdlog::warn("{}: the model has no such knob", printable(assignment.substr(0, assignment.find('='))));
    else
        set_nccl_variable(assignment, pins);
}

}  // namespace

Scenario make_scenario(const ScenarioOptions& options, const Environment& environment) {
    const Catalogue& catalogue = *options.catalogue;
    Scenario scenario{.topology = build_topology(cluster_of(options)),
                      .nccl = catalogue.nccl(),
                      .predict = {},
                      .constants_hash = options.traced ? catalogue.hash() : "",
                      .words = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", options.cluster,
                                           options.fidelity.empty() ? "stream" : options.fidelity, options.algorithm,
                                           options.protocol, options.most_channels, options.gpus, options.per_domain,
                                           options.placement.empty() ? "linear" : options.placement)};
    for (const Change& change : options.changes) scenario.words += change.text + "\n";
    scenario.predict.fidelity = fidelity_of(options);
    if (!options.algorithm.empty()) scenario.predict.pins.algorithm = options.algorithm;
    if (!options.protocol.empty()) scenario.predict.pins.protocol = parse_protocol(options.protocol);
    for (const auto& [variable, value] : environment) set_variable(variable + "=" + value, scenario.predict.pins);
    for (const std::string& variable : options.variables) {
        set_variable(variable, scenario.predict.pins);
        scenario.words += variable + "\n";
    }
    add_algorithm_file(scenario, options.algorithm, "");
    if (options.most_channels != 0) scenario.predict.pins.most_channels = options.most_channels;
    return scenario;
}

std::vector<std::string> warnings_of(const Topology& topology, const Placement& placement) {
    std::vector<std::uint32_t> gpus(topology.domains());
    for (const GpuPlace& place : placement) ++gpus[place.domain.value];
    if (placement.empty() || *std::max_element(gpus.begin(), gpus.end()) < 2) return {};
    std::vector<std::uint32_t> alone;
    for (std::uint32_t d = 0; d < gpus.size(); ++d)
        if (gpus[d] == 1 && topology.type_of(DomainId{d}).gpus() > 1) alone.push_back(d);
    if (alone.empty()) return {};
    return {
        fmt::format("{} of the job's {} GPUs {} alone in {} NVLink domain (the first in domain {}, {}): all that {} "
                    "over NICs",
                    alone.size(), placement.size(), alone.size() == 1 ? "is" : "are",
                    alone.size() == 1 ? "its" : "their", alone.front(), topology.type_of(DomainId{alone.front()}).name,
                    alone.size() == 1 ? "it sends and receives goes" : "they send and receive goes")};
}

ReportedCall report_call(const CallPrediction& predicted, const CallFinding& finding) {
    return {.predicted = predicted, .finding = finding, .measured_us = {}};
}

void add_dispatchers(Scenario& scenario, const Catalogue& catalogue) {
    scenario.predict.dispatchers = std::make_shared<const std::vector<Dispatcher>>(catalogue.dispatchers());
}

void add_algorithm_file(Scenario& scenario, const std::string& word, const std::string& folder) {
    auto& known = scenario.predict.pins.custom;
    if (!word.ends_with(".xml") || known.contains(word)) return;
    const std::string path = folder.empty() || word.starts_with('/') ? word : folder + "/" + word;
    const std::string text = read_file(path);
    known[word] = std::make_shared<const CustomAlgorithm>(parse_msccl(text, path));
    scenario.words += hash_of(text) + "\n";
}

namespace {

std::vector<std::string> assumptions_of(const Scenario& scenario, const std::vector<ReportedCall>& calls) {
    const auto any = [&](auto is) {
        return std::any_of(calls.begin(), calls.end(), [&](const ReportedCall& call) { return is(call.predicted); });
    };
    std::vector<std::string> all{"nothing else runs on the cluster"};
    const Cluster& cluster = scenario.topology.cluster;
    if (std::any_of(cluster.faults.begin(), cluster.faults.end(),
                    [](const Fault& fault) { return fault.kind == DeviceKind::nic; }))
        all.push_back(
            fmt::format("the traffic of a NIC with a fault follows the rail policy \"{}\"; --what-if "
                        "rail_policy=even or neighbour shows the others",
                        name(cluster.rail_policy)));
    if (any([](const CallPrediction& c) { return !c.algorithm.empty(); }))
        all.push_back("operations are back to back, as nccl-tests measures them");
    if (any([](const CallPrediction& c) { return !c.algorithm.empty() && c.algorithm != "SendRecv"; })) {
        all.push_back(fmt::format(
            "algorithm, protocol, channels and chunks are what NCCL {}{} would take for sums of "
            "floats, but for what is pinned",
            scenario.nccl.version, scenario.predict.pins.aws_tuner ? ", on AWS with its plugin's tuner," : ""));
        all.push_back("chunks are equal: what a size leaves over when divided is spread over all ranks");
    }
    if (any([](const CallPrediction& c) { return c.algorithm == "SendRecv"; }))
        all.push_back("the messages of an exchange run at once and share links, SMs and proxies evenly");
    if (any([](const CallPrediction& c) { return c.kind == "compute"; }))
        all.push_back(
            "computing takes the time it is given, or its FLOPs and bytes at the GPU's full rates, and is "
            "not slowed by what runs beside it");
    return all;
}

}  // namespace

Provenance plain_provenance(const ScenarioOptions& options, const std::string& inputs) {
    return {.fmsim_version = kVersion,
            .constants_hash = options.catalogue->hash(),
            .inputs_hash = hash_of(inputs),
            .assumptions = {},
            .warnings = {}};
}

Provenance provenance(const Scenario& scenario, const std::string& inputs, const std::vector<ReportedCall>& calls) {
    return {.fmsim_version = kVersion,
            .constants_hash = scenario.constants_hash,
            .inputs_hash = hash_of(scenario.words + inputs),
            .assumptions = assumptions_of(scenario, calls),
            .warnings = {}};
}

}  // namespace fmsim::cli
