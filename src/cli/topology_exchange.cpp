// fmsim topology export and import: clusters as other tools write them.
#include <map>
#include <memory>

#include <spdlog/spdlog.h>
#include <CLI/App.hpp>

#include "commands.hpp"
#include "fmsim/formats.hpp"
#include "fmsim/report.hpp"
#include "output.hpp"
#include "scenario.hpp"

namespace fmsim::cli {
namespace {

enum class ExportFormat { graphviz, cluster, slurm, slurm_yaml, nccl };
enum class ImportFormat { slurm, slurm_yaml, ec2, kubernetes, nccl };

struct ExportOptions {
    std::string cluster;
    ExportFormat to = ExportFormat::graphviz;
    Output output;
};
struct ImportWords {
    std::string file;
    ImportFormat from{};
    ImportOptions options;
    Output output;
};

// -o and -q: the format is the other tool's.
void add_output(CLI::App& command, Output& output) {
    command.add_option("-o,--output", output.file, "write the result to FILE instead of stdout")->option_text("FILE");
    command.add_flag("-q,--quiet", output.quiet, "no notes or warnings on stderr, only errors");
}

std::string exported(const Topology& net, ExportFormat to) {
    if (net.cluster.graph && to != ExportFormat::graphviz && to != ExportFormat::cluster)
        throw InputError({{.file = "--to",
                           .line = 0,
                           .pointer = "",
                           .expected = "expected graphviz or cluster: the other tools' files have no place for a graph",
                           .found = ""}});
    switch (to) {
        case ExportFormat::cluster:
            return to_cluster_file(net.cluster, false);
        case ExportFormat::graphviz:
            return to_graphviz(net);
        case ExportFormat::slurm:
            return to_slurm_conf(net.cluster);
        case ExportFormat::slurm_yaml:
            return to_slurm_yaml(net.cluster);
        case ExportFormat::nccl:
            return to_nccl_xml(net.cluster.blocks.front().type.instance);
    }
    return {};
}

int export_cluster(const ExportOptions& options) {
    const Topology net = build_topology(cluster_of(options.cluster));
    if (options.to == ExportFormat::nccl && net.instances.size() > 1)
        spdlog::warn("NCCL's file has one machine: the first of {}", net.instances.size());
    emit(options.output, exported(net, options.to));
    return kGood;
}

Imported imported(const ImportWords& words) {
    const std::string text = read_file(words.file);
    const Catalogue catalogue = Catalogue::shipped();
    switch (words.from) {
        case ImportFormat::slurm:
            return import_slurm_conf(text, words.file, catalogue, words.options);
        case ImportFormat::slurm_yaml:
            return import_slurm_yaml(text, words.file, catalogue, words.options);
        case ImportFormat::ec2:
            return import_ec2(text, words.file, catalogue, words.options);
        case ImportFormat::kubernetes:
            return import_kubernetes(text, words.file, catalogue, words.options);
        case ImportFormat::nccl:
            return import_nccl(text, words.file, catalogue, words.options);
    }
    return {};
}

int import_cluster(const ImportWords& words) {
    const Imported read = imported(words);
    for (const Problem& note : read.notes) spdlog::info("{}", to_text(note));
    build_topology(read.cluster);  // refuses what does not fit together
    emit(words.output, to_cluster_file(read.cluster, words.from == ImportFormat::nccl));
    return kGood;
}

}  // namespace

void add_topology_export(CLI::App& topology, Action& action) {
    static const std::map<std::string, ExportFormat> kFormats{{"graphviz", ExportFormat::graphviz},
                                                              {"cluster", ExportFormat::cluster},
                                                              {"slurm", ExportFormat::slurm},
                                                              {"slurm-yaml", ExportFormat::slurm_yaml},
                                                              {"nccl", ExportFormat::nccl}};
    CLI::App& command = *topology.add_subcommand("export", "The cluster as other tools read it");
    const auto options = std::make_shared<ExportOptions>();
    command.add_option("cluster", options->cluster, "such as p5en.48xlarge:16, u-p6e-gb200x72:4, or a JSON file")
        ->required()
        ->option_text("CLUSTER");
    command
        .add_option("--to", options->to,
                    "graphviz (default): devices and links; cluster: a file of our own; slurm: topology.conf; "
                    "slurm-yaml: topology.yaml; nccl: "
                    "NCCL_TOPO_FILE of one machine")
        ->transform(CLI::CheckedTransformer(kFormats))
        ->option_text("FORMAT");
    add_output(command, options->output);
    command.callback([options, &action] {
        action = [options] {
            start_notes(options->output.quiet);
            return export_cluster(*options);
        };
    });
}

void add_topology_import(CLI::App& topology, Action& action) {
    static const std::map<std::string, ImportFormat> kFormats{{"slurm", ImportFormat::slurm},
                                                              {"slurm-yaml", ImportFormat::slurm_yaml},
                                                              {"ec2", ImportFormat::ec2},
                                                              {"kubernetes", ImportFormat::kubernetes},
                                                              {"nccl", ImportFormat::nccl}};
    CLI::App& command = *topology.add_subcommand("import", "A cluster file of ours from one of another tool");
    const auto words = std::make_shared<ImportWords>();
    command.add_option("file", words->file, "the other tool's file; - is standard input")
        ->required()
        ->option_text("FILE");
    command
        .add_option("--from", words->from,
                    "slurm: topology.conf; slurm-yaml: topology.yaml; ec2: describe-instance-topology and its like; "
                    "kubernetes: kubectl get nodes -o json; nccl: NCCL's topology XML")
        ->required()
        ->transform(CLI::CheckedTransformer(kFormats))
        ->option_text("FORMAT");
    command.add_option("--type", words->options.type, "instance type of hosts for which the file has none")
        ->option_text("INSTANCE");
    command
        .add_option("--layers", words->options.layers,
                    "kubernetes: labels of the network's levels from the top down, such as core,spine,leaf")
        ->delimiter(',')
        ->option_text("LABELS");
    add_output(command, words->output);
    command.callback([words, &action] {
        action = [words] {
            start_notes(words->output.quiet);
            return import_cluster(*words);
        };
    });
}

}  // namespace fmsim::cli
