#include <set>

#include <fmt/format.h>

#include "fmsim/workload.hpp"

namespace fmsim {

void check(const Job& job) {
    std::vector<Problem> problems;
    const auto refuse = [&](std::string pointer, std::string expected, std::string found) {
        problems.push_back({.file = job.name,
                            .line = 0,
                            .pointer = std::move(pointer),
                            .expected = std::move(expected),
                            .found = std::move(found)});
    };
    if (job.calls.empty()) refuse("/operations", "expected at least one operation", "");
    std::set<std::string> names;
    for (std::size_t i = 0; i < job.calls.size(); ++i) {
        const Call& call = job.calls[i];
        if (call.size.count < 0)
            refuse(fmt::format("/operations/{}/size", i), "expected a size of 0 or more", to_text(call.size));
        if (!names.insert(call.name).second)
            refuse(fmt::format("/operations/{}/name", i), "expected a name of its own", call.name);
    }
    if (!problems.empty()) throw InputError(std::move(problems));
}

double bus_factor(Collective collective, std::uint32_t ranks) {
    switch (collective) {
        case Collective::all_reduce:
            return 2.0 * (ranks - 1) / ranks;
        case Collective::all_gather:
        case Collective::reduce_scatter:
        case Collective::all_to_all:
            return 1.0 * (ranks - 1) / ranks;
        case Collective::broadcast:
        case Collective::reduce:
        case Collective::send_recv:
            return 1;
        case Collective::barrier:
            return 0;
    }
    return 0;
}

}  // namespace fmsim
