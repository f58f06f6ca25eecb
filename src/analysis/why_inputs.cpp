// From causes to the files of the catalogue: a table, by the folder of a file and the beginning of the pointer.
#include "why_inputs.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fmsim {
namespace {

struct Place {
    Cause cause;
    std::string_view folder;
    std::string_view pointer;
    bool by_protocol = false;
    bool without_gpudirect = false;  // counts only then
};
constexpr Place kPlaces[]{
    {Cause::nvlink, "links/", "/rate"},
    {Cause::nvlink, "links/", "/ring_efficiency"},
    {Cause::nvlink, "links/", "/switch_efficiency"},
    {Cause::pcie, "instances/", "/pcie/gpu_rate"},
    {Cause::pcie, "instances/", "/pcie/host_rate"},
    {Cause::pcie, "instances/", "/nics/pcie_rate"},
    {Cause::pcie, "instances/", "/pcie/root_rate", false, true},
    {Cause::numa, "instances/", "/pcie/numa_rate"},
    {Cause::numa, "instances/", "/pcie/memory_rate", false, true},
    {Cause::network, "nics/", "/carries"},
    {Cause::network, "instances/", "/nics/count"},
    {Cause::channels, "channels/", "/rate", true},
    {Cause::messages, "nics/", "/message_cost"},
    {Cause::nvlink_latency, "links/", "/hop_latency", true},
    {Cause::nvlink_latency, "links/", "/wire_latency"},
    {Cause::network_latency, "nics/", "/hop_latency", true},
    {Cause::network_latency, "nics/", "/wire_latency"},
    {Cause::switches, "links/", "/switch_latency"},
    {Cause::switches, "links/", "/switch_chunk_cost"},
    {Cause::switches, "links/", "/switch_block_cost"},
    {Cause::signals, "channels/", "/unit_cost", true},
    {Cause::launch, "channels/", "/launch"},
    {Cause::compute, "gpus/", "/peak"},
    {Cause::memory, "gpus/", "/memory_rate"},
};

constexpr std::array<std::string_view, kCauses> kRules{{
    "bytes of the channels over the link's rate x efficiency, shared max-min fair (docs/models/engine.md)",
    "bytes over the rate of PCIe between GPU and NIC, shared max-min fair (docs/models/engine.md)",
    "bytes over the rate between NUMA nodes, shared max-min fair (docs/models/engine.md)",
    "bytes over what the NICs carry, shared max-min fair (docs/models/engine.md)",
    "bytes over the rate at which the SM of each channel receives, reduces and sends (docs/models/ring.md)",
    "messages x the proxy's time for each (docs/models/collectives.md)",
    "hops one after another in the channel's (max,+) recurrence x latency (docs/models/ring.md)",
    "hops one after another in the channel's (max,+) recurrence x latency (docs/models/ring.md)",
    "NVSwitch: latency, and an SM's time for each chunk it sums (docs/models/collectives.md)",
    "units one after another x the SM's time to signal and await one (docs/models/ring.md)",
    "the kernel's launch, with what NCCL adds before the first byte (docs/models/ring.md)",
    "peers x the host's time for each, beyond the launch (docs/models/collectives.md)",
    "the duration given, or FLOPs over the GPU's peak",
    "bytes over the GPU's HBM rate",
    "as asked: a delay, or a start not before",
}};

}  // namespace

std::vector<WhyInput> inputs_of(Cause cause, const Protocol* protocol, const std::vector<SourcedValue>& sources,
                                bool gpudirect) {
    std::vector<WhyInput> inputs;
    for (const Place& place : kPlaces) {
        if (place.cause != cause || (place.without_gpudirect && gpudirect)) continue;
        for (const SourcedValue& value : sources) {
            if (!value.file.starts_with(place.folder)) continue;
            const std::string wanted = place.by_protocol && protocol != nullptr
                                           ? fmt::format("{}/{}", place.pointer, name(*protocol))
                                           : std::string(place.pointer);
            if (value.pointer != wanted && !value.pointer.starts_with(wanted + "/")) continue;
            const std::string name = value.file + " " + value.pointer;
            const bool known =
                std::any_of(inputs.begin(), inputs.end(), [&](const WhyInput& input) { return input.name == name; });
            if (!known) inputs.push_back({name, value.value, value.confidence, value.source});
        }
    }
    return inputs;
}

std::string_view rule_of(Cause cause) { return kRules[static_cast<std::size_t>(cause)]; }

}  // namespace fmsim
