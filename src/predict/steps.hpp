// Tasks of all jobs -> steps with their schedules: see steps.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "fmsim/lowering.hpp"
#include "fmsim/predict.hpp"

namespace fmsim {

// Where a step comes from.
struct StepOrigin {
    std::uint32_t job{};
    std::uint32_t program{};
    std::uint32_t operation{};
    std::uint32_t ranks{};         // that take part
    std::uint32_t times{1};        // how often it happens: the class, where folded
    const Group* group = nullptr;  // all of it, also where only parts are drawn
};

// Which machines' which GPUs, domain by domain: what a schedule depends on, wherever the domains are.
using GroupShape = std::vector<std::uint32_t>;
GroupShape shape_of(const Topology& topology, const Group& group);

// What tells calls of experts apart; empty for others.
std::string experts_text(const CollectiveCall& call);

// Groups, choices and schedules, each made once.
class Schedules {
public:
    Schedules(const Topology& topology, const Nccl& nccl, const PredictOptions& options)
        : topology_(topology), nccl_(nccl), pins_(options.pins), dispatchers_(options.dispatchers.get()) {}

    const Group& group(const Placement& places);
    const Choice& choice(const Group& group, const GroupShape& shape, const CollectiveCall& call);
    // `drawn`: some parts of the ring over all of `group`.
    const Schedule& collective(const Group& group, const Group& drawn, const CollectiveCall& call);
    const Schedule& message(const Group& ends, Bytes size);

    // The groups and schedules, for those who outlive this: they stay where they are.
    std::shared_ptr<const void> keep() &&;

    // What tells calls on one group apart, but for parts of their own.
    using Call = std::tuple<Collective, std::int64_t, std::uint32_t, std::string, std::string, std::string>;
    static Call key_of(const CollectiveCall& call) {
        return {call.collective, call.size.count, call.root, call.algorithm, call.protocol, experts_text(call)};
    }

private:
    const Schedule& experts(const Group& group, const CollectiveCall& call);

    struct Made {
        std::map<Placement, Group> groups;
        std::map<std::tuple<GroupShape, std::size_t, Call>, Schedule> schedules;
        std::map<std::pair<GroupShape, std::int64_t>, Schedule> messages;
        std::deque<Schedule> unequal;  // exchanges with parts of their own
    };

    const Topology& topology_;
    const Nccl& nccl_;
    const Pins& pins_;
    const std::vector<Dispatcher>* dispatchers_;
    std::shared_ptr<Made> made_ = std::make_shared<Made>();
    std::map<std::pair<GroupShape, Call>, Choice> choices_;
};

struct MadeSteps {
    std::vector<Step> steps;
    std::vector<StepOrigin> origins;                // of each step
    std::vector<std::vector<std::uint32_t>> ranks;  // of each step, as its job counts them; folded: their classes
};

// Every rank, group and message by itself.
MadeSteps all_steps(const Topology& topology, const Workload& workload, const std::vector<Placement>& placements,
                    Schedules& schedules);

// Problems of a call of experts come with the operation's place.
const Schedule& collective_of(Schedules& schedules, const Group& group, const Group& drawn, const CollectiveCall& call,
                              const Operation& operation);

// A step of computing on a GPU, longer on one with a fault. Throws InputError on a dtype it has no units for,
// Infeasible where the GPU is down.
Step computing(const Topology& topology, const Compute& compute, const Operation& operation, GpuPlace place);

}  // namespace fmsim
