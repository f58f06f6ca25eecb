// The least time of a schedule: what must go in or out, over what the machine carries.
#pragma once

#include <optional>

#include "fmsim/collective.hpp"
#include "fmsim/topology.hpp"

namespace fmsim {

class ClosedForm {
public:
    ClosedForm(const Topology& topology, const Group& group) : topology_(&topology), group_(&group) {}
    SimTime of(const Schedule& schedule);

private:
    BytesPerSecond rate();
    double puts_seconds(const Puts& puts) const;

    const Topology* topology_;
    const Group* group_;
    std::optional<BytesPerSecond> rate_;  // found when first needed
};

}  // namespace fmsim
