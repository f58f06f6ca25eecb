// The short way to a workload, and what nccl-tests counts.
#include "fmsim/workload.hpp"

namespace fmsim {

Workload in_turn(const std::vector<Call>& calls) {
    Program program;
    for (const Call& call : calls)
        program.operations.push_back(
            {.name = call.name, .action = CollectiveCall{.collective = call.collective, .size = call.size}});
    Workload work;
    work.jobs.push_back({.groups = {{.name = "all"}}, .programs = {std::move(program)}});
    return work;
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
