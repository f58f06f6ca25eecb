// NVLink domains that have no file in the catalogue: of another size, or of machines that differ a little.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fmsim/formats.hpp"

namespace fmsim {

// `instances` instances of a type under one NVLink fabric: the catalogue's domain of that size, or one in its place,
// named as the instance type. Throws InputError for a type that the catalogue lacks, and for more than any domain has.
DomainType domain_of(const Catalogue& catalogue, const std::string& type, std::uint32_t instances);
// The same where the catalogue has been read: `own` is the type's domain, `all` are those that the catalogue names.
DomainType domain_of(const DomainType& own, std::uint32_t instances, const std::vector<DomainType>& all);
std::vector<DomainType> all_domains(const Catalogue& catalogue);

// A domain of other machines: ring paths that NCCL found stay only while GPUs, NICs and switches are the same.
DomainType with_instance(DomainType domain, InstanceType instance);

}  // namespace fmsim
