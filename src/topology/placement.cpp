// Which GPUs a job has.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "fmsim/topology.hpp"

namespace fmsim {
namespace {

// Uniform below `bound`, without bias: values that would favour the low ones are drawn again.
std::uint64_t draw(std::uint64_t& state, std::uint64_t bound) {
    for (;;) {
        state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
        const std::uint64_t value = state >> 33;
        const std::uint64_t fair = (std::uint64_t{1} << 31) / bound * bound;
        if (value < fair) return value % bound;
    }
}

Placement on_domains(const Topology& topology, const std::vector<DomainId>& order, std::uint32_t gpus,
                     std::uint32_t per_domain) {
    Placement all;
    all.reserve(topology.gpus());
    for (const DomainId domain : order) {
        const std::uint32_t there = topology.type_of(domain).gpus();
        if (per_domain > there)
            throw InputError({{.file = "--per-domain",
                               .line = 0,
                               .pointer = "",
                               .expected = fmt::format("expected at most the {} GPUs of a domain", there),
                               .found = fmt::format("{}", per_domain)}});
        for (std::uint32_t g = 0; g < (per_domain == 0 ? there : per_domain); ++g) all.push_back({domain, g});
    }
    if (gpus > all.size())
        throw InputError({{.file = "--gpus",
                           .line = 0,
                           .pointer = "",
                           .expected = fmt::format("expected at most the {} GPUs that the cluster offers", all.size()),
                           .found = fmt::format("{}", gpus)}});
    if (gpus != 0) all.resize(gpus);
    return all;
}

std::vector<DomainId> in_order(const Topology& topology) {
    std::vector<DomainId> domains;
    for (std::uint32_t d = 0; d < topology.domains(); ++d) domains.push_back({d});
    return domains;
}

// The domains of each leaf, in order; a domain belongs to the leaf of its first instance.
std::map<std::uint32_t, std::vector<DomainId>> by_leaf(const Topology& topology) {
    std::map<std::uint32_t, std::vector<DomainId>> leaves;
    for (const DomainId domain : in_order(topology))
        leaves[topology.leaf_of(topology.first_instance[domain])].push_back(domain);
    return leaves;
}

std::uint32_t room_in(const Topology& topology, DomainId domain, std::uint32_t per_domain) {
    return per_domain == 0 ? topology.type_of(domain).gpus() : per_domain;
}

}  // namespace

Placement linear_placement(const Topology& topology, std::uint32_t gpus, std::uint32_t per_domain) {
    return on_domains(topology, in_order(topology), gpus, per_domain);
}

Placement random_placement(const Topology& topology, std::uint32_t gpus, std::uint32_t per_domain, std::uint64_t seed) {
    auto domains = in_order(topology);
    std::uint64_t state = seed;
    for (std::size_t i = domains.size(); i > 1; --i) std::swap(domains[i - 1], domains[draw(state, i)]);
    return on_domains(topology, domains, gpus, per_domain);
}

Placement packed_placement(const Topology& topology, std::uint32_t gpus, std::uint32_t per_domain) {
    std::vector<std::vector<DomainId>> leaves;
    std::vector<std::uint32_t> room;
    std::uint32_t all = 0;
    for (auto& [leaf, domains] : by_leaf(topology)) {
        room.push_back(0);
        for (const DomainId domain : domains) room.back() += room_in(topology, domain, per_domain);
        all += room.back();
        leaves.push_back(std::move(domains));
    }
    std::vector<DomainId> order;
    for (const RoomTaken& taken : smallest_room(room, gpus == 0 ? all : gpus, false))
        order.insert(order.end(), leaves[taken.domain].begin(), leaves[taken.domain].end());
    return on_domains(topology, order.empty() ? in_order(topology) : order, gpus, per_domain);
}

Placement spread_placement(const Topology& topology, std::uint32_t gpus, std::uint32_t per_domain) {
    const auto leaves = by_leaf(topology);
    std::vector<DomainId> order;
    for (std::size_t turn = 0; order.size() < topology.domains(); ++turn)
        for (const auto& [leaf, domains] : leaves)
            if (turn < domains.size()) order.push_back(domains[turn]);
    return on_domains(topology, order, gpus, per_domain);
}

Placement placement_on(const Topology& topology, const std::vector<InstanceId>& instances) {
    Placement placement;
    std::set<InstanceId> seen;
    for (const InstanceId instance : instances) {
        if (instance.value >= topology.instances.size() || !seen.insert(instance).second)
            throw InputError(
                {{.file = "--placement",
                  .line = 0,
                  .pointer = "",
                  .expected = fmt::format("expected each instance once, of 0 to {}", topology.instances.size() - 1),
                  .found = fmt::format("{}", instance.value)}});
        const auto gpus = topology.gpus_of(instance);
        placement.insert(placement.end(), gpus.begin(), gpus.end());
    }
    return placement;
}

PlacementSpread spread_of(const Topology& topology, const Placement& placement) {
    std::vector<bool> instances(topology.instances.size()), domains(topology.domains());
    std::set<std::uint32_t> leaves;
    for (const GpuPlace& gpu : placement) {
        const InstanceId instance = topology.instance_of(gpu);
        if (instances[instance.value]) continue;
        instances[instance.value] = domains[gpu.domain.value] = true;
        leaves.insert(topology.leaf_of(instance));
    }
    const auto count = [](const std::vector<bool>& seen) {
        return static_cast<std::uint32_t>(std::count(seen.begin(), seen.end(), true));
    };
    return {.gpus = static_cast<std::uint32_t>(placement.size()),
            .instances = count(instances),
            .domains = count(domains),
            .leaves = static_cast<std::uint32_t>(leaves.size())};
}

}  // namespace fmsim
