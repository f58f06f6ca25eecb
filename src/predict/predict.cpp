#include "fmsim/predict.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "closed_form.hpp"
#include "folded_steps.hpp"
#include "steps.hpp"

namespace fmsim {
namespace {

// What an operation is, before its times are known.
CallPrediction described(const Workload& workload, const StepOrigin& origin, const Step& step) {
    const Job& job = workload.jobs[origin.job];
    const Program& program = job.programs[origin.program];
    const Operation& operation = program.operations[origin.operation];
    CallPrediction call{.call = {.name = operation.name, .collective = {}, .size = {}},
                        .job = job.name,
                        .role = program.role,
                        .ranks = origin.ranks};
    if (const auto* collective = std::get_if<CollectiveCall>(&operation.action)) {
        call.collective = collective->collective;
        call.call.collective = collective->collective;
        call.call.size = collective->size;
        call.root = collective->root;
        call.kind = collective->experts ? collective->experts->kind() : name(collective->collective);
    } else if (std::holds_alternative<Transfers>(operation.action)) {
        call.kind = "send";
        call.call.size = step.schedule->size;
    } else {
        call.kind = std::holds_alternative<Compute>(operation.action) ? "compute" : "delay";
    }
    if (step.schedule == nullptr) return call;
    call.algorithm = step.schedule->algorithm;
    call.protocol = step.schedule->protocol;
    if (step.schedule->puts)
        call.channels = step.schedule->puts->sms;
    else
        call.channels = step.schedule->exchange ? step.schedule->exchange->channels
                                                : static_cast<std::uint32_t>(step.schedule->channels.size());
    return call;
}

// Reads the calls' times off the timeline; of an operation that happens often, the slowest.
class CallReader {
public:
    CallReader(const Topology& topology, const Workload& workload, const MadeSteps& made, Prediction& prediction)
        : topology_(topology), workload_(workload), made_(made), prediction_(prediction) {}

    void read() {
        for (std::uint32_t s = 0; s < made_.steps.size(); ++s) read_step(s);
        for (CallPrediction& call : prediction_.calls) {
            const Step& step = made_.steps[call.step];
            if (step.schedule == nullptr) continue;
            const Group* const group = made_.origins[call.step].group;
            const auto form = forms_.try_emplace(group, topology_, *group).first;
            call.closed_form = form->second.of(*step.schedule);
        }
    }

private:
    void read_step(std::uint32_t s) {
        const StepOrigin& origin = made_.origins[s];
        const auto [found, fresh] =
            index_.try_emplace(std::tuple{origin.job, origin.program, origin.operation}, prediction_.calls.size());
        if (fresh) prediction_.calls.push_back(described(workload_, origin, made_.steps[s]));
        CallPrediction& call = prediction_.calls[found->second];
        prediction_.made.call.push_back(static_cast<std::uint32_t>(found->second));
        const StepSpan& span = prediction_.lowered.steps[s];
        const SimTime started = prediction_.timeline.started[span.launch];
        const SimTime ended = prediction_.timeline.ended[span.done];
        call.times += origin.times;
        if (!fresh && ended - started <= call.time()) return;
        call.step = s;
        call.started = started;
        call.ended = ended;
        call.waited = started - first_arrival(s, started);
    }
    // When the first of the step's ranks was there: each comes when all that it was in is over, one that was in nothing
    // at once.
    SimTime first_arrival(std::uint32_t s, SimTime started) const {
        const std::vector<std::uint32_t>& ranks = made_.ranks[s];
        if (ranks.size() < 2) return started;  // folded: all of one class come together
        std::map<std::uint32_t, SimTime> arrival;
        for (const std::uint32_t rank : ranks) arrival[rank] = std::min(started, made_.steps[s].not_before);
        for (const std::uint32_t before : made_.steps[s].after) {
            const SimTime ended = prediction_.timeline.ended[prediction_.lowered.steps[before].done];
            for (const std::uint32_t rank : made_.ranks[before])
                if (const auto found = arrival.find(rank); found != arrival.end())
                    found->second = std::max(found->second, ended);
        }
        SimTime first = started;
        for (const auto& [rank, came] : arrival) first = std::min(first, came);
        return first;
    }

    const Topology& topology_;
    const Workload& workload_;
    const MadeSteps& made_;
    Prediction& prediction_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> index_;
    std::map<const Group*, ClosedForm> forms_;
};

void check_placement(const Placement& placement) {
    if (placement.size() >= 2) return;
    throw InputError({{.file = "",
                       .line = 0,
                       .pointer = "",
                       .expected = "a collective needs at least 2 GPUs",
                       .found = fmt::format("{}", placement.size())}});
}

}  // namespace

double CallPrediction::algbw_gbps() const {
    if (time().fs == 0) return 0;
    return static_cast<double>(call.size.count) / seconds(time()) * 1e-9;
}

double CallPrediction::busbw_gbps() const { return algbw_gbps() * (collective ? bus_factor(*collective, ranks) : 1); }

Prediction predict(const Topology& topology, const std::vector<Placement>& placements, const Workload& workload,
                   const Nccl& nccl, const PredictOptions& options) {
    check(workload);
    for (const Placement& placement : placements) check_placement(placement);
    Schedules schedules(topology, nccl, options);
    Prediction prediction;
    MadeSteps made;
    std::optional<FoldedSteps> folded;
    if (options.fold) folded = folded_steps(topology, workload, placements, schedules, options.fidelity);
    if (folded) {
        made = std::move(folded->made);
        prediction.folding = std::move(folded->folding);
        prediction.lowered = lower_folded(topology, made.steps, folded->links, options.fidelity);
    } else {
        made = all_steps(topology, workload, placements, schedules);
        prediction.lowered = lower(topology, made.steps, options.fidelity);
    }
    for (double& work : prediction.lowered.system.work.rows) work *= options.stretch;
    prediction.timeline = run(prediction.lowered.system, Record::ends, options.coalesce);
    prediction.end = prediction.timeline.end;
    CallReader(topology, workload, made, prediction).read();
    if (folded)
        for (std::size_t s = 0; s < made.steps.size(); ++s)
            for (std::uint32_t& rank : made.ranks[s]) rank = folded->first_rank[made.origins[s].job][rank];
    prediction.made.steps = std::move(made.steps);
    prediction.made.ranks = std::move(made.ranks);
    if (folded) prediction.made.classes = std::move(folded->links);
    prediction.made.keeps = std::move(schedules).keep();
    return prediction;
}

Prediction predict(const Topology& topology, const Placement& placement, const Workload& workload, const Nccl& nccl,
                   const PredictOptions& options) {
    return predict(topology, std::vector(workload.jobs.size(), placement), workload, nccl, options);
}

}  // namespace fmsim
