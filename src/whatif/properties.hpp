// What can be changed of a cluster: a row a property, with its unit and the way to its values.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fmsim/whatif.hpp"

namespace fmsim {

enum class Unit : std::uint8_t { rate, span, bytes, flops, number };

// Of each value of a property: its part ("LL"; empty where it has none) and the value in the base unit -> the new one.
using Edit = std::function<double(std::string_view part, double value)>;

struct Property {
    std::string_view thing;
    std::string_view name;
    Unit unit{};
    ChangeReach reach{};
    void (*visit)(Cluster& cluster, std::string_view thing, const Edit& edit);
    std::string_view says;  // for help
};
std::span<const Property> properties();

// Devices that can be named one by one, with what they are called.
struct NamedDevice {
    std::string_view thing;
    DeviceKind kind{};
};
std::span<const NamedDevice> named_devices();

// "efa" of a fabric "EFA".
bool is_fabric(std::string_view thing, const Nic& nic);

// A quantity with its unit, in base units.
std::optional<double> parse_quantity(Unit unit, std::string_view text);
std::string quantity_text(Unit unit, double value);
std::string_view example_of(Unit unit);

}  // namespace fmsim
