#include "choice/worked.hpp"

#include <fstream>

namespace fmsim::worked {
namespace {

using nlohmann::json;

GraphPattern pattern_of(int number) {
    return kGraphPatterns.at(static_cast<std::size_t>(number - 1));  // NCCL counts from 1
}

GraphSearch graph_of(const json& graph) {
    return {.channels = graph.at("nChannels"),
            .intra = {graph.at("bwIntra").get<double>() * 1e9},
            .inter = {graph.at("bwInter").get<double>() * 1e9},
            .intra_type = named(kPathTypes, graph.at("typeIntra")),
            .inter_type = named(kPathTypes, graph.at("typeInter")),
            .pattern = pattern_of(graph.at("pattern")),
            .same_channels = graph.at("sameChannels") == 1,
            .net_latency = from_seconds(graph.at("latencyInter").get<double>() * 1e-6)};
}

CpuVendor cpu_of(const std::string& word) {
    return word == "x86_64/amd" ? CpuVendor::amd : word == "x86_64/intel" ? CpuVendor::intel : CpuVendor::arm;
}

Bytes bytes_of(const json& value) { return {value.get<std::int64_t>()}; }

}  // namespace

const json& examples() {
    static const json all = json::parse(std::ifstream(FMSIM_SOURCE_DIR "/tests/data/nccl-choices.json"));
    return all;
}

Communicator communicator_of(const json& system) {
    const json& graphs = system.at("graphs");
    const std::string platform = system.at("platform");
    Communicator c{.domains = system.at("nodes"),
                   .ranks = system.at("ranks"),
                   .compute_capability = system.at("comp_cap"),
                   .cpu = cpu_of(system.at("cpu")),
                   .ring = graph_of(graphs.at("ring")),
                   .tree = graph_of(graphs.at("tree")),
                   .nvls = {},
                   .channels = system.at("coll_channels"),
                   .nvls_channels = system.at("nvls_channels"),
                   .nvls_heads = system.at("nvls_heads"),
                   .p2p_channels = system.at("p2p_channels"),
                   .p2p_channels_per_peer = system.at("p2p_channels_per_peer"),
                   .fifo = {},
                   .nvls_chunk = bytes_of(system.at("nvls_chunk_bytes")),
                   .nvls_tree_chunk = bytes_of(system.at("nvlstree_max_chunk_bytes")),
                   .p2p_chunk = bytes_of(system.at("p2p_chunk_bytes")),
                   .aws_tuner = platform == "nvl72" ? "" : platform};
    if (graphs.contains("nvls")) c.nvls = graph_of(graphs.at("nvls"));
    for (const Protocol protocol : kProtocols)
        c.fifo[protocol] = bytes_of(system.at("buffer_bytes").at(std::string(name(protocol))));
    return c;
}

Collective collective_of(const std::string& word) {
    if (word == "AllReduce") return Collective::all_reduce;
    if (word == "AllGather") return Collective::all_gather;
    if (word == "ReduceScatter") return Collective::reduce_scatter;
    return word == "Broadcast" ? Collective::broadcast : Collective::reduce;
}

}  // namespace fmsim::worked
