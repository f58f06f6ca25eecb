// Calls and machines of the tests of tokens to experts.
#pragma once

#include "fmsim/formats.hpp"
#include "fmsim/moe.hpp"
#include "fmsim/predict.hpp"

namespace fmsim::test {

inline ExpertCall call(std::uint32_t tokens, const std::string& dtype = "bf16", bool combine = false) {
    return {.combine = combine,
            .tokens = tokens,
            .hidden = 7168,
            .top_k = 8,
            .experts = 256,
            .dtype = dtype,
            .dispatcher = "deepep-normal"};
}

inline Topology net_of(const std::string& words) { return build_topology(Catalogue::shipped().cluster(words)); }
inline Group all_of(const Topology& net) { return group_of(linear_placement(net, 0, 0)); }

inline double sum(const std::vector<Message>& messages) {
    double bytes = 0;
    for (const Message& message : messages) bytes += message.bytes;
    return bytes;
}

// One call by the engine.
inline Prediction predicted(const Topology& net, const ExpertCall& call, Fidelity fidelity = Fidelity::stream) {
    const Catalogue catalogue = Catalogue::shipped();
    PredictOptions options{.fidelity = fidelity};
    options.dispatchers = std::make_shared<const std::vector<Dispatcher>>(catalogue.dispatchers());
    Workload work = in_turn({});
    work.jobs[0].programs[0].operations.push_back({.name = "tokens", .action = call_of(call, 0)});
    return predict(net, all_of(net), work, catalogue.nccl(), options);
}

}  // namespace fmsim::test
