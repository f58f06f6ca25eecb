// From links and parts of GPUs to the engine's resources: one each, or one a class.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "fmsim/engine.hpp"
#include "fmsim/lowering.hpp"
#include "gpu_parts.hpp"

namespace fmsim {

class LinkMap {
public:
    // One resource each. `gpu_parts`: exchanges are among the steps.
    LinkMap(const Topology& topology, SystemBuilder& builder, bool gpu_parts);
    // One a class; without those that cannot saturate.
    LinkMap(const Topology& topology, SystemBuilder& builder, bool gpu_parts, const LinkClasses& classes);

    // What `uses` of links and GPU parts, by the numbers that they have unfolded, are when they happen `copies` times
    // at once over all members of the classes: in order of the resource, each once.
    std::vector<Use> uses(std::span<const Use> all, double copies) const;

    std::vector<ResourceId> stands_for;  // folded: the first of the class

private:
    struct Target {
        std::uint32_t resource{};
        double members{};  // 0: it cannot saturate
    };
    Target target_of(std::uint32_t unfolded) const;
    void add_class(SystemBuilder& builder, std::uint32_t domain_class, bool gpu_parts);
    std::uint32_t links_end(InstanceId instance) const;

    const Topology& topology_;
    const LinkClasses* classes_ = nullptr;
    // Of a class of domains, of each of its instances: the first resource of its links, and of its GPU parts.
    std::vector<std::vector<std::uint32_t>> links_, parts_;
    std::map<std::uint32_t, Target> network_;  // links between switches, which belong to no instance
};

}  // namespace fmsim
