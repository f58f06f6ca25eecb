// topologies/nccl/: how a version of NCCL runs and chooses. The AWS plugin's regions are read in aws_regions.cpp.
#include "nccl_facts.hpp"

#include "fmsim/formats.hpp"

namespace fmsim {
namespace {

using Spot = Document::Spot;

constexpr std::string_view kNcclFile = "nccl/2.30.7.json";
constexpr std::string_view kAwsFile = "nccl/aws-regions.json";

double number(const Spot& spot, const char* key) { return value(spot[key]).number(); }
std::uint32_t count(const Spot& spot, const char* key) { return value(spot[key]).count(); }
Bytes bytes(const Spot& spot, const char* key) { return value(spot[key]).bytes(); }

ProtocolShape shape_of(const Spot& spot) {
    const double data = value(spot["data_bytes"]).number();
    return {.wire_per_data = value(spot["wire_bytes"]).number() / data,
            .buffer = spot.has("buffer") ? value(spot["buffer"]).bytes() : Bytes{},
            .steps_a_chunk = value(spot["ring_steps_a_chunk"]).count(),
            .slices_a_chunk = value(spot["ring_slices_a_chunk"]).count(),
            .alignment = value(spot["alignment"]).bytes(),
            .unit = spot.has("unit") ? value(spot["unit"]).bytes() : Bytes{}};
}

NcclShape nccl_shape_of(const Spot& spot) {
    NcclShape shape{
        .protocols = {},
        .launch = spans(spot["launch"]),
        .torch_call = value(spot["torch_call"]).span(),
        .transfer_launch = value(spot["transfer_launch"]).span(),
        .transfer_host = value(spot["transfer_host"]).span(),
        .buffer_steps = value(spot["buffer_steps"]).count(),
        .least_traffic = value(spot["split"]["least_traffic"]).bytes(),
        .ll_traffic = value(spot["split"]["ll_traffic"]).count(),
        .split_alignment = value(spot["split"]["alignment"]).bytes(),
        .slices_least_part = value(spot["least_slice"]).count(),
        .tree_up_share = per_protocol<double>(spot["tree_up_share"], [](const Spot& s) { return s.number(); }),
        .tree_down_share = per_protocol<double>(spot["tree_down_share"], [](const Spot& s) { return s.number(); }),
        .most_nvls_heads = value(spot["most_nvls_heads"]).count()};
    for (const Protocol protocol : kProtocols)
        shape.protocols[protocol] = shape_of(spot["protocols"][std::string(name(protocol))]);
    return shape;
}

PerProtocol<double> by_protocol(const Spot& row) {
    return {{row[std::size_t{0}].number(), row[1].number(), row[2].number()}};
}

PerAlgorithm<PerProtocol<double>> by_algorithm(const Spot& table) {
    PerAlgorithm<PerProtocol<double>> values;
    for (const AlgorithmKind one : kAlgorithmKinds) values[one] = by_protocol(table[std::string(name(one))]);
    return values;
}

template <class T, class Read>
ByGeneration<T> by_generation(const Spot& list, Read read) {
    ByGeneration<T> rows{};
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = read(list[row]);
    return rows;
}
ByGeneration<double> numbers_by_generation(const Spot& list) {
    return by_generation<double>(list, [](const Spot& s) { return s.number(); });
}
ByGeneration<ByDomains> by_domains(const Spot& list) {
    return by_generation<ByDomains>(list, [](const Spot& row) {
        return ByDomains{row[std::size_t{0}].number(), row[1].number(), row[2].number()};
    });
}

std::vector<double> numbers(const Spot& list) {
    std::vector<double> all;
    for (std::size_t i = 0; i < list.size(); ++i) all.push_back(list[i].number());
    return all;
}

template <class T>
PerProtocol<T> whole_by_protocol(const Spot& table) {
    PerProtocol<T> values;
    for (const Protocol one : kProtocols) values[one] = table[std::string(name(one))].count();
    return values;
}

PerProtocol<std::vector<double>> corrections(const Spot& table) {
    PerProtocol<std::vector<double>> values;
    for (const Protocol one : kProtocols) values[one] = numbers(table[std::string(name(one))]);
    return values;
}

void read_caps(const Spot& spot, NcclTuning& tuning) {
    tuning.ll_most_gbps = by_domains(value(spot["ll_most_GBps"]));
    tuning.ring_ll128_most_gbps = by_domains(value(spot["ring_ll128_most_GBps"]));
    tuning.tree_ll128_most_gbps = by_domains(value(spot["tree_ll128_most_GBps"]));
    tuning.tree_most_gbps = by_domains(value(spot["tree_most_GBps"]));
    tuning.nvls_tree_most_gbps = by_domains(value(spot["nvls_tree_most_GBps"]));
    tuning.nvls_efficiency = numbers_by_generation(value(spot["nvls_efficiency"]));
}

void read_factors(const Spot& spot, NcclTuning& tuning) {
    tuning.ring_ll_factor = number(spot, "ring_ll_factor");
    tuning.ring_ll128_factor = number(spot, "ring_ll128_factor");
    tuning.tree_factor = number(spot, "tree_factor");
    tuning.tree_ll_divisor = number(spot, "tree_ll_divisor");
    tuning.tree_ll128_alone_factor = number(spot, "tree_ll128_alone_factor");
    tuning.tree_ll128_factor = number(spot, "tree_ll128_factor");
    tuning.tree_pattern_factor = number(spot, "tree_pattern_factor");
    tuning.pat_factor = number(spot, "pat_factor");
    tuning.pat_hop_divisor = number(spot, "pat_hop_divisor");
    tuning.pat_rank_us = number(spot, "pat_rank_us");
}

NcclTuning tuning_of(const Spot& spot) {
    NcclTuning tuning{.base_us = by_algorithm(value(spot["base_us"])),
                      .nvlink_hop_us = by_algorithm(value(spot["nvlink_hop_us"])),
                      .pcie_hop_us = by_algorithm(value(spot["pcie_hop_us"])),
                      .net_hop_us = by_algorithm(value(spot["net_hop_us"])),
                      .plateau = number(spot, "plateau"),
                      .plateau_before_ampere = number(spot, "plateau_before_ampere"),
                      .plateau_bytes = count(spot, "plateau_bytes"),
                      .net_overhead_amd_us = number(spot, "net_overhead_amd_us"),
                      .net_overhead_other_us = number(spot, "net_overhead_other_us"),
                      .simple_overheads = number(spot, "simple_overheads"),
                      .tree_correction = corrections(value(spot["tree_correction"])),
                      .correction_bytes = count(spot, "correction_bytes"),
                      .tree_corrections = count(spot, "tree_corrections"),
                      .operations_a_batch = count(spot, "operations_a_batch")};
    read_caps(spot, tuning);
    read_factors(spot, tuning);
    return tuning;
}

NcclThreads threads_of(const Spot& spot) {
    return {.most = whole_by_protocol<std::uint32_t>(value(spot["most"])),
            .slow_ring = count(spot, "slow_ring"),
            .slow_ring_gbps = number(spot, "slow_ring_GBps"),
            .bytes_a_thread = whole_by_protocol<std::int64_t>(value(spot["bytes_a_thread"])),
            .ring_extra = count(spot, "ring_extra"),
            .tree_extra = count(spot, "tree_extra"),
            .least = count(spot, "least"),
            .nvls = count(spot, "nvls"),
            .tree = count(spot, "tree"),
            .pat = count(spot, "pat")};
}

NcclSearch search_of(const Spot& spot) {
    return {.intra_gbps = by_generation<std::vector<double>>(value(spot["intra_GBps"]), numbers),
            .inter_gbps = by_generation<std::vector<double>>(value(spot["inter_GBps"]), numbers),
            .nvlink_share = numbers_by_generation(value(spot["nvlink_share"])),
            .nvlink_link_gbps = numbers_by_generation(value(spot["nvlink_link_GBps"])),
            .pcie_share = number(spot, "pcie_share"),
            .most_ring_channels = count(spot, "most_ring_channels"),
            .most_heads = count(spot, "most_heads"),
            .twice_from_gbps = number(spot, "twice_from_GBps"),
            .hopper_few_gbps = number(spot, "hopper_few_GBps"),
            .hopper_few_channels = count(spot, "hopper_few_channels")};
}

NvlsRule nvls_rule_of(const Spot& row) {
    const auto whole = [&](const char* key) { return row.has(key) ? row[key].count() : 0; };
    const auto gbps = [&](const char* key) { return row.has(key) ? row[key].number() : 0; };
    return {.domains = whole("domains"),
            .least_ranks = whole("least_ranks"),
            .most_ranks = whole("most_ranks"),
            .least_nic_gbps = gbps("least_nic_GBps"),
            .below_nic_gbps = gbps("below_nic_GBps"),
            .near_nic = row.has("near_nic") && row["near_nic"].json().get<bool>(),
            .channels = whole("channels"),
            .chunk = Bytes{whole("chunk")},
            .tree_chunk = Bytes{whole("tree_chunk")}};
}

NcclChannels channels_of(const Spot& spot) {
    NcclChannels channels{.most = count(spot, "most"),
                          .again_above_gbps = number(spot, "again_above_GBps"),
                          .again_below = count(spot, "again_below"),
                          .nvls_hopper = count(spot, "nvls_hopper"),
                          .nvls_blackwell = count(spot, "nvls_blackwell"),
                          .nvls_blackwell_between = {},
                          .nvls_chunk = bytes(spot, "nvls_chunk"),
                          .nvls_tree_chunk_many = bytes(spot, "nvls_tree_chunk_many"),
                          .nvls_tree_many = count(spot, "nvls_tree_many")};
    const Spot rules = value(spot["nvls_blackwell_between"]);
    for (std::size_t i = 0; i < rules.size(); ++i) channels.nvls_blackwell_between.push_back(nvls_rule_of(rules[i]));
    return channels;
}

std::vector<ChunkStep> steps_of(const Spot& list) {
    std::vector<ChunkStep> steps;
    for (std::size_t i = 0; i < list.size(); ++i)
        steps.push_back({list[i][std::size_t{0}].number(), list[i][1].count()});
    return steps;
}

NcclChunks chunks_of(const Spot& spot) {
    return {.tree_ranks_weight = number(spot, "tree_ranks_weight"),
            .tree_ll128 = steps_of(value(spot["tree_ll128"])),
            .nvls = steps_of(value(spot["nvls"])),
            .nvls_tree = steps_of(value(spot["nvls_tree"])),
            .pat_floor = count(spot, "pat_floor"),
            .pat_gather = count(spot, "pat_gather"),
            .pat_scatter = count(spot, "pat_scatter")};
}

NcclTransfers transfers_of(const Spot& spot) {
    return {.net_chunk = bytes(spot, "net_chunk"),
            .nvlink_chunk = bytes(spot, "nvlink_chunk"),
            .arm_blackwell_factor = count(spot, "arm_blackwell_factor"),
            .part_divisor_many = count(spot, "part_divisor_many"),
            .part_divisor_alone = count(spot, "part_divisor_alone"),
            .part_factor_alone = count(spot, "part_factor_alone"),
            .part_alignment = bytes(spot, "part_alignment"),
            .ll_a_channel = bytes(spot, "ll_a_channel"),
            .small_chunks = count(spot, "small_chunks"),
            .mantissa_bits = count(spot, "mantissa_bits"),
            .schedule_group = count(spot, "schedule_group"),
            .peers_a_batch = count(spot, "peers_a_batch"),
            .channel_net_gbps = number(spot, "channel_net_GBps"),
            .old_channels_a_peer = count(spot, "old_channels_a_peer"),
            .old_peers_a_channel = count(spot, "old_peers_a_channel"),
            .channels_a_link = count(spot, "channels_a_link")};
}

}  // namespace

Nccl Catalogue::nccl() const {
    const std::string path(kNcclFile);
    Document document(text_of(files_, path, path), path, "nccl");
    const Spot root = document.root();
    Nccl nccl{.version = root["name"].text(),
              .shape = nccl_shape_of(root["execution"]),
              .tuning = tuning_of(root["tuning"]),
              .threads = threads_of(root["threads"]),
              .search = search_of(root["search"]),
              .channels = channels_of(root["channels"]),
              .chunks = chunks_of(root["chunks"]),
              .transfers = transfers_of(root["transfers"]),
              .aws = {}};
    document.finish();
    nccl.aws = read_aws_tuner(files_, std::string(kAwsFile), path);
    return nccl;
}

}  // namespace fmsim
