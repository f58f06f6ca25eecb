#include "link_map.hpp"

#include <algorithm>

namespace fmsim {
namespace {

// The instance whose links (devices) begin at or before `id`.
template <class Begin>
InstanceId owner(const Topology& topology, std::uint32_t id, Begin begin) {
    const auto& rows = topology.instances.rows;
    const auto after =
        std::upper_bound(rows.begin(), rows.end(), id,
                         [&](std::uint32_t wanted, const InstanceBlock& row) { return wanted < begin(row); });
    return {static_cast<std::uint32_t>(after - rows.begin()) - 1};
}

bool is_switch(const Topology& topology, DeviceId device) {
    return topology.devices[device].kind == DeviceKind::network_switch;
}

// Between switches of the network; a NIC's own link belongs to its instance.
bool of_network(const Topology& topology, LinkId link) {
    const auto [from, to, kind, rate] = topology.links[link];
    const auto above = [&](DeviceId device) {
        return is_switch(topology, device) || topology.devices[device].kind == DeviceKind::fabric;
    };
    return kind == LinkKind::network && above(from) && above(to);
}

}  // namespace

LinkMap::LinkMap(const Topology& topology, SystemBuilder& builder, bool gpu_parts) : topology_(topology) {
    for (std::uint32_t l = 0; l < topology.links.size(); ++l)
        builder.add_resource(topology.links[LinkId{l}].rate.value);
    if (!gpu_parts) return;
    for (std::size_t i = 0; i < topology.devices.size() * kGpuParts; ++i) builder.add_resource(1);  // seconds a second
}

LinkMap::LinkMap(const Topology& topology, SystemBuilder& builder, bool gpu_parts, const LinkClasses& classes)
    : topology_(topology), classes_(&classes) {
    for (std::uint32_t c = 0; c < classes.first.size(); ++c) add_class(builder, c, gpu_parts);
    if (!classes.network_counts) return;
    std::uint32_t before = 0;  // switches of the layers below
    for (std::uint32_t l = 0; l < topology.cluster.network.layers.size(); ++l) {
        const std::uint32_t links = 2 * topology.cluster.network.layers[l].uplinks;
        for (std::uint32_t s = 0; s < topology.switches(l); ++s) {
            const std::uint32_t its_class = classes.of_switch[before + s];
            const std::uint32_t first = topology.first_uplink(l, s).value;
            const bool is_first = classes.first_switch[its_class] == before + s;
            for (std::uint32_t i = 0; i < links; ++i) {
                if (is_first) {
                    const ResourceId made = builder.add_resource(topology.links[LinkId{first + i}].rate.value);
                    stands_for.push_back({first + i});
                    network_[first + i] = {made.value, static_cast<double>(classes.switches[its_class])};
                    continue;
                }
                // Its first switch comes earlier: classes are numbered as they first appear.
                const std::uint32_t rep = topology.first_uplink(l, classes.first_switch[its_class] - before).value;
                network_[first + i] = network_.at(rep + i);
            }
        }
        before += topology.switches(l);
    }
}

void LinkMap::add_class(SystemBuilder& builder, std::uint32_t domain_class, bool gpu_parts) {
    const InstanceId first = topology_.first_instance[classes_->first[domain_class]];
    const DomainType& type = topology_.type_of(first);
    links_.emplace_back();
    parts_.emplace_back();
    for (std::uint32_t i = 0; i < type.instances; ++i) {
        const InstanceId instance{first.value + i};
        links_.back().push_back(static_cast<std::uint32_t>(stands_for.size()));
        for (std::uint32_t link = topology_.instances[instance].link; link < links_end(instance); ++link) {
            builder.add_resource(topology_.links[LinkId{link}].rate.value);
            stands_for.push_back({link});
        }
        parts_.back().push_back(static_cast<std::uint32_t>(stands_for.size()));
        if (!gpu_parts) continue;
        const auto links = static_cast<std::uint32_t>(topology_.links.size());
        const std::uint32_t device = topology_.instances[instance].device;
        for (std::uint32_t part = 0; part < type.instance.gpus * kGpuParts; ++part) {
            builder.add_resource(1);
            stands_for.push_back({links + device * kGpuParts + part});
        }
    }
}

// Links of an instance end where the next one's begin, those of the last where the network's do.
std::uint32_t LinkMap::links_end(InstanceId instance) const {
    if (instance.value + 1 < topology_.instances.size())
        return topology_.instances[InstanceId{instance.value + 1}].link;
    const auto& layers = topology_.cluster.network.layers;
    return layers.empty() ? static_cast<std::uint32_t>(topology_.links.size()) : topology_.first_uplink(0, 0).value;
}

LinkMap::Target LinkMap::target_of(std::uint32_t unfolded) const {
    const auto links = static_cast<std::uint32_t>(topology_.links.size());
    if (unfolded >= links) {
        const std::uint32_t device = (unfolded - links) / kGpuParts;
        const InstanceId instance = owner(topology_, device, [](const InstanceBlock& row) { return row.device; });
        const InstanceBlock& block = topology_.instances[instance];
        const std::uint32_t its_class = classes_->of_domain[block.domain];
        return {parts_[its_class][block.in_domain] + unfolded - links - block.device * kGpuParts,
                static_cast<double>(classes_->count[its_class])};
    }
    if (of_network(topology_, LinkId{unfolded})) {
        const auto found = network_.find(unfolded);
        return found == network_.end() ? Target{} : found->second;
    }
    const InstanceId instance = owner(topology_, unfolded, [](const InstanceBlock& row) { return row.link; });
    const InstanceBlock& block = topology_.instances[instance];
    const std::uint32_t its_class = classes_->of_domain[block.domain];
    return {links_[its_class][block.in_domain] + unfolded - block.link,
            static_cast<double>(classes_->count[its_class])};
}

std::vector<Use> LinkMap::uses(std::span<const Use> all, double copies) const {
    if (classes_ == nullptr) return {all.begin(), all.end()};
    std::map<ResourceId, double> weights;
    for (const auto& [unfolded, weight] : all)
        if (const Target target = target_of(unfolded.value); target.members > 0)
            weights[{target.resource}] += weight * copies / target.members;
    std::vector<Use> folded;
    for (const auto& [resource, weight] : weights) folded.push_back({resource, weight});
    return folded;
}

}  // namespace fmsim
