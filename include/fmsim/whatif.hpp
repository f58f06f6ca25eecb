// A change in words -> a changed copy of a cluster.
//
//   const Change change = parse_change("efa.bandwidth*2");
//   const Cluster faster = changed(cluster, change);
//
// The words: a kind of thing, or one of them by its number; a property, and for some a part of it; what happens to it.
//
//   efa.bandwidth*2          nic[3,7].down        instance 3, NIC 7
//   nvlink.latency+1us       gpu[12].speed=0.8    the 13th GPU, counted through the cluster
//   gpu.flops.bf16*1.1       rail_policy=even     a word of the cluster
//   efa.bandwidth-10%        placement=random:7   a word of the command line: `is_scenario_word`, left to the caller
//
// Not here: what a change does to a prediction (analysis), and the words of the command line (cli).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

enum class ChangeOperator : std::uint8_t { set, scale, add };

struct Change {
    std::string text;                  // as it was written
    std::string thing;                 // "efa", "gpu", "nic"; of a word its key: "placement"
    std::vector<std::uint32_t> index;  // {3, 7}: of instance 3 the 7th; {12}: counted through the cluster; none: all
    std::string property;              // "bandwidth"; empty of a word
    std::string part;                  // "LL", "bf16"; empty: all parts
    ChangeOperator op{};
    double number{};   // a factor; else in B, B/s, s, FLOP/s or plain, and below 0 where it is taken away
    std::string word;  // of a word its value: "random:7"
    bool operator==(const Change&) const = default;
};

// Throws InputError with the column and the nearest known name where the words make no sense.
Change parse_change(std::string_view text);

// placement, cluster, gpus, per_domain, algorithm, protocol, most_channels, fidelity and NCCL_...: not of the cluster.
bool is_scenario_word(const Change& change);

// Throws InputError where the cluster has no such thing, or a value would leave its range.
// A NIC that is down cannot keep its traffic: where nothing else was said, the policy becomes `even`.
Cluster changed(Cluster cluster, const Change& change);
Cluster changed(Cluster cluster, const std::vector<Change>& changes);

// What a change can act through.
enum class ChangeReach : std::uint8_t { links, computing, kernels, network, memory, all };
ChangeReach reach_of(const Change& change);
// Whether a link belongs to what is changed; always false where the reach is not `links`.
bool touches(const Topology& topology, const Change& change, LinkId link);

// A value of the cluster that a change can set, as its words have it: "efa.bandwidth", "11 GB/s".
struct ClusterFact {
    std::string name;
    std::string value;
    bool operator==(const ClusterFact&) const = default;
};
// All those in which the cluster's machines agree, in a fixed order. `name + "=" + value` is a change that sets it.
std::vector<ClusterFact> facts_of(const Cluster& cluster);

// Things and their properties, a line each, for help texts.
std::vector<std::string> change_help();

}  // namespace fmsim
