// The choice among the algorithms that can be simulated, as NCCL alone would take it.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fmsim/choice.hpp"

namespace fmsim {
namespace {

[[noreturn]] void refuse(std::string file, std::string expected, std::string_view found) {
    throw InputError({{.file = std::move(file),
                       .line = 0,
                       .pointer = "",
                       .expected = std::move(expected),
                       .found = std::string(found)}});
}

void check_collective(Collective collective) {
    std::vector<std::string_view> known;
    for (const Algorithm& row : algorithms()) {
        if (row.does == collective) return;
        if (std::find(known.begin(), known.end(), name(row.does)) == known.end()) known.push_back(name(row.does));
    }
    refuse("", fmt::format("expected a collective that can be simulated: {}", fmt::join(known, ", ")),
           name(collective));
}

const Algorithm& find(Collective collective, std::string_view wanted) {
    for (const Algorithm& row : algorithms())
        if (row.does == collective && row.name == wanted) return row;
    throw Infeasible(fmt::format("no schedule for {} by {}", name(collective), wanted));
}

// Only what there is a schedule for.
Allowed offered(Collective collective, const Pins& pins) {
    Allowed allowed = pins.allowed;
    std::vector<std::string> names;
    bool pinned = !pins.algorithm;
    for (const AlgorithmKind kind : kAlgorithmKinds) {
        const bool there = std::any_of(algorithms().begin(), algorithms().end(), [&](const Algorithm& row) {
            return row.does == collective && row.name == name(kind);
        });
        if (there) names.emplace_back(name(kind));
        pinned = pinned || (there && *pins.algorithm == name(kind));
        allowed[collective].algorithms[kind] = allowed[collective].algorithms[kind] && there;
    }
    if (!pinned)
        refuse("--algo", fmt::format("expected an algorithm of {}: {}", name(collective), fmt::join(names, ", ")),
               *pins.algorithm);
    return allowed;
}

}  // namespace

Choice choose(Collective collective, Bytes size, const Topology& topology, const Group& group, const Nccl& nccl,
              const Pins& pins) {
    check_collective(collective);
    Pins narrowed = pins;
    narrowed.allowed = offered(collective, pins);
    narrowed.aws_tuner = false;
    narrowed.tuner_rules.reset();
    const Communicator communicator = communicator_of(topology, group, nccl, narrowed);
    const Pick found = pick(communicator, collective, size, nccl, narrowed);
    return {.algorithm = &find(collective, name(found.algorithm)),
            .protocol = found.protocol,
            .channels = std::min(found.channels, ring_channels(topology, group))};
}

}  // namespace fmsim
