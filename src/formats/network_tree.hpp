// What the cluster files of other tools have in common: hosts, and the switches above each.
//
//   fabric                        host a: fabric, spine1, leaf1          a b | c d   instances in order
//     spine1                      host c: fabric, spine1, leaf2          2     2     below each leaf
//       leaf1 leaf2                ..                                    2           leaves below spine1
//       a b   c d
//
// Each reader fills one; here it becomes a cluster: instances in an order in which the hosts of a switch and those of
// an NVLink domain stand together, layers with the sizes of their switches, domains where a block says so.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fmsim/formats.hpp"

namespace fmsim {

struct TreeHost {
    std::string name;
    std::string type;                   // of instance; empty: the one for all
    std::string block;                  // what a scheduler keeps together, an NVLink domain among others; empty: none
    std::vector<std::string> switches;  // from the top of the network down
    std::size_t line = 0;               // 0: unknown
};

struct NetworkTree {
    std::string file;
    std::vector<TreeHost> hosts;
    std::vector<std::string> layers;   // their names, nearest to the hosts first, where the format has names for them
    bool blocks_are_switches = false;  // where NVLink is not what joins them, and nothing else is known of the network
    std::vector<Problem> notes;        // what was read but has no place in a cluster
};

// `type` is the instance type of hosts that name none. A single switch on top is left out: above the last layer a
// cluster has one anyway. Hosts with fewer switches than others get the missing ones for themselves, nearest to them.
Imported to_cluster(NetworkTree tree, const Catalogue& catalogue, const std::string& type);

}  // namespace fmsim
