#include "check.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fmsim {
namespace {

constexpr std::uint64_t kMostGpus = 1'000'000;

class Checks {
public:
    std::vector<Problem> problems;

    void refuse(const std::string& where, std::string what) {
        problems.push_back({.file = where, .line = 0, .pointer = "", .expected = std::move(what), .found = ""});
    }

    // Each GPU and each NIC hangs on exactly one PCIe switch.
    void tree(const InstanceType& type) {
        hangs_once(type, "GPU", type.gpus, &PcieSwitch::gpus);
        hangs_once(type, "NIC", type.nics, &PcieSwitch::nics);
    }

    void instance(const InstanceType& type) {
        if (type.gpus == 0) refuse(type.name, "an instance needs a GPU");
        if (type.gpus > 1 && !type.nvlink) refuse(type.name, "several GPUs need NVLink between them");
        if (type.nvlink && !(type.nvlink->carries().value > 0)) refuse(type.name, "NVLink needs a rate above 0");
        if (type.nic && !(type.nic->carries.value > 0)) refuse(type.name, "a NIC needs a rate above 0");
        if (type.nics > 0 && !type.nic) refuse(type.name, "NICs need a kind");
        if (type.nics > 0 && (type.rails == 0 || type.nics % type.rails != 0))
            refuse(type.name, "the NICs must form whole groups of rails");
        tree(type);
    }

    void rings(const DomainType& type, const RingSearch& search) {
        for (const RingPath& path : search.paths) {
            std::vector<int> seen(type.gpus());
            bool known = path.gpus.size() == type.gpus();
            for (const std::uint32_t gpu : path.gpus) known = known && gpu < type.gpus() && ++seen[gpu] == 1;
            if (!known) refuse(type.name, "a ring path must visit each GPU once");
            if (type.groups() != 0 && (path.enter_group >= type.groups() || path.leave_group >= type.groups()))
                refuse(type.name, fmt::format("a ring path names a NIC group beyond the {} there are", type.groups()));
        }
        if (search.paths.empty()) refuse(type.name, "at least one ring path is needed");
        if (search.crosses_nics && search.paths.size() % 2 != 0)
            refuse(type.name, "ring paths that cross NICs come in pairs");
    }

    void network(const Cluster& cluster) {
        for (const NetworkLayer& layer : cluster.network.layers)
            if ((layer.children == 0) == layer.sizes.empty() || layer.uplinks == 0 || !(layer.oversubscription > 0))
                refuse(cluster.name, fmt::format("network layer \"{}\" needs children, uplinks and an oversubscription "
                                                 "above 0",
                                                 printable(layer.name)));
        for (std::size_t l = 1; l < cluster.network.layers.size(); ++l)
            if (cluster.network.layers[l].rail_optimized)
                refuse(cluster.name, fmt::format("only the first network layer can be rail-optimised, not \"{}\"",
                                                 printable(cluster.network.layers[l].name)));
        for (const Fault& fault : cluster.faults)
            if (!(fault.fraction >= 0 && fault.fraction <= 1))
                refuse(cluster.name, fmt::format("a fault leaves a fraction of 0 to 1, not {}", fault.fraction));
    }

private:
    void hangs_once(const InstanceType& type, const char* what, std::uint32_t count,
                    std::vector<std::uint32_t> PcieSwitch::*member) {
        std::vector<int> seen(count);
        for (const PcieSwitch& pcie : type.switches)
            for (const std::uint32_t index : pcie.*member) {
                if (index >= count)
                    refuse(type.name, fmt::format("a PCIe switch names {} {}, but there are {}", what, index, count));
                else
                    ++seen[index];
            }
        for (std::uint32_t index = 0; index < count; ++index)
            if (seen[index] != 1)
                refuse(type.name,
                       fmt::format("{} {} must hang on one PCIe switch; it hangs on {}", what, index, seen[index]));
    }
};

}  // namespace

void check(const Cluster& cluster) {
    Checks checks;
    std::uint64_t gpus = 0, domains = 0;
    for (const DomainBlock& block : cluster.blocks) {
        checks.instance(block.type.instance);
        if (block.type.instances == 0 || block.count == 0)
            checks.refuse(block.type.name, "a domain needs at least one instance, and there must be one");
        checks.rings(block.type, block.type.alone);
        if (block.type.groups() > 0) checks.rings(block.type, block.type.several);
        gpus += std::uint64_t{block.count} * block.type.gpus();
        domains += block.count;
    }
    if (domains == 0) checks.refuse(cluster.name, "a cluster needs an instance");
    if (gpus > kMostGpus)
        checks.refuse(cluster.name, fmt::format("expected at most {} GPUs; this would have {}", kMostGpus, gpus));
    for (const DomainBlock& block : cluster.blocks)
        if (domains > 1 && block.type.groups() == 0)
            checks.refuse(block.type.name, "several domains need NICs, and this has none");
    checks.network(cluster);
    if (!checks.problems.empty()) throw InputError(std::move(checks.problems));
}

std::uint32_t numa_nodes(const InstanceType& type) {
    std::uint32_t count = 0;
    for (const PcieSwitch& pcie : type.switches) count = std::max(count, pcie.numa + 1);
    return count;
}

}  // namespace fmsim
