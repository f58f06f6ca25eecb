// A scenario -> seconds, and the plain closed form beside each.
//
//   const Prediction p = predict(net, group_of(net, linear_placement(net, 0, 0)), work, nccl, {});
//   p.calls[0].time();                                  // what the job's first collective takes
//
// Not here: why (analysis), and how it looks (report).
#pragma once

#include <string>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/choice.hpp"
#include "fmsim/collective.hpp"
#include "fmsim/engine.hpp"
#include "fmsim/lowering.hpp"
#include "fmsim/topology.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {

struct PredictOptions {
    Fidelity fidelity = Fidelity::stream;
    Pins pins;
};

struct CallPrediction {
    Call call;
    std::string algorithm;
    Protocol protocol{};
    std::uint32_t channels{};  // that carry bytes
    SimTime started;
    SimTime ended;
    SimTime closed_form;  // edge bytes / edge rate: no latency, no protocol; no ring can be faster
    SimTime time() const { return ended - started; }
    double algbw_gbps() const;  // GB/s, as nccl-tests counts
    double busbw_gbps(std::uint32_t ranks) const;
};

struct Prediction {
    std::vector<CallPrediction> calls;
    SimTime end;
    Lowered lowered;
    Timeline timeline;
};

// Throws InputError on a workload or pins that make no sense here, Infeasible when a link it needs is down.
// One job whose operations are collectives of all ranks of the group, one after another.
Prediction predict(const Topology& topology, const Group& group, const Workload& workload, const Nccl& nccl,
                   const PredictOptions& options);

}  // namespace fmsim
