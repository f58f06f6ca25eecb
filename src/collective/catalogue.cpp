// The algorithms there are.
#include "chain.hpp"
#include "exchange.hpp"
#include "fmsim/collective.hpp"
#include "nvls.hpp"
#include "pat.hpp"
#include "ring.hpp"
#include "tree.hpp"

namespace fmsim {
namespace {

std::string always(const Topology&, const Group&, const NcclShape&) { return {}; }

template <Collective collective>
LeastBytes by_endpoints(const Group& group) {
    return least_bytes(collective, group, false);
}
template <Collective collective>
LeastBytes by_switches(const Group& group) {
    return least_bytes(collective, group, true);
}
// Every edge of a ring carries the same, those between domains too.
template <Collective collective>
LeastBytes by_ring(const Group& group) {
    const double edge = least_bytes(collective, group, false).gpu;
    return {edge, group.parts.size() > 1 ? edge : 0};
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
    using enum Collective;
    static const std::vector<Algorithm> kRows{
        {"Ring", all_reduce, plan_ring_all_reduce, always, by_ring<all_reduce>},
        {"Tree", all_reduce, plan_tree_all_reduce, always, by_endpoints<all_reduce>},
        {"NVLS", all_reduce, plan_nvls_all_reduce, nvls_refuses, by_switches<all_reduce>},
        {"NVLSTree", all_reduce, plan_nvls_tree_all_reduce, nvls_tree_refuses, by_switches<all_reduce>},
        {"Ring", all_gather, plan_ring_all_gather, always, by_ring<all_gather>},
        {"NVLS", all_gather, plan_nvls_all_gather, nvls_refuses_gather, by_endpoints<all_gather>},
        {"PAT", all_gather, plan_pat_all_gather, pat_refuses, by_endpoints<all_gather>},
        {"Ring", reduce_scatter, plan_ring_reduce_scatter, always, by_ring<reduce_scatter>},
        {"NVLS", reduce_scatter, plan_nvls_reduce_scatter, nvls_refuses_gather, by_endpoints<reduce_scatter>},
        {"PAT", reduce_scatter, plan_pat_reduce_scatter, pat_refuses, by_endpoints<reduce_scatter>},
        {"Ring", broadcast, plan_ring_broadcast, always, by_endpoints<broadcast>},
        {"Ring", reduce, plan_ring_reduce, always, by_endpoints<reduce>},
        {"SendRecv", all_to_all, plan_all_to_all, always, by_endpoints<all_to_all>},
        {"SendRecv", send_recv, plan_send_recv, always, by_endpoints<send_recv>},
    };
    return kRows;
}

const Algorithm* find_algorithm(std::string_view name, Collective collective) {
    for (const Algorithm& row : algorithms())
        if (row.name == name && row.does == collective) return &row;
    return nullptr;
}

}  // namespace fmsim
