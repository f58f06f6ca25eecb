#include "domain_variants.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fmsim {
namespace {

bool same(const PcieSwitch& a, const PcieSwitch& b) { return a.numa == b.numa && a.gpus == b.gpus && a.nics == b.nics; }

}  // namespace

DomainType domain_of(const Catalogue& catalogue, const std::string& type, std::uint32_t instances) {
    const DomainType own = catalogue.domain(type);
    return own.instances == instances ? own : domain_of(own, instances, all_domains(catalogue));
}

DomainType domain_of(const DomainType& own, std::uint32_t instances, const std::vector<DomainType>& all) {
    if (own.instances == instances) return own;
    std::uint32_t largest = own.instances;
    for (const DomainType& other : all) {
        if (other.instance.name != own.instance.name) continue;
        if (other.instances == instances) return other;
        largest = std::max(largest, other.instances);
    }
    if (instances == 0 || instances > largest)
        throw InputError({{.file = "",
                           .line = 0,
                           .pointer = "",
                           .expected = fmt::format("expected at most {} instance{} of {} in an NVLink domain", largest,
                                                   largest == 1 ? "" : "s", own.instance.name),
                           .found = fmt::format("{}", instances)}});
    return {.name = own.instance.name,
            .instance = own.instance,
            .instances = instances,
            .alone = default_search(own.instance, instances, true),
            .several = default_search(own.instance, instances, false),
            .alone_graphs = {},
            .several_graphs = {}};
}

std::vector<DomainType> all_domains(const Catalogue& catalogue) {
    std::vector<DomainType> all;
    for (const std::string& name : catalogue.names()) all.push_back(catalogue.domain(name));
    return all;
}

DomainType with_instance(DomainType domain, InstanceType instance) {
    const InstanceType& before = domain.instance;
    const bool alike = before.gpus == instance.gpus && before.groups() == instance.groups() &&
                       std::equal(before.switches.begin(), before.switches.end(), instance.switches.begin(),
                                  instance.switches.end(), same);
    domain.instance = std::move(instance);
    if (alike) return domain;
    domain.alone = default_search(domain.instance, domain.instances, true);
    domain.several = default_search(domain.instance, domain.instances, false);
    domain.alone_graphs = {};
    domain.several_graphs = {};
    return domain;
}

}  // namespace fmsim
