// A scenario -> seconds, and the plain closed form beside each.
//
//   const Prediction p = predict(net, group_of(linear_placement(net, 0, 0)), work, nccl, {});
//   p.calls[0].time();                                  // what the first operation takes
//
// Not here: why (analysis), and how it looks (report).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fmsim/base.hpp"
#include "fmsim/choice.hpp"
#include "fmsim/collective.hpp"
#include "fmsim/engine.hpp"
#include "fmsim/lowering.hpp"
#include "fmsim/moe.hpp"
#include "fmsim/topology.hpp"
#include "fmsim/workload.hpp"

namespace fmsim {

struct PredictOptions {
    Fidelity fidelity = Fidelity::stream;
    Pins pins;
    bool fold = true;    // what behaves alike is simulated once (docs/models/folding.md)
    double stretch = 1;  // of all bytes: a check of how much a prediction moves when they hardly do
    std::shared_ptr<const std::vector<Dispatcher>> dispatchers{};  // for calls of experts; null: there are none
    double coalesce = 0;  // what has at most this part of its work left ends with what ends: engine.hpp's run()
};

// How much a folded run had to do, and what told the classes apart.
struct Folding {
    // Domains that behave alike, and what first told them from the first class of the same type.
    struct DomainClass {
        DomainId first;
        std::uint32_t count{};
        std::string apart;  // empty: the first of its type
    };
    std::uint32_t ranks{}, rank_classes{};
    std::uint32_t groups{}, group_classes{};
    std::vector<DomainClass> domains;
    Column<DomainId, std::uint32_t> class_of;  // of each domain, in `domains`
};

// One operation of a program. Where it happens many times (on several groups, on each rank), the slowest of them.
struct CallPrediction {
    Call call;
    std::optional<Collective> collective;  // none: a message, computing or waiting
    std::string kind;                      // "all_reduce", "moe_dispatch", "send", "compute", "delay"
    std::string job;
    std::string role;
    std::uint32_t ranks{};  // that take part
    std::uint32_t times{};  // how often it happens
    std::uint32_t root{};   // position in the group: broadcast, reduce
    std::string algorithm;
    Protocol protocol{};
    std::uint32_t channels{};  // that carry bytes; of a dispatcher the SMs that it takes
    std::uint32_t step{};      // of the slowest, in Lowered::steps
    SimTime started;           // of the slowest: its last rank has come
    SimTime ended;
    SimTime waited;       // its first rank for its last one
    SimTime closed_form;  // least bytes / rate: no latency, no protocol; nothing can be faster
    SimTime time() const { return ended - started; }
    double algbw_gbps() const;  // GB/s, as nccl-tests counts
    double busbw_gbps() const;
};

// What a run was made of, kept so that it can be run again at other costs with the same choices.
struct RunSteps {
    std::vector<Step> steps;
    std::vector<std::uint32_t> call;                // of each step, in Prediction::calls
    std::vector<std::vector<std::uint32_t>> ranks;  // that take part, as their job counts them; folded: of each class
                                                    // the first
    std::optional<LinkClasses> classes;             // folded
    std::shared_ptr<const void> keeps;              // the groups and schedules that steps point to
};

struct Prediction {
    std::vector<CallPrediction> calls;
    SimTime end;
    Lowered lowered;
    Timeline timeline;
    std::optional<Folding> folding;  // none: it was not folded
    RunSteps made;
};

// Throws InputError on a workload or pins that make no sense here, Infeasible when a link it needs is down. All jobs
// run on the GPUs of `placement`, in their order.
Prediction predict(const Topology& topology, const Placement& placement, const Workload& workload, const Nccl& nccl,
                   const PredictOptions& options);
inline Prediction predict(const Topology& topology, const Group& group, const Workload& workload, const Nccl& nccl,
                          const PredictOptions& options) {
    return predict(topology, group.places, workload, nccl, options);
}
// The same run, in `stream`, at other costs: who meets whom, algorithms, protocols, channels and chunks as they were.
struct Rerun {
    Lowered lowered;
    Timeline timeline;
    ActivityCauses causes;  // only with Record::rates
};
Rerun again(const Topology& topology, const RunSteps& made, const CostFactors& factors, Record record = Record::ends);

// Each job on GPUs of its own.
Prediction predict(const Topology& topology, const std::vector<Placement>& placements, const Workload& workload,
                   const Nccl& nccl, const PredictOptions& options);

}  // namespace fmsim
