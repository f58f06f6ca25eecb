// What a micro-batch's tokens take to their experts and back. The one place that knows dispatchers.
//
// By hand, T tokens a GPU of h values in 16 bits, k experts a token: 2 T k h bytes go out, as many come back; once a
// domain, of D, a token has experts in D (1 - (1 - 1/D)^k) of them where routing is even. Two domains, k = 8: 1.99.
#include <algorithm>
#include <utility>

#include "stage_costs.hpp"

namespace fmsim {
namespace {

constexpr double kElement = 2;  // bytes of an activation

const InstanceType& instance_of(Uses& uses) { return uses.exchanges().cluster().blocks.front().type.instance; }

// Of the fabric that tokens cross on their way; `otherwise` where they cross none.
template <class T>
T by_fabric(const std::map<std::string, T>& values, T otherwise, const TrainingPlan& plan, const Family& experts,
            Uses& uses) {
    const auto& nic = instance_of(uses).nic;
    if (!nic || uses.exchanges().domains_of(experts) <= 1) return otherwise;
    const bool once = plan.dispatch == Dispatch::once_a_domain;  // through proxies of its own
    auto found = values.find(nic->fabric + (once ? "/once_a_domain" : ""));
    if (found == values.end()) found = values.find(nic->fabric);
    return found == values.end() ? otherwise : found->second;
}

// One way.
double dispatch(const TrainingPlan& plan, const Family& all, double bits, Uses& uses, std::vector<LayerCall>& calls) {
    const auto exchange = [&](const Family& family, double size) {
        calls.push_back({"experts", Collective::all_to_all, size, 1});
        return uses.seconds("experts", family, Collective::all_to_all, size);
    };
    const MixtureOfExperts& moe = *plan.model.experts;
    const double sent = static_cast<double>(tokens_of(plan)) / plan.tensor * static_cast<double>(moe.chosen);
    const double bytes = sent * static_cast<double>(plan.model.hidden) * bits / 8;
    const double domains = uses.exchanges().domains_of(all);
    if (plan.dispatch == Dispatch::all_to_all || domains <= 1) return exchange(all, bytes);
    const auto chosen = static_cast<double>(moe.chosen);
    double missed = 1;  // part of the tokens that a domain gets none of
    for (std::int64_t expert = 0; expert < moe.chosen; ++expert) missed *= 1 - 1 / domains;
    const double met = domains * (1 - missed);
    const Family inside{.size = static_cast<std::uint32_t>(all.size / domains), .stride = all.stride};
    const double near = exchange(inside, bytes);
    return std::max(exchange(all, bytes * met / chosen), near);
}

}  // namespace

double host_slower(const TrainingConstants& constants, Uses& uses) {
    const auto found = constants.host_slower.find(instance_of(uses).name);
    return found == constants.host_slower.end() ? 1 : found->second;
}

ExpertExchange expert_exchange(const TrainingPlan& plan, const TrainingConstants& constants, Uses& uses) {
    const Families families = families_of(plan);
    std::vector<LayerCall> calls;
    double both = dispatch(plan, families.experts, static_cast<double>(plan.dispatch_bits), uses, calls) +
                  dispatch(plan, families.experts, 8 * kElement, uses, calls);
    if (plan.expert_tensor > 1) {
        const double bytes = static_cast<double>(expert_slots(plan) * plan.model.hidden) * kElement;
        both += uses.seconds("expert tensor", families.expert_tensor, Collective::all_gather, bytes) +
                uses.seconds("expert tensor", families.expert_tensor, Collective::reduce_scatter, bytes);
        for (const Collective collective : {Collective::all_gather, Collective::reduce_scatter})
            calls.push_back({"expert tensor", collective, bytes, 1});
    }
    if (plan.experts > 1) both *= 1 + constants.imbalance;
    const double wire = by_fabric(constants.experts_wire, 1.0, plan, families.experts, uses);
    const SimTime gap = by_fabric(constants.experts_gap, SimTime{}, plan, families.experts, uses);
    return {both / wire, fmsim::seconds(gap) * host_slower(constants, uses), std::move(calls)};
}

}  // namespace fmsim
