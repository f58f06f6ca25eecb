// Grouped sends and receives; see exchange.cpp.
#pragma once

#include "fmsim/collective.hpp"

namespace fmsim {

Schedule plan_all_to_all(const Topology& topology, const Group& group, const PlanRequest& request);
Schedule plan_send_recv(const Topology& topology, const Group& group, const PlanRequest& request);

}  // namespace fmsim
