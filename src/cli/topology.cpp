// fmsim topology: a cluster as it is.
#include <memory>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "commands.hpp"
#include "fmsim/topology.hpp"
#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {
namespace {

struct Options {
    std::string cluster;
    Output output;
};

// Beyond this many links a max-flow over all takes longer than a question should.
constexpr std::size_t kMostLinksForCuts = 200'000;

std::vector<DeviceId> gpus_of(const Topology& net, std::uint32_t from, std::uint32_t to) {
    std::vector<DeviceId> gpus;
    for (std::uint32_t d = from; d < to; ++d)
        for (std::uint32_t g = 0; g < net.type_of(DomainId{d}).gpus(); ++g)
            gpus.push_back(net.device(GpuPlace{{d}, g}));
    return gpus;
}

// What one domain can send to the network; in a free graph, which has no switch above all, to the other domains.
BytesPerSecond out_of(const Topology& net, std::uint32_t domain) {
    const auto own = gpus_of(net, domain, domain + 1);
    if (!net.cluster.graph) return cut(net, own, devices_of(net, DeviceKind::fabric, InstanceId{0}));
    auto others = gpus_of(net, 0, domain);
    const auto after = gpus_of(net, domain + 1, net.domains());
    others.insert(others.end(), after.begin(), after.end());
    return cut(net, own, others);
}

// Out of each kind of domain, and between the halves.
std::vector<NamedCut> cuts_of(const Topology& net) {
    std::vector<NamedCut> cuts;
    if (net.links.size() > kMostLinksForCuts) return cuts;
    std::uint32_t first = 0;
    for (const DomainBlock& block : net.cluster.blocks) {
        if (block.type.groups() > 0 && !(net.cluster.graph && net.domains() == 1))
            cuts.push_back({fmt::format("out of a {}", block.type.name), out_of(net, first)});
        first += block.count;
    }
    if (net.domains() > 1) {
        const std::uint32_t half = net.domains() / 2;
        cuts.push_back({"between the first and the second half of the domains (bisection)",
                        cut(net, gpus_of(net, 0, half), gpus_of(net, half, net.domains()))});
    }
    return cuts;
}

int show(const Options& options) {
    const Topology net = build_topology(cluster_of(options.cluster));
    emit(options.output, write(TopologyReport{&net, cuts_of(net)}, options.output.format));
    return kGood;
}

int check(const Options& options) {
    const Topology net = build_topology(cluster_of(options.cluster));
    std::string text = "sound\n";
    for (const NamedCut& cut : cuts_of(net))
        if (cut.rate.value <= 0) text = "cut off: nothing can flow " + cut.name + "\n";
    emit(options.output, text);
    return text == "sound\n" ? kGood : kInfeasible;
}

void add(CLI::App& parent, const char* name, const char* about, int (*what)(const Options&), Action& action) {
    CLI::App& command = *parent.add_subcommand(name, about);
    const auto options = std::make_shared<Options>();
    command.add_option("cluster", options->cluster, "such as p5en.48xlarge:16, u-p6e-gb200x72:4, or a JSON file")
        ->required()
        ->option_text("CLUSTER");
    add_options(command, options->output);
    command.callback([options, what, &action] {
        action = [options, what] {
            start_notes(options->output.quiet);
            return what(*options);
        };
    });
}

}  // namespace

void add_topology(CLI::App& program, Action& action) {
    CLI::App& command = *program.add_subcommand("topology", "Show, check, export or import a cluster");
    command.require_subcommand(1);
    add(command, "show", "What it is made of, with rates and cuts; --format json or csv lists its links", show, action);
    add(command, "check", "Whether its parts fit together and everything can be reached", check, action);
    add_topology_export(command, action);
    add_topology_import(command, action);
}

}  // namespace fmsim::cli
