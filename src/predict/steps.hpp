// Tasks of all jobs -> steps with their schedules: see steps.cpp.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "fmsim/lowering.hpp"
#include "fmsim/predict.hpp"

namespace fmsim {

// A step and the operation it comes from.
struct StepOrigin {
    std::uint32_t job{};
    std::uint32_t program{};
    std::uint32_t operation{};
};

class StepMaker {
public:
    StepMaker(const Topology& topology, const Nccl& nccl, const Pins& pins)
        : topology_(topology), nccl_(nccl), pins_(pins) {}
    void add(const Job& job, const Placement& placement);

    std::vector<Step> steps;
    std::vector<StepOrigin> origins;   // of each step
    std::vector<std::vector<std::uint32_t>> ranks;  // of each step, as its job counts them

private:
    Step step_of(const Job& job, const Placement& placement, const Task& task);
    Step collective(const Placement& placement, const Task& task, const CollectiveCall& call);
    Step transfer(const Placement& placement, const Task& task);
    const Group& group(const Placement& placement, const std::vector<std::uint32_t>& members);
    SimTime computing(const Compute& compute, const Operation& operation, GpuPlace place) const;

    // What tells schedules of one group apart.
    using Asked = std::tuple<const Group*, Collective, std::int64_t, std::uint32_t, std::string, std::string>;

    const Topology& topology_;
    const Nccl& nccl_;
    const Pins& pins_;
    std::uint32_t job_ = 0;
    std::map<Placement, Group> groups_;
    std::map<Asked, Schedule> schedules_;
    std::deque<Schedule> unequal_;  // exchanges with parts of their own
};

}  // namespace fmsim
