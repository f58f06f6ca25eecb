// Where a dispatcher does not run.
#include <fmt/format.h>

#include "costs.hpp"

namespace fmsim {

std::string refusal(const Topology& topology, const Group& group, const ExpertCall& call,
                    const Dispatcher& dispatcher) {
    if (dispatcher.all_to_all) return {};
    const auto ranks = static_cast<std::uint32_t>(group.places.size());
    for (const Group::Part& part : group.parts) {
        const DomainType& type = topology.type_of(part.domain);
        if (part.positions.size() > 1 && !type.instance.nvlink)
            return fmt::format("{} needs NVLink between the GPUs of {}", dispatcher.name, type.name);
        if (dispatcher.most_domain_gpus != 0 && part.positions.size() > dispatcher.most_domain_gpus)
            return fmt::format("{} has kernels for at most {} GPUs of one NVLink domain; {} has {} here",
                               dispatcher.name, dispatcher.most_domain_gpus, type.name, part.positions.size());
        if (call.sms > type.instance.gpu.sms)
            return fmt::format("{} has {} SMs, fewer than the {} for {}", type.instance.gpu.name, type.instance.gpu.sms,
                               call.sms, dispatcher.name);
    }
    if (group.parts.size() < 2) return {};
    if (dispatcher.networks.empty())
        return fmt::format("{} runs within one NVLink domain; the group is on {}", dispatcher.name, group.parts.size());
    const auto& nic = topology.type_of(group.parts.front().domain).instance.nic;
    if (!nic) return fmt::format("nothing leaves {}", topology.type_of(group.parts.front().domain).name);
    const DispatcherNetwork* const network = network_of(topology, group, dispatcher);
    if (network == nullptr) {
        std::vector<std::string> known;
        for (const auto& [key, costs] : dispatcher.networks) known.push_back(key);
        return fmt::format("{} is not known to run on {} ({}); it is on {}", dispatcher.name, nic->fabric, nic->name,
                           fmt::join(known, ", "));
    }
    if (network->most_ranks != 0 && ranks > network->most_ranks)
        return fmt::format("{} runs on at most {} ranks over {}; the group has {}", dispatcher.name,
                           network->most_ranks, nic->fabric, ranks);
    return {};
}

}  // namespace fmsim
