// Lower bounds on what goes in or out of a GPU and of a domain.
//
// By hand, all-reduce of S over N domains: each part of the data has to be added up somewhere and to come back, so the
// domains together send 2(N-1) S or more, and the busiest sends 2(N-1)/N S.
#include <algorithm>

#include "fmsim/collective.hpp"

namespace fmsim {
namespace {

// Ranks whose next one lives elsewhere, of the part with most of them.
double sends_out(const Group& group) {
    std::size_t most = 0;
    const auto ranks = group.places.size();
    for (const Group::Part& part : group.parts)
        most = std::max(most, static_cast<std::size_t>(
                                  std::count_if(part.positions.begin(), part.positions.end(), [&](std::uint32_t at) {
                                      return group.places[(at + 1) % ranks].domain != part.domain;
                                  })));
    return static_cast<double>(most);
}

// The most of in or out, over the parts, where every rank's share of the data goes to every other rank.
template <class Bytes>
double busiest(const Group& group, Bytes bytes) {
    double most = 0;
    for (const Group::Part& part : group.parts)
        most = std::max(most, bytes(static_cast<double>(part.positions.size())));
    return most;
}

}  // namespace

LeastBytes least_bytes(Collective collective, const Group& group, bool switches_reduce) {
    const auto ranks = static_cast<double>(group.places.size());
    const auto parts = static_cast<double>(group.parts.size());
    const bool several = group.parts.size() > 1;
    switch (collective) {
        case Collective::all_reduce:
            return {switches_reduce ? 1 : 2 * (ranks - 1) / ranks, 2 * (parts - 1) / parts};
        case Collective::all_gather:
        case Collective::reduce_scatter:
            return {(ranks - 1) / ranks, busiest(group, [&](double p) { return (ranks - p) / ranks; })};
        case Collective::broadcast:
        case Collective::reduce:
            return {1, several ? 1.0 : 0.0};
        case Collective::all_to_all:
            return {(ranks - 1) / ranks, busiest(group, [&](double p) { return p * (ranks - p) / ranks; })};
        case Collective::send_recv:
            return {1, several ? sends_out(group) : 0};
        case Collective::barrier:
            return {};
    }
    return {};
}

}  // namespace fmsim
