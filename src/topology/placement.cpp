// Which GPUs a job has.
#include <algorithm>

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

}  // namespace fmsim
