#include "toy.hpp"

#include <numeric>

namespace fmsim::toy {
namespace {

template <class T>
PerProtocol<T> all(T value) {
    return {{value, value, value}};
}

}  // namespace

Cluster cluster(const Machine& machine) {
    InstanceType type{.name = "toy",
                      .gpu = {.name = "toy-gpu",
                              .compute_capability = 90,
                              .memory = {},
                              .memory_rate = {},
                              .peak = {},
                              .channel_rate = all(machine.sm)},
                      .gpus = machine.gpus,
                      .nvlink = NvLink{.name = "toy-nvlink",
                                       .rate = machine.nvlink,
                                       .efficiency = 1,
                                       .hop_latency = all(machine.nvlink_latency),
                                       .wire_latency = machine.nvlink_latency,
                                       .multicast = true,
                                       .switch_efficiency = 1,
                                       .switch_latency = machine.nvlink_latency},
                      .nic = Nic{.name = "toy-nic",
                                 .fabric = "wire",
                                 .spreading = Spreading::spray,
                                 .rate = machine.nic,
                                 .carries = machine.nic,
                                 .hop_latency = all(machine.nic_latency),
                                 .wire_latency = machine.nic_latency,
                                 .reported_latency = machine.nic_latency},
                      .nics = machine.gpus,
                      .rails = 1,
                      .pcie_gpu = {1e15},
                      .pcie_nic = {1e15},
                      .pcie_host = {1e15},
                      .numa = {1e15},
                      .switches = {},
                      .cpu = CpuVendor::amd,
                      .gpudirect = true,
                      .simple_buffer = {std::int64_t{1} << 50}};
    RingPath path{.gpus = std::vector<std::uint32_t>(machine.gpus), .enter_group = 0, .leave_group = machine.gpus - 1};
    std::iota(path.gpus.begin(), path.gpus.end(), 0u);
    for (std::uint32_t gpu = 0; gpu < machine.gpus; ++gpu) type.switches.push_back({0, {gpu}, {gpu}});
    const RingSearch search{
        .paths = std::vector(machine.paths, path), .crosses_nics = false, .intra = {1e9}, .inter = {1e9}};
    const GraphSearch graph{.channels = machine.paths,
                            .intra = search.intra,
                            .inter = search.inter,
                            .intra_type = PathType::nvl,
                            .inter_type = PathType::pix,
                            .pattern = GraphPattern::ring,
                            .same_channels = false,
                            .net_latency = {}};
    const PublishedGraphs graphs{.ring = graph, .tree = graph, .nvls = {}};
    return {.name = "toy", .blocks = {{{"toy", type, 1, search, search, graphs, graphs}, machine.instances}}};
}

Schedule plan(std::string_view algorithm, Collective collective, const Topology& topology, const Group& group,
              const PlanRequest& request) {
    return find_algorithm(algorithm, collective)->plan(topology, group, request);
}

Group everyone(const Topology& topology) { return group_of(linear_placement(topology, 0, 0)); }

Nccl nccl(std::uint32_t slices) {
    const ProtocolShape whole{.wire_per_data = 1,
                              .buffer = {std::int64_t{1} << 50},
                              .steps_a_chunk = 1,
                              .slices_a_chunk = slices,
                              .alignment = {1},
                              .unit = {0}};
    Nccl nccl{.version = "toy",
              .shape = {.protocols = all(whole),
                        .launch = {},
                        .buffer_steps = 8,
                        .least_traffic = {1},
                        .ll_traffic = 1,
                        .split_alignment = {1},
                        .slices_least_part = 1u << 31,
                        .tree_up_share = all(0.5),
                        .tree_down_share = all(0.5),
                        .most_nvls_heads = 32},
              .tuning = {}};
    nccl.threads.most = all(1u);
    nccl.threads.bytes_a_thread = all(std::int64_t{1});
    nccl.search.nvlink_link_gbps.fill(1);
    nccl.channels.most = 64;
    // A message is one part and one chunk.
    nccl.transfers = {.net_chunk = {std::int64_t{1} << 40},
                      .nvlink_chunk = {std::int64_t{1} << 40},
                      .arm_blackwell_factor = 1,
                      .part_divisor_many = 1,
                      .part_divisor_alone = 1,
                      .part_factor_alone = 1,
                      .part_alignment = {1},
                      .ll_a_channel = {},
                      .small_chunks = 0,
                      .mantissa_bits = 62,
                      .schedule_group = 8,
                      .peers_a_batch = 8,
                      .channel_net_gbps = 1,
                      .channels_a_link = 1};
    return nccl;
}

}  // namespace fmsim::toy
