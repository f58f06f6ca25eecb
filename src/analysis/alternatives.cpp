// One call with each other algorithm and protocol, the rest of the run as it is.
#include <algorithm>

#include <fmt/format.h>

#include "fmsim/analysis.hpp"

namespace fmsim {
namespace {

// The same call on all programs of its job.
const CollectiveCall* call_of(const Workload& workload, const CallPrediction& call) {
    for (const Job& job : workload.jobs)
        for (const Program& program : job.programs)
            for (const Operation& operation : program.operations)
                if (job.name == call.job && program.role == call.role && operation.name == call.call.name)
                    return std::get_if<CollectiveCall>(&operation.action);
    return nullptr;
}

Workload pinned(Workload workload, const CallPrediction& call, const CollectiveCall& wanted, std::string_view algorithm,
                Protocol protocol) {
    for (Job& job : workload.jobs) {
        if (job.name != call.job) continue;
        for (Program& program : job.programs)
            for (Operation& operation : program.operations) {
                auto* const its = std::get_if<CollectiveCall>(&operation.action);
                if (its == nullptr || its->collective != wanted.collective || its->size != wanted.size ||
                    its->group != wanted.group)
                    continue;
                its->algorithm = algorithm;
                its->protocol = name(protocol);
            }
    }
    return workload;
}

}  // namespace

std::vector<WhyAlternative> alternatives(const Topology& topology, const std::vector<Placement>& placements,
                                         const Workload& workload, const Nccl& nccl, const PredictOptions& options,
                                         const CallPrediction& call) {
    std::vector<WhyAlternative> all;
    const CollectiveCall* const its = call_of(workload, call);
    if (its == nullptr) return all;
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.does != its->collective) continue;
        std::string refused;  // the same for all protocols
        std::size_t made = 0;
        for (const Protocol protocol : kProtocols) {
            if (algorithm.name == call.algorithm && protocol == call.protocol) continue;
            const std::string what = fmt::format("{} {}", algorithm.name, name(protocol));
            try {
                const Prediction other = predict(topology, placements,
                                                 pinned(workload, call, *its, algorithm.name, protocol), nccl, options);
                all.push_back({what, seconds(other.end), ""});
                ++made;
            } catch (const InputError& error) {
                refused = error.problems.empty() ? error.what() : error.problems.front().expected;
            } catch (const Infeasible& error) {
                refused = error.what();
            } catch (const LimitReached& error) {
                refused = error.what();
            }
        }
        if (made == 0 && !refused.empty() && algorithm.name != call.algorithm)
            all.push_back({std::string(algorithm.name), 0, refused});
    }
    std::stable_sort(all.begin(), all.end(), [](const WhyAlternative& a, const WhyAlternative& b) {
        return a.why.empty() != b.why.empty() ? a.why.empty() : a.seconds < b.seconds;
    });
    return all;
}

}  // namespace fmsim
